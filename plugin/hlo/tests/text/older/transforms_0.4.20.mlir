// Printed by jax 0.4.20.
module @jit_transforms attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<4x6xcomplex<f32>> {jax.result_info = "[0]"}, tensor<4x6xf32> {jax.result_info = "[1]"}) {
    %0 = call @fft(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %1 = call @fft_0(%arg0) : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    %2 = call @fft_1(%1) : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
    return %0, %2 : tensor<4x6xcomplex<f32>>, tensor<4x6xf32>
  }
  func.func private @fft(%arg0: tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xcomplex<f32>>
    %1 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.constant dense<6> : tensor<1xi32>
    %4 = stablehlo.constant dense<1> : tensor<1xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = stablehlo.constant dense<6> : tensor<i32>
    %7 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.constant dense<6> : tensor<1xi32>
    %9 = stablehlo.constant dense<1> : tensor<1xi32>
    %10 = stablehlo.concatenate %8, %9, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.constant dense<6> : tensor<i32>
    %12 = stablehlo.constant dense<6> : tensor<i32>
    %13 = stablehlo.convert %12 : (tensor<i32>) -> tensor<f64>
    %14 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %15 = stablehlo.reshape %14 : (tensor<f64>) -> tensor<1xf64>
    %16 = stablehlo.constant dense<4> : tensor<i32>
    %17 = stablehlo.constant dense<6> : tensor<i32>
    %18 = stablehlo.constant dense<4> : tensor<1xi32>
    %19 = stablehlo.constant dense<6> : tensor<1xi32>
    %20 = stablehlo.concatenate %18, %19, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = stablehlo.constant dense<4> : tensor<i32>
    %22 = stablehlo.constant dense<6> : tensor<i32>
    %23 = stablehlo.constant dense<4> : tensor<1xi32>
    %24 = stablehlo.constant dense<6> : tensor<1xi32>
    %25 = stablehlo.concatenate %23, %24, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = stablehlo.constant dense<[20, 0, 0, 0, 0, 0, 14, 0, 16, 0, 8, 0, 0, 0, 0, 0, 12, 0, 7, 0, 14, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]> : tensor<44xui8>
    %27 = stablehlo.custom_call @dynamic_ducc_fft(%26, %0, %20, %5, %10, %15, %25) {api_version = 2 : i32, indices_of_shape_operands = dense<6> : tensor<1xi64>, operand_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<44xui8>, tensor<4x6xcomplex<f32>>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<1xf64>, tensor<2xi32>) -> tensor<4x6xcomplex<f32>>
    return %27 : tensor<4x6xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>> {
    %0 = stablehlo.constant dense<6> : tensor<i32>
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.constant dense<6> : tensor<1xi32>
    %3 = stablehlo.constant dense<1> : tensor<1xi32>
    %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.constant dense<4> : tensor<i32>
    %6 = stablehlo.constant dense<1> : tensor<i32>
    %7 = stablehlo.constant dense<4> : tensor<1xi32>
    %8 = stablehlo.constant dense<1> : tensor<1xi32>
    %9 = stablehlo.concatenate %7, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.constant dense<24> : tensor<i32>
    %11 = stablehlo.constant dense<24> : tensor<i32>
    %12 = stablehlo.convert %11 : (tensor<i32>) -> tensor<f64>
    %13 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %14 = stablehlo.reshape %13 : (tensor<f64>) -> tensor<1xf64>
    %15 = stablehlo.constant dense<4> : tensor<i32>
    %16 = stablehlo.constant dense<6> : tensor<i32>
    %17 = stablehlo.constant dense<4> : tensor<1xi32>
    %18 = stablehlo.constant dense<6> : tensor<1xi32>
    %19 = stablehlo.concatenate %17, %18, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.constant dense<4> : tensor<i32>
    %21 = stablehlo.constant dense<4> : tensor<i32>
    %22 = stablehlo.constant dense<4> : tensor<1xi32>
    %23 = stablehlo.constant dense<4> : tensor<1xi32>
    %24 = stablehlo.concatenate %22, %23, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = stablehlo.constant dense<[20, 0, 0, 0, 0, 0, 14, 0, 16, 0, 8, 0, 0, 0, 6, 0, 12, 0, 7, 0, 14, 0, 0, 0, 0, 0, 2, 1, 2, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]> : tensor<48xui8>
    %26 = stablehlo.custom_call @dynamic_ducc_fft(%25, %arg0, %19, %4, %9, %14, %24) {api_version = 2 : i32, indices_of_shape_operands = dense<6> : tensor<1xi64>, operand_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<48xui8>, tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<1xf64>, tensor<2xi32>) -> tensor<4x4xcomplex<f32>>
    return %26 : tensor<4x4xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32> {
    %0 = stablehlo.constant dense<4> : tensor<i32>
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.constant dense<4> : tensor<1xi32>
    %3 = stablehlo.constant dense<1> : tensor<1xi32>
    %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.constant dense<6> : tensor<i32>
    %6 = stablehlo.constant dense<1> : tensor<i32>
    %7 = stablehlo.constant dense<6> : tensor<1xi32>
    %8 = stablehlo.constant dense<1> : tensor<1xi32>
    %9 = stablehlo.concatenate %7, %8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.constant dense<24> : tensor<i32>
    %11 = stablehlo.constant dense<24> : tensor<i32>
    %12 = stablehlo.convert %11 : (tensor<i32>) -> tensor<f64>
    %13 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %14 = stablehlo.divide %13, %12 : tensor<f64>
    %15 = stablehlo.reshape %14 : (tensor<f64>) -> tensor<1xf64>
    %16 = stablehlo.constant dense<4> : tensor<i32>
    %17 = stablehlo.constant dense<4> : tensor<i32>
    %18 = stablehlo.constant dense<4> : tensor<1xi32>
    %19 = stablehlo.constant dense<4> : tensor<1xi32>
    %20 = stablehlo.concatenate %18, %19, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = stablehlo.constant dense<4> : tensor<i32>
    %22 = stablehlo.constant dense<6> : tensor<i32>
    %23 = stablehlo.constant dense<4> : tensor<1xi32>
    %24 = stablehlo.constant dense<6> : tensor<1xi32>
    %25 = stablehlo.concatenate %23, %24, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %26 = stablehlo.constant dense<[16, 0, 0, 0, 12, 0, 16, 0, 8, 0, 0, 0, 7, 0, 12, 0, 12, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]> : tensor<44xui8>
    %27 = stablehlo.custom_call @dynamic_ducc_fft(%26, %arg0, %25, %4, %9, %15, %25) {api_version = 2 : i32, indices_of_shape_operands = dense<6> : tensor<1xi64>, operand_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<44xui8>, tensor<4x4xcomplex<f32>>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<1xf64>, tensor<2xi32>) -> tensor<4x6xf32>
    return %27 : tensor<4x6xf32>
  }
}
