"builtin.module"() <{sym_name = "mathematics"}> ({
  "func.func"() <{function_type = (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<16xcomplex<f32>>, tensor<1x8x8x4xf32>, tensor<3x3x2x8xf32>, tensor<4xf32>) -> tensor<2x3x3xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<16xcomplex<f32>>, %arg3: tensor<1x8x8x4xf32>, %arg4: tensor<3x3x2x8xf32>, %arg5: tensor<4xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
    %1 = "stablehlo.dot_general"(%arg1, %arg1) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "stablehlo.dot_general"(%arg1, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "stablehlo.convolution"(%arg3, %arg4) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0]>, feature_group_count = 2 : i64, lhs_dilation = array<i64: 1, 2>, padding = dense<[[1, 1], [0, -1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: true, false>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x4xf32>, tensor<3x3x2x8xf32>) -> tensor<1x8x12x3xf32>
    %4 = "stablehlo.fft"(%arg2) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
    %5 = "stablehlo.fft"(%arg2) <{fft_length = array<i64: 16>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
    %6 = "stablehlo.fft"(%arg5) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    %7 = "stablehlo.fft"(%6) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
    %8 = "stablehlo.cholesky"(%arg1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %9 = "stablehlo.cholesky"(%arg1) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %10 = "stablehlo.triangular_solve"(%9, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.constant"() <{value = dense<[2, 3]> : tensor<2xi64>}> : () -> tensor<2xi64>
    %14 = "stablehlo.rng"(%11, %12, %13) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %15 = "stablehlo.rng"(%11, %12, %13) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %16 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xui64>}> : () -> tensor<2xui64>
    %17:2 = "stablehlo.rng_bit_generator"(%16) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %18:2 = "stablehlo.rng_bit_generator"(%16) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %19 = "stablehlo.batch_norm_inference"(%arg1, %arg5, %arg5, %arg5, %arg5) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %20:3 = "stablehlo.batch_norm_training"(%arg1, %arg5, %arg5) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
    %21:3 = "stablehlo.batch_norm_grad"(%arg1, %arg5, %arg5, %arg5, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
    "func.return"(%0) : (tensor<2x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
