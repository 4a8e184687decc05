#loc2 = loc("-":3:26)
#loc3 = loc("-":3:49)
#loc4 = loc("-":3:70)
#loc7 = loc("-":6:10)
#loc8 = loc("-":6:27)
module @batched_indexing {
  func.func public @main(%arg0: tensor<2x3x4xf32> loc("-":3:26), %arg1: tensor<5x2xi64> loc("-":3:49), %arg2: tensor<5x2x4xf32> loc("-":3:70)) -> tensor<2x3x4xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<2x3x4xf32>, tensor<5x2xi64>) -> tensor<5x2x4xf32> loc(#loc5)
    %1 = "stablehlo.scatter"(%arg0, %arg1, %0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%arg3: tensor<f32> loc("-":6:10), %arg4: tensor<f32> loc("-":6:27)):
      stablehlo.return %arg4 : tensor<f32> loc(#loc9)
    }) : (tensor<2x3x4xf32>, tensor<5x2xi64>, tensor<5x2x4xf32>) -> tensor<2x3x4xf32> loc(#loc6)
    return %1 : tensor<2x3x4xf32> loc(#loc10)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":2:1)
#loc1 = loc("-":3:3)
#loc5 = loc("-":4:10)
#loc6 = loc("-":5:10)
#loc9 = loc("-":7:7)
#loc10 = loc("-":9:5)

