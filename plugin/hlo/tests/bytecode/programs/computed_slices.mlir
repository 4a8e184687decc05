module @computed_slices {
  func.func public @main(%x: tensor<4x9xf32>, %start: tensor<2xi64>, %limit: tensor<2xi64>) -> (tensor<1x2xf32>, tensor<2x3xf32>) {
    %ones = stablehlo.constant dense<1> : tensor<2xi64>
    %strides = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
    %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %ones : (tensor<4x9xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xf32>
    %1 = stablehlo.real_dynamic_slice %x, %start, %limit, %strides : (tensor<4x9xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x3xf32>
    return %0, %1 : tensor<1x2xf32>, tensor<2x3xf32>
  }
}
