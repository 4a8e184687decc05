#loc2 = loc("-":2:26)
#loc3 = loc("-":2:54)
module @mixed_floats {
  func.func public @main(%arg0: tensor<1x4x1xf8E4M3FN> loc("-":2:26), %arg1: tensor<2x1x1xf8E5M2> loc("-":2:54)) -> tensor<1x3x1xf32> {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf8E4M3FN>, tensor<2x1x1xf8E5M2>) -> tensor<1x3x1xf32> loc(#loc4)
    return %0 : tensor<1x3x1xf32> loc(#loc5)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc4 = loc("-":3:10)
#loc5 = loc("-":4:5)

