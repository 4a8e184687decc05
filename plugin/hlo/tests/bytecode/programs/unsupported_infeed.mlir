module @unsupported_infeed {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.create_token : !stablehlo.token
    %1:2 = "stablehlo.infeed"(%0) <{infeed_config = "", layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) loc("model.py":3:1)
    return %1#0 : tensor<2xf32>
  }
}
