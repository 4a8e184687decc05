// Newer than 0.9.0: tan, and accuracies.
module @tangent {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.tan %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
