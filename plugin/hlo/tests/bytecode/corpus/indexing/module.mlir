#loc2 = loc("-":2:26)
#loc3 = loc("-":2:49)
#loc4 = loc("-":2:70)
#loc7 = loc("-":5:10)
#loc8 = loc("-":5:27)
#loc12 = loc("-":10:10)
#loc13 = loc("-":10:27)
#loc14 = loc("-":10:44)
#loc15 = loc("-":10:61)
#loc19 = loc("-":15:10)
#loc20 = loc("-":15:27)
module @indexing {
  func.func public @main(%arg0: tensor<3x4x2xf32> loc("-":2:26), %arg1: tensor<5x2xi64> loc("-":2:49), %arg2: tensor<5x2xf32> loc("-":2:70)) -> tensor<3x4x2xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x4x2xf32>, tensor<5x2xi64>) -> tensor<5x2xf32> loc(#loc5)
    %1 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<f32> loc("-":5:10), %arg4: tensor<f32> loc("-":5:27)):
      %4 = stablehlo.add %arg3, %arg4 : tensor<f32> loc(#loc9)
      stablehlo.return %4 : tensor<f32> loc(#loc10)
    }) : (tensor<3x4x2xf32>, tensor<5x2xi64>, tensor<5x2xf32>) -> tensor<3x4x2xf32> loc(#loc6)
    %2:2 = "stablehlo.sort"(%0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32> loc("-":10:10), %arg4: tensor<f32> loc("-":10:27), %arg5: tensor<i64> loc("-":10:44), %arg6: tensor<i64> loc("-":10:61)):
      %4 = stablehlo.compare LT, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1> loc(#loc16)
      stablehlo.return %4 : tensor<i1> loc(#loc17)
    }) : (tensor<5x2xf32>, tensor<5x2xi64>) -> (tensor<5x2xf32>, tensor<5x2xi64>) loc(#loc11)
    %3 = "stablehlo.sort"(%2#0) ({
    ^bb0(%arg3: tensor<f32> loc("-":15:10), %arg4: tensor<f32> loc("-":15:27)):
      %4 = stablehlo.compare GT, %arg3, %arg4, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1> loc(#loc21)
      stablehlo.return %4 : tensor<i1> loc(#loc22)
    }) : (tensor<5x2xf32>) -> tensor<5x2xf32> loc(#loc18)
    return %1 : tensor<3x4x2xf32> loc(#loc23)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc5 = loc("-":3:10)
#loc6 = loc("-":4:10)
#loc9 = loc("-":6:12)
#loc10 = loc("-":7:7)
#loc11 = loc("-":9:12)
#loc16 = loc("-":11:12)
#loc17 = loc("-":12:7)
#loc18 = loc("-":14:10)
#loc21 = loc("-":16:12)
#loc22 = loc("-":17:7)
#loc23 = loc("-":19:5)

