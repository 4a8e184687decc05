// Printed by jax 0.4.20.
module @jit_indexing attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<2xi32> {mhlo.sharding = "{replicated}"}) -> (tensor<2x6xf32> {jax.result_info = "[0]"}, tensor<4x6xf32> {jax.result_info = "[1]"}, tensor<4x6xf32> {jax.result_info = "[2]"}, tensor<1x2xf32> {jax.result_info = "[3]"}, tensor<4x3xf32> {jax.result_info = "[4]"}) {
    %0 = stablehlo.constant dense<[1, 3, 5]> : tensor<3xi32>
    %1 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.compare  LT, %arg1, %2,  SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %4 = stablehlo.constant dense<4> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %6 = stablehlo.add %arg1, %5 : tensor<2xi32>
    %7 = stablehlo.select %3, %6, %arg1 : tensor<2xi1>, tensor<2xi32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %9 = "stablehlo.gather"(%arg0, %8) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = dense<[1, 6]> : tensor<2xi64>} : (tensor<4x6xf32>, tensor<2x1xi32>) -> tensor<2x6xf32>
    %10 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %12 = stablehlo.compare  LT, %arg1, %11,  SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %13 = stablehlo.constant dense<4> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %15 = stablehlo.add %arg1, %14 : tensor<2xi32>
    %16 = stablehlo.select %12, %15, %arg1 : tensor<2xi1>, tensor<2xi32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %20 = "stablehlo.scatter"(%arg0, %17, %19) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %56 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %56 : tensor<f32>
    }) {indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false} : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
    %21 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.constant dense<0> : tensor<i32>
    %23 = stablehlo.compare  LT, %21, %22,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %24 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.constant dense<4> : tensor<i32>
    %26 = stablehlo.add %24, %25 : tensor<i32>
    %27 = stablehlo.constant dense<0> : tensor<i32>
    %28 = stablehlo.select %23, %26, %27 : tensor<i1>, tensor<i32>
    %29 = stablehlo.constant dense<0> : tensor<i32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %31 = stablehlo.compare  LT, %arg1, %30,  SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %32 = stablehlo.constant dense<6> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %34 = stablehlo.add %arg1, %33 : tensor<2xi32>
    %35 = stablehlo.select %31, %34, %arg1 : tensor<2xi1>, tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %37 = stablehlo.convert %36 : tensor<2xi32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %39 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %40 = stablehlo.concatenate %38, %39, dim = 1 : (tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x2xi32>
    %41 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %43 = "stablehlo.scatter"(%arg0, %40, %42) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %56 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %56 : tensor<f32>
    }) {indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false} : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<2xf32>) -> tensor<4x6xf32>
    %44 = stablehlo.slice %arg1 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %45 = stablehlo.reshape %44 : (tensor<1xi32>) -> tensor<i32>
    %46 = stablehlo.constant dense<0> : tensor<i32>
    %47 = stablehlo.compare  LT, %45, %46,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %48 = stablehlo.constant dense<4> : tensor<i32>
    %49 = stablehlo.add %45, %48 : tensor<i32>
    %50 = stablehlo.select %47, %49, %45 : tensor<i1>, tensor<i32>
    %51 = stablehlo.constant dense<0> : tensor<i32>
    %52 = stablehlo.dynamic_slice %arg0, %50, %51, sizes = [1, 2] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %53 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %54 = "stablehlo.gather"(%arg0, %53) {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = dense<[4, 1]> : tensor<2xi64>} : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<4x3xf32>
    %55 = stablehlo.reverse %54, dims = [0] : tensor<4x3xf32>
    return %9, %20, %43, %52, %55 : tensor<2x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<1x2xf32>, tensor<4x3xf32>
  }
}
