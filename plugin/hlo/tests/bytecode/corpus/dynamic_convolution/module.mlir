#loc2 = loc("-":2:26)
#loc3 = loc("-":2:55)
module @dynamic_convolution {
  func.func public @main(%arg0: tensor<1x4x4x1xf32> loc("-":2:26), %arg1: tensor<2x2x1x1xf32> loc("-":2:55)) -> tensor<1x5x4x1xf32> {
    %c = stablehlo.constant dense<[[1, 1], [0, 1]]> : tensor<2x2xi64> loc(#loc4)
    %0 = "stablehlo.dynamic_conv"(%arg0, %arg1, %c) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x5x4x1xf32> loc(#loc5)
    return %0 : tensor<1x5x4x1xf32> loc(#loc6)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc4 = loc("-":3:16)
#loc5 = loc("-":4:10)
#loc6 = loc("-":5:5)

