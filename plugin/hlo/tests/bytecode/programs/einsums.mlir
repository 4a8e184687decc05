module @einsums {
  func.func public @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %b: tensor<5x2x3xf32>) -> tensor<2x4xf32> {
    %0 = "stablehlo.einsum"(%x, %y) <{einsum_config = "ij,jk->ik"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = "stablehlo.einsum"(%b, %b) <{einsum_config = "bij,bkj->bik"}> : (tensor<5x2x3xf32>, tensor<5x2x3xf32>) -> tensor<5x2x2xf32>
    %2 = "stablehlo.einsum"(%x, %y) <{einsum_config = "ij,jk->ki"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
    %3 = "stablehlo.unary_einsum"(%b) <{einsum_config = "bij->jbi"}> : (tensor<5x2x3xf32>) -> tensor<3x5x2xf32>
    %4 = "stablehlo.unary_einsum"(%b) <{einsum_config = "bij->jb"}> : (tensor<5x2x3xf32>) -> tensor<3x5xf32>
    return %0 : tensor<2x4xf32>
  }
}
