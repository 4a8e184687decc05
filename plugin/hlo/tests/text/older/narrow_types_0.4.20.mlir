// Printed by jax 0.4.20.
module @jit_narrow_types attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<4xf8E4M3FN> {jax.result_info = "[0]"}, tensor<4xbf16> {jax.result_info = "[1]"}, tensor<4xi4> {jax.result_info = "[2]"}, tensor<4xf16> {jax.result_info = "[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
    %1 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
    %2 = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<bf16>) -> tensor<4xbf16>
    %4 = stablehlo.multiply %1, %3 : tensor<4xbf16>
    %5 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi4>
    %6 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf16>
    %7 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f16>) -> tensor<4xf16>
    %9 = stablehlo.add %6, %8 : tensor<4xf16>
    return %0, %4, %5, %9 : tensor<4xf8E4M3FN>, tensor<4xbf16>, tensor<4xi4>, tensor<4xf16>
  }
}
