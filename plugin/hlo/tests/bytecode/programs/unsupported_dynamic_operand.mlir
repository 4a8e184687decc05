module @unsupported_dynamic_operand {
  func.func public @main(%x: tensor<2x3xf32>, %low: tensor<2xi64>) -> tensor<1x2xf32> {
    %limit = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %strides = stablehlo.constant dense<[1, 1]> : tensor<2xi64>
    %0 = stablehlo.real_dynamic_slice %x, %low, %limit, %strides : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xf32> loc("model.py":3:1)
    return %0 : tensor<1x2xf32>
  }
}
