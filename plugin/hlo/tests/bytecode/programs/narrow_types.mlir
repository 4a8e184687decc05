// Element types that came after 0.9.0.
module @narrow_types {
  func.func public @main(%a: tensor<2xf8E4M3FN>, %b: tensor<2xf8E5M2>, %c: tensor<2xf8E4M3FNUZ>, %d: tensor<2xf8E5M2FNUZ>, %e: tensor<2xf8E4M3B11FNUZ>) -> tensor<2xf8E4M3FN> {
    %0 = stablehlo.constant dense<[1.0, -448.0]> : tensor<2xf8E4M3FN>
    %1 = stablehlo.add %0, %a : tensor<2xf8E4M3FN>
    return %1 : tensor<2xf8E4M3FN>
  }
}
