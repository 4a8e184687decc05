func.func @main(%x: tensor<4x6xui8>, %i: tensor<2x1xi32>, %at: tensor<i32>) -> (tensor<2x6xui8>, tensor<5x11xui8>, tensor<4x6xui8>, tensor<1x6xui8>) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xui8>, tensor<2x1xi32>) -> tensor<2x6xui8>
  %c = stablehlo.constant dense<9> : tensor<ui8>
  %1 = stablehlo.pad %x, %c, low = [-1, 0], high = [2, 0], interior = [0, 1] : (tensor<4x6xui8>, tensor<ui8>) -> tensor<5x11xui8>
  %2 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %less = stablehlo.compare LT, %a, %b : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4x6xui8>) -> tensor<4x6xui8>
  %3 = stablehlo.dynamic_slice %2, %at, %at, sizes = [1, 6] : (tensor<4x6xui8>, tensor<i32>, tensor<i32>) -> tensor<1x6xui8>
  return %0, %1, %2, %3 : tensor<2x6xui8>, tensor<5x11xui8>, tensor<4x6xui8>, tensor<1x6xui8>
}
