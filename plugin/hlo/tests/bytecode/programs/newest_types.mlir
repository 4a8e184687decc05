// Element types that came with 1.0 and later.
module @newest_types {
  func.func public @main(%a: tensor<3xi2>, %b: tensor<3xui2>, %c: tensor<3xf8E4M3>, %d: tensor<3xf8E3M4>, %e: tensor<3xf4E2M1FN>, %f: tensor<3xf6E2M3FN>, %g: tensor<3xf6E3M2FN>, %h: tensor<3xf8E8M0FNU>) -> tensor<3xi2> {
    %0 = stablehlo.constant dense<[-2, 1, -1]> : tensor<3xi2>
    %1 = stablehlo.constant dense<[3, 0, 2]> : tensor<3xui2>
    %2 = stablehlo.constant dense<[1.5, -6.0, 0.5]> : tensor<3xf4E2M1FN>
    %3 = stablehlo.add %0, %a : tensor<3xi2>
    return %3 : tensor<3xi2>
  }
}
