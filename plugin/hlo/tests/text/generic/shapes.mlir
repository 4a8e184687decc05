"builtin.module"() <{sym_name = "shapes"}> ({
  "func.func"() <{function_type = (tensor<3x8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<2x1xi32>) -> tensor<1x10xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<2x1xi32>):
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x10xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2xf32>
    %2 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<3x8xf32>
    %3 = "stablehlo.reshape"(%arg0) : (tensor<3x8xf32>) -> tensor<2x12xf32>
    %4 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %5 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 4>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<8xf32>) -> tensor<2xf32>
    %6 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 3, 8>, start_indices = array<i64: 1, 4>, strides = array<i64: 1, 2>}> : (tensor<3x8xf32>) -> tensor<2x2xf32>
    %7 = "stablehlo.dynamic_slice"(%arg0, %arg3, %arg3) <{slice_sizes = array<i64: 1, 4>}> : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %8 = "stablehlo.dynamic_update_slice"(%arg0, %7, %arg3, %arg3) : (tensor<3x8xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %9 = "stablehlo.pad"(%arg1, %arg2) <{edge_padding_high = array<i64: 2>, edge_padding_low = array<i64: -1>, interior_padding = array<i64: 1>}> : (tensor<8xf32>, tensor<f32>) -> tensor<16xf32>
    %10 = "stablehlo.concatenate"(%arg0, %arg0) <{dimension = 0 : i64}> : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
    %11 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 0, 1>}> : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %12 = "stablehlo.get_dimension_size"(%arg0) <{dimension = 1 : i64}> : (tensor<3x8xf32>) -> tensor<i32>
    %13 = "stablehlo.gather"(%arg0, %arg4) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 8>}> : (tensor<3x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    %14 = "stablehlo.gather"(%13, %arg4) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<2x8xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
    %15 = "stablehlo.scatter"(%arg0, %arg4, %13) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %16 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%16) : (tensor<f32>) -> ()
    }) : (tensor<3x8xf32>, tensor<2x1xi32>, tensor<2x8xf32>) -> tensor<3x8xf32>
    "func.return"(%0) : (tensor<1x10xf32>) -> ()
  }) : () -> ()
}) : () -> ()
