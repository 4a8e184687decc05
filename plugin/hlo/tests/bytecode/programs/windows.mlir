module @windows {
  func.func public @main(%x: tensor<1x8x6x4xf32>, %k: tensor<3x2x2x8xf32>, %v: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[f, 0, b, 1], window = {stride = [2, 1], pad = [[1, -1], [0, 2]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x6x4xf32>, tensor<3x2x2x8xf32>) -> tensor<8x2x1x12xf32>
    %1 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x6x4xf32>, tensor<3x2x2x8xf32>) -> tensor<1x6x5x8xf32>
    %2 = "stablehlo.reduce_window"(%x, %v) <{window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 1, 1>, base_dilations = array<i64: 1, 1, 2, 1>, window_dilations = array<i64: 1, 3, 1, 1>, padding = dense<[[0, 0], [1, 2], [-1, 0], [0, 0]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1x8x6x4xf32>, tensor<f32>) -> tensor<1x4x8x4xf32>
    %3 = "stablehlo.select_and_scatter"(%x, %2, %v) <{window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 1, 1>, padding = dense<[[0, 0], [0, 0], [2, 2], [0, 0]]> : tensor<4x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1x8x6x4xf32>, tensor<1x4x8x4xf32>, tensor<f32>) -> tensor<1x8x6x4xf32>
    %4:2 = stablehlo.reduce(%3 init: %v), (%x init: %v) across dimensions = [0, 1, 2, 3] : (tensor<1x8x6x4xf32>, tensor<1x8x6x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
      reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s, %c : tensor<f32>, tensor<f32>
      }
    %5 = stablehlo.reduce(%1 init: %v) applies stablehlo.add across dimensions = [1, 3] : (tensor<1x6x5x8xf32>, tensor<f32>) -> tensor<1x5xf32>
    return %4#0 : tensor<f32>
  }
}
