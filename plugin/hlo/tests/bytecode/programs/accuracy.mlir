// What only releases from 1.9.0 on can say: a result accuracy other than the default.
module @accuracy {
  func.func public @main(%x: tensor<3xf64>) -> tensor<3xf64> {
    %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<3xf64>
    %1 = stablehlo.tanh %0 {result_accuracy = #stablehlo.result_accuracy<atol = 0.5, rtol = 0.25, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<3xf64>
    return %1 : tensor<3xf64>
  }
}
