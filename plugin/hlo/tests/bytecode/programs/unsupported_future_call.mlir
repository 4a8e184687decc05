module @unsupported_future_call {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.custom_call"(%x) <{call_target_name = "start", api_version = 4 : i32}> : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
