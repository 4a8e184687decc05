module @mixed_floats {
  func.func public @main(%x: tensor<1x4x1xf8E4M3FN>, %y: tensor<2x1x1xf8E5M2>) -> tensor<1x3x1xf32> {
    %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf8E4M3FN>, tensor<2x1x1xf8E5M2>) -> tensor<1x3x1xf32>
    return %0 : tensor<1x3x1xf32>
  }
}
