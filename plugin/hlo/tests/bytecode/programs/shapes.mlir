module @shapes {
  func.func public @main(%x: tensor<2x3xf32>, %i: tensor<i32>, %v: tensor<f32>) -> tensor<6xf32> {
    %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x4x2xf32>
    %1 = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<f32>) -> tensor<7xf32>
    %2 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
    %3 = stablehlo.transpose %0, dims = [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
    %4 = stablehlo.slice %2 [1:6:2] : (tensor<6xf32>) -> tensor<3xf32>
    %5 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %6 = stablehlo.dynamic_update_slice %x, %5, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %7 = stablehlo.pad %x, %v, low = [1, -1], high = [0, 2], interior = [3, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<6x4xf32>
    %8 = stablehlo.concatenate %x, %6, %x, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
    %9 = stablehlo.reverse %8, dims = [0, 1] : tensor<2x9xf32>
    %10 = stablehlo.iota dim = 1 : tensor<4x5xui16>
    %11 = stablehlo.get_dimension_size %9, dim = 1 : (tensor<2x9xf32>) -> tensor<i32>
    return %2 : tensor<6xf32>
  }
}
