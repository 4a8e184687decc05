module @jit_narrow_types attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf8E4M3FN> {jax.result_info = "result[0]"}, tensor<4xbf16> {jax.result_info = "result[1]"}, tensor<4xi4> {jax.result_info = "result[2]"}, tensor<4xf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
    %1 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4xbf16>
    %3 = stablehlo.multiply %1, %2 : tensor<4xbf16>
    %4 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi4>
    %5 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<4xf16>
    %7 = stablehlo.add %5, %6 : tensor<4xf16>
    return %0, %3, %4, %7 : tensor<4xf8E4M3FN>, tensor<4xbf16>, tensor<4xi4>, tensor<4xf16>
  }
}
