module @indexing {
  func.func public @main(%x: tensor<3x4x2xf32>, %i: tensor<5x2xi64>, %u: tensor<5x2xf32>) -> tensor<3x4x2xf32> {
    %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>, indices_are_sorted = true}> : (tensor<3x4x2xf32>, tensor<5x2xi64>) -> tensor<5x2xf32>
    %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3x4x2xf32>, tensor<5x2xi64>, tensor<5x2xf32>) -> tensor<3x4x2xf32>
    %2:2 = "stablehlo.sort"(%0, %i) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i64>, %d: tensor<i64>):
      %s = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) : (tensor<5x2xf32>, tensor<5x2xi64>) -> (tensor<5x2xf32>, tensor<5x2xi64>)
    %3 = "stablehlo.sort"(%2#0) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) : (tensor<5x2xf32>) -> tensor<5x2xf32>
    return %1 : tensor<3x4x2xf32>
  }
}
