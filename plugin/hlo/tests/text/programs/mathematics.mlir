// Contractions, linear algebra, transforms, random numbers, batch norm.
module @mathematics {
  func.func public @main(%b: tensor<2x3x4xf32>, %m: tensor<4x4xf32>, %z: tensor<16xcomplex<f32>>, %image: tensor<1x8x8x4xf32>, %kernel: tensor<3x3x2x8xf32>, %v: tensor<4xf32>) -> tensor<2x3x3xf32> {
    %0 = stablehlo.dot_general %b, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>
    %1 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %20 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0], precision = [HIGH, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0], window = {stride = [2, 1], pad = [[1, 1], [0, -1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x8xf32>) -> tensor<1x8x12x3xf32>
    %4 = stablehlo.fft %z, type = FFT, length = [16] : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
    %5 = stablehlo.fft %z, type = IFFT, length = [16] : (tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>>
    %6 = stablehlo.fft %v, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    %7 = stablehlo.fft %6, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
    %8 = stablehlo.cholesky %m : tensor<4x4xf32>
    %9 = stablehlo.cholesky %m, lower = true : tensor<4x4xf32>
    %10 = "stablehlo.triangular_solve"(%9, %m) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %one = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %11 = stablehlo.rng %zero, %one, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %12 = stablehlo.rng %zero, %one, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %state = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %13:2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %14 = "stablehlo.batch_norm_inference"(%m, %v, %v, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %15:3 = "stablehlo.batch_norm_training"(%m, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
    %16:3 = "stablehlo.batch_norm_grad"(%m, %v, %v, %v, %m) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
    return %0 : tensor<2x3x3xf32>
  }
}
