// Printed by jax 0.4.20.
module @jit_rnn_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<5x3xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<3xf32> {jax.result_info = "[0]"}, tensor<5xf32> {jax.result_info = "[1]"}) {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %4 = stablehlo.constant dense<0> : tensor<i32>
    %5:5 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg0, %iterArg_1 = %4, %iterArg_2 = %1, %iterArg_3 = %3) : tensor<5x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5xf32>
     cond {
      %6 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare  LT, %iterArg_1, %6,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %6 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.compare  LT, %iterArg_1, %6,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %8 = stablehlo.convert %iterArg_1 : tensor<i32>
      %9 = stablehlo.constant dense<5> : tensor<i32>
      %10 = stablehlo.add %8, %9 : tensor<i32>
      %11 = stablehlo.select %7, %10, %iterArg_1 : tensor<i1>, tensor<i32>
      %12 = stablehlo.constant dense<0> : tensor<i32>
      %13 = stablehlo.dynamic_slice %iterArg, %11, %12, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
      %14 = stablehlo.reshape %13 : (tensor<1x3xf32>) -> tensor<3xf32>
      %15 = stablehlo.dot_general %iterArg_2, %iterArg_0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
      %16 = stablehlo.add %15, %14 : tensor<3xf32>
      %17 = stablehlo.tanh %16 : tensor<3xf32>
      %18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.reduce(%iterArg_2 init: %18) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      %20 = stablehlo.broadcast_in_dim %19, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %21 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.compare  LT, %iterArg_1, %21,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %23 = stablehlo.convert %iterArg_1 : tensor<i32>
      %24 = stablehlo.constant dense<5> : tensor<i32>
      %25 = stablehlo.add %23, %24 : tensor<i32>
      %26 = stablehlo.select %22, %25, %iterArg_1 : tensor<i1>, tensor<i32>
      %27 = stablehlo.dynamic_update_slice %iterArg_3, %20, %26 : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
      %28 = stablehlo.constant dense<1> : tensor<i32>
      %29 = stablehlo.add %iterArg_1, %28 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_0, %29, %17, %27 : tensor<5x3xf32>, tensor<3x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5xf32>
    }
    return %5#3, %5#4 : tensor<3xf32>, tensor<5xf32>
  }
}
