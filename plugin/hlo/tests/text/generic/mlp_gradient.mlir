"builtin.module"() <{sym_name = "jit_mlp_gradient"}> ({
  "func.func"() <{function_type = (tensor<4x8xf32>, tensor<8x2xf32>, tensor<3x4xf32>, tensor<3x2xf32>) -> (tensor<4x8xf32>, tensor<8x2xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4x8xf32>, %arg1: tensor<8x2xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<3x2xf32>):
    %0 = "stablehlo.dot_general"(%arg2, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x4xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
    %1 = "stablehlo.multiply"(%0, %0) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %2 = "stablehlo.multiply"(%1, %0) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %3 = "stablehlo.multiply"(%0, %0) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %4 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %6 = "stablehlo.multiply"(%5, %3) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %7 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %9 = "stablehlo.multiply"(%8, %2) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %10 = "stablehlo.add"(%0, %9) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %11 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %13 = "stablehlo.multiply"(%12, %10) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %14 = "stablehlo.tanh"(%13) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %15 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %17 = "stablehlo.subtract"(%16, %14) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %18 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %20 = "stablehlo.add"(%19, %14) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %21 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %23 = "stablehlo.multiply"(%22, %20) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %24 = "stablehlo.multiply"(%0, %23) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %25 = "stablehlo.dot_general"(%24, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x8xf32>, tensor<8x2xf32>) -> tensor<3x2xf32>
    %26 = "stablehlo.subtract"(%25, %arg3) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %27 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x2xf32>
    %29 = "stablehlo.multiply"(%28, %26) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %30 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.divide"(%30, %31) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x2xf32>
    %34 = "stablehlo.multiply"(%33, %29) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %35 = "stablehlo.dot_general"(%34, %24) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x2xf32>, tensor<3x8xf32>) -> tensor<2x8xf32>
    %36 = "stablehlo.transpose"(%35) <{permutation = array<i64: 1, 0>}> : (tensor<2x8xf32>) -> tensor<8x2xf32>
    %37 = "stablehlo.dot_general"(%34, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x2xf32>, tensor<8x2xf32>) -> tensor<3x8xf32>
    %38 = "stablehlo.multiply"(%0, %37) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %39 = "stablehlo.multiply"(%37, %23) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %40 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %42 = "stablehlo.multiply"(%41, %38) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %43 = "stablehlo.multiply"(%42, %17) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %44 = "stablehlo.multiply"(%43, %14) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %45 = "stablehlo.add"(%43, %44) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %48 = "stablehlo.multiply"(%47, %45) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %49 = "stablehlo.add"(%39, %48) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %50 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x8xf32>
    %52 = "stablehlo.multiply"(%51, %48) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %53 = "stablehlo.multiply"(%52, %6) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %54 = "stablehlo.add"(%49, %53) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %55 = "stablehlo.dot_general"(%54, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x8xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
    %56 = "stablehlo.transpose"(%55) <{permutation = array<i64: 1, 0>}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
    "func.return"(%56, %36) : (tensor<4x8xf32>, tensor<8x2xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
