module @legacy {
  func.func public @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %i: tensor<2x5xi32>, %v: tensor<f32>, %b: tensor<2x3x4xf32>, %image: tensor<1x4x4x1xf32>, %kernel: tensor<2x2x1x1xf32>) -> tensor<2x4xf32> {
    %0 = "stablehlo.dot"(%x, %y) <{precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = "stablehlo.broadcast"(%x) <{broadcast_sizes = array<i64: 5, 6>}> : (tensor<2x3xf32>) -> tensor<5x6x2x3xf32>
    %2 = "stablehlo.create_token"() : () -> !stablehlo.token
    %3 = "stablehlo.torch_index_select"(%b, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3x4xf32>, tensor<2x5xi32>) -> tensor<2x5x4xf32>
    %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
    %4 = stablehlo.dynamic_reshape %x, %shape : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
    %5 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<3x2xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %v, %shape, dims = [] : (tensor<f32>, tensor<2xi64>) -> tensor<3x2xf32>
    %low = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
    %high = stablehlo.constant dense<[2, -1]> : tensor<2xi64>
    %interior = stablehlo.constant dense<0> : tensor<2xi64>
    %7 = stablehlo.dynamic_pad %x, %v, %low, %high, %interior : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<5x2xf32>
    %limit = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %strides = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %8 = stablehlo.real_dynamic_slice %x, %low, %limit, %strides : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xf32>
    %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
    %start = stablehlo.constant dense<[[0], [1]]> : tensor<2x1xi64>
    %9 = "stablehlo.dynamic_gather"(%x, %start, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x3xf32>
    %size = stablehlo.constant dense<3> : tensor<i32>
    %10 = stablehlo.set_dimension_size %x, %size, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    return %0 : tensor<2x4xf32>
  }
}
