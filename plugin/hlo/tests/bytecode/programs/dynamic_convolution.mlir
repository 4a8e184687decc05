module @dynamic_convolution {
  func.func public @main(%image: tensor<1x4x4x1xf32>, %kernel: tensor<2x2x1x1xf32>) -> tensor<1x5x4x1xf32> {
    %padding = stablehlo.constant dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>
    %0 = "stablehlo.dynamic_conv"(%image, %kernel, %padding) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x5x4x1xf32>
    return %0 : tensor<1x5x4x1xf32>
  }
}
