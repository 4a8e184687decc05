#loc2 = loc("-":2:26)
#loc7 = loc("-":7:33)
#loc10 = loc("-":10:36)
module @composites {
  func.func public @main(%arg0: tensor<2xf32> loc("-":2:26)) -> tensor<2xf32> {
    %0 = stablehlo.composite "chlo.erf" %arg0 {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32> loc(#loc3)
    %1 = stablehlo.composite "my.op" %0 {composite_attributes = {k = 2 : i64, values = dense<[5.000000e-01, 1.500000e+00]> : tensor<2xf32>}, decomposition = @my.op.impl} : (tensor<2xf32>) -> tensor<2xf32> loc(#loc4)
    return %1 : tensor<2xf32> loc(#loc5)
  } loc(#loc1)
  func.func private @my.op.impl(%arg0: tensor<2xf32> loc("-":7:33)) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32> loc(#loc8)
  } loc(#loc6)
  func.func private @chlo.erf.impl(%arg0: tensor<2xf32> loc("-":10:36)) -> tensor<2xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<2xf32> loc(#loc11)
    return %0 : tensor<2xf32> loc(#loc12)
  } loc(#loc9)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc3 = loc("-":3:10)
#loc4 = loc("-":4:10)
#loc5 = loc("-":5:5)
#loc6 = loc("-":7:3)
#loc8 = loc("-":8:5)
#loc9 = loc("-":10:3)
#loc11 = loc("-":11:10)
#loc12 = loc("-":12:5)

