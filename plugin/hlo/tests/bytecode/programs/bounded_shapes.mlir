module @bounded_shapes {
  func.func public @main(%x: tensor<?x3xf32, #stablehlo.bounds<8, ?>>, %n: tensor<i32>) -> (tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<3x?xf32, #stablehlo.bounds<?, 8>>, tensor<i32>) {
    %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<8, ?>> loc("model.py":3:1)
    %1 = stablehlo.add %0, %0 : tensor<?x3xf32, #stablehlo.bounds<8, ?>>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<?x3xf32, #stablehlo.bounds<8, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 8>>
    %3 = stablehlo.get_dimension_size %2, dim = 1 : (tensor<3x?xf32, #stablehlo.bounds<?, 8>>) -> tensor<i32>
    return %1, %2, %3 : tensor<?x3xf32, #stablehlo.bounds<8, ?>>, tensor<3x?xf32, #stablehlo.bounds<?, 8>>, tensor<i32>
  }
}
