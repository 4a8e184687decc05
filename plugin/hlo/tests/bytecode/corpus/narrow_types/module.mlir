#loc2 = loc("-":3:26)
#loc3 = loc("-":3:50)
#loc4 = loc("-":3:72)
#loc5 = loc("-":3:98)
#loc6 = loc("-":3:124)
module @narrow_types {
  func.func public @main(%arg0: tensor<2xf8E4M3FN> loc("-":3:26), %arg1: tensor<2xf8E5M2> loc("-":3:50), %arg2: tensor<2xf8E4M3FNUZ> loc("-":3:72), %arg3: tensor<2xf8E5M2FNUZ> loc("-":3:98), %arg4: tensor<2xf8E4M3B11FNUZ> loc("-":3:124)) -> tensor<2xf8E4M3FN> {
    %cst = stablehlo.constant dense<[1.000000e+00, -4.480000e+02]> : tensor<2xf8E4M3FN> loc(#loc7)
    %0 = stablehlo.add %cst, %arg0 : tensor<2xf8E4M3FN> loc(#loc8)
    return %0 : tensor<2xf8E4M3FN> loc(#loc9)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":2:1)
#loc1 = loc("-":3:3)
#loc7 = loc("-":4:10)
#loc8 = loc("-":5:10)
#loc9 = loc("-":6:5)

