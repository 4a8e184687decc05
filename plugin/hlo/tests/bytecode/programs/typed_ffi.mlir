// Dictionaries as backend configurations came with 0.19.0.
module @typed_ffi {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @target(%x) {api_version = 4 : i32, backend_config = {alpha = 0.5 : f32, n = 3 : i64}} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
