// Printed by jax 0.5.3.
module @jit_ffi attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.custom_call @tgt(%arg0) {backend_config = "", mhlo.backend_config = {a = 3 : i32, b = "s", c = dense<1.000000e+00> : tensor<3xf32>}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
