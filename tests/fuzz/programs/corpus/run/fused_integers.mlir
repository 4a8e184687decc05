func.func @main(%x: tensor<3x5xi32>, %y: tensor<5xi8>, %p: tensor<i1>) -> (tensor<5x3xi32>, tensor<3xi32>, tensor<3x5xi32>) {
  %0 = stablehlo.convert %y : (tensor<5xi8>) -> tensor<5xi32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<5xi32>) -> tensor<3x5xi32>
  %2 = stablehlo.multiply %x, %1 : tensor<3x5xi32>
  %3 = stablehlo.shift_right_arithmetic %2, %x : tensor<3x5xi32>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<3x5xi32>) -> tensor<5x3xi32>
  %c = stablehlo.constant dense<-7> : tensor<i32>
  %5 = stablehlo.reduce(%3 init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<3x5xi32>, tensor<i32>) -> tensor<3xi32>
  %6 = stablehlo.select %p, %3, %x : tensor<i1>, tensor<3x5xi32>
  return %4, %5, %6 : tensor<5x3xi32>, tensor<3xi32>, tensor<3x5xi32>
}
