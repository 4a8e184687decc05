module @unsupported_dynamic_operand {
  func.func public @main(%x: tensor<2x3xf32>, %low: tensor<2xi64>, %high: tensor<2xi64>) -> tensor<4x3xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %interior = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
    %0 = stablehlo.dynamic_pad %x, %zero, %low, %high, %interior : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x3xf32> loc("model.py":3:1)
    return %0 : tensor<4x3xf32>
  }
}
