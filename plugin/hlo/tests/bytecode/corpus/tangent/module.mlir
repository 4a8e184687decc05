#loc2 = loc("-":3:26)
module @tangent {
  func.func public @main(%arg0: tensor<3xf32> loc("-":3:26)) -> tensor<3xf32> {
    %0 = stablehlo.tan %arg0 : tensor<3xf32> loc(#loc3)
    return %0 : tensor<3xf32> loc(#loc4)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":2:1)
#loc1 = loc("-":3:3)
#loc3 = loc("-":4:10)
#loc4 = loc("-":5:5)

