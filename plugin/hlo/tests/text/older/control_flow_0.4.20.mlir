// Printed by jax 0.4.20.
module @jit_control_flow attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<i32> {mhlo.sharding = "{replicated}"}) -> (tensor<3xf32> {jax.result_info = ""}) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %0, %iterArg_1 = %arg0) : tensor<i32>, tensor<i32>, tensor<3xf32>
     cond {
      %8 = stablehlo.compare  LT, %iterArg_0, %iterArg,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %8 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.add %iterArg_0, %8 : tensor<i32>
      %10 = stablehlo.constant dense<3> : tensor<i32>
      %11 = func.call @remainder(%iterArg_0, %10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %12 = stablehlo.convert %11 : tensor<i32>
      %13 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.constant dense<2> : tensor<i32>
      %15 = stablehlo.clamp %13, %12, %14 : tensor<i32>
      %16 = "stablehlo.case"(%15) ({
        %17 = stablehlo.sine %iterArg_1 : tensor<3xf32>
        stablehlo.return %17 : tensor<3xf32>
      }, {
        %17 = stablehlo.cosine %iterArg_1 : tensor<3xf32>
        stablehlo.return %17 : tensor<3xf32>
      }, {
        %17 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
        %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %19 = stablehlo.multiply %iterArg_1, %18 : tensor<3xf32>
        stablehlo.return %19 : tensor<3xf32>
      }) : (tensor<i32>) -> tensor<3xf32>
      stablehlo.return %iterArg, %9, %16 : tensor<i32>, tensor<i32>, tensor<3xf32>
    }
    %2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%1#2 init: %2) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    %4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.compare  GT, %3, %4,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %6 = stablehlo.convert %5 : (tensor<i1>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.constant dense<0> : tensor<i32>
      %9 = stablehlo.constant dense<0> : tensor<i32>
      %10:3 = stablehlo.while(%iterArg = %9, %iterArg_0 = %8, %iterArg_1 = %1#2) : tensor<i32>, tensor<i32>, tensor<3xf32>
       cond {
        %11 = stablehlo.constant dense<3> : tensor<i32>
        %12 = stablehlo.compare  LT, %iterArg, %11,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %12 : tensor<i1>
      } do {
        %11 = stablehlo.constant dense<1> : tensor<i32>
        %12 = stablehlo.add %iterArg_0, %11 : tensor<i32>
        %13 = stablehlo.convert %iterArg_0 : (tensor<i32>) -> tensor<f32>
        %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %15 = stablehlo.add %iterArg_1, %14 : tensor<3xf32>
        %16 = stablehlo.constant dense<1> : tensor<i32>
        %17 = stablehlo.add %iterArg, %16 : tensor<i32>
        stablehlo.return %17, %12, %15 : tensor<i32>, tensor<i32>, tensor<3xf32>
      }
      stablehlo.return %10#2 : tensor<3xf32>
    }, {
      %8 = stablehlo.negate %1#2 : tensor<3xf32>
      stablehlo.return %8 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    return %7 : tensor<3xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare  EQ, %arg1, %0,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.constant dense<1> : tensor<i32>
    %3 = call @_where(%1, %2, %arg1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<i32>
    %5 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare  NE, %4, %5,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare  LT, %4, %7,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.compare  LT, %3, %9,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = stablehlo.compare  NE, %8, %10,  UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %12 = stablehlo.and %11, %6 : tensor<i1>
    %13 = stablehlo.add %4, %3 : tensor<i32>
    %14 = stablehlo.select %12, %13, %4 : tensor<i1>, tensor<i32>
    return %14 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
