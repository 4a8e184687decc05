#loc2 = loc("-":2:26)
#loc3 = loc("-":2:72)
module @bounded_shapes {
  func.func public @main(%arg0: tensor<?x3xf32, #stablehlo.bounds<8, ?>> loc("-":2:26), %arg1: tensor<i32> loc("-":2:72)) -> (tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<3x?xf32, #stablehlo.bounds<?, 8>>, tensor<i32>) {
    %0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<8, ?>> loc(#loc4)
    %1 = stablehlo.add %0, %0 : tensor<?x3xf32, #stablehlo.bounds<8, ?>> loc(#loc5)
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<?x3xf32, #stablehlo.bounds<8, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 8>> loc(#loc6)
    %3 = stablehlo.get_dimension_size %2, dim = 1 : (tensor<3x?xf32, #stablehlo.bounds<?, 8>>) -> tensor<i32> loc(#loc7)
    return %1, %2, %3 : tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<3x?xf32, #stablehlo.bounds<?, 8>>, tensor<i32> loc(#loc8)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc4 = loc("model.py":3:1)
#loc5 = loc("-":4:10)
#loc6 = loc("-":5:10)
#loc7 = loc("-":6:10)
#loc8 = loc("-":7:5)

