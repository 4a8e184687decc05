#loc2 = loc("-":3:26)
module @accuracy {
  func.func public @main(%arg0: tensor<3xf64> loc("-":3:26)) -> tensor<3xf64> {
    %0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<3xf64> loc(#loc3)
    %1 = stablehlo.tanh %0 {result_accuracy = #stablehlo.result_accuracy<atol = 5.000000e-01, rtol = 2.500000e-01, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<3xf64> loc(#loc4)
    return %1 : tensor<3xf64> loc(#loc5)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":2:1)
#loc1 = loc("-":3:3)
#loc3 = loc("-":4:10)
#loc4 = loc("-":5:10)
#loc5 = loc("-":6:5)

