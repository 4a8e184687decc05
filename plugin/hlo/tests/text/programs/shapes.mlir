// Ops that move elements.
module @shapes {
  func.func public @main(%x: tensor<3x8xf32>, %v: tensor<8xf32>, %s: tensor<f32>, %i: tensor<i32>, %starts: tensor<2x1xi32>) -> tensor<1x10xf32> {
    %0 = stablehlo.iota dim = 1 : tensor<1x10xf32>
    %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %2 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<8xf32>) -> tensor<3x8xf32>
    %3 = stablehlo.reshape %x : (tensor<3x8xf32>) -> tensor<2x12xf32>
    %4 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %5 = stablehlo.slice %v [0:4:2] : (tensor<8xf32>) -> tensor<2xf32>
    %6 = stablehlo.slice %x [1:3, 4:8:2] : (tensor<3x8xf32>) -> tensor<2x2xf32>
    %7 = stablehlo.dynamic_slice %x, %i, %i, sizes = [1, 4] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %8 = stablehlo.dynamic_update_slice %x, %7, %i, %i : (tensor<3x8xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %9 = stablehlo.pad %v, %s, low = [-1], high = [2], interior = [1] : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
    %10 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
    %11 = stablehlo.reverse %x, dims = [0, 1] : tensor<3x8xf32>
    %12 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<3x8xf32>) -> tensor<i32>
    %13 = "stablehlo.gather"(%x, %starts) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 8>}> : (tensor<3x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    %14 = "stablehlo.gather"(%13, %starts) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<2x8xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
    %15 = "stablehlo.scatter"(%x, %starts, %13) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %20 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<3x8xf32>, tensor<2x1xi32>, tensor<2x8xf32>) -> tensor<3x8xf32>
    return %0 : tensor<1x10xf32>
  }
}
