module @composites {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.composite "chlo.erf" %x {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.composite "my.op" %0 {composite_attributes = {k = 2 : i64, values = dense<[0.5, 1.5]> : tensor<2xf32>}, decomposition = @my.op.impl} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @my.op.impl(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func private @chlo.erf.impl(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.tanh %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
