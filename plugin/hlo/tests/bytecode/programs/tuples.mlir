module @tuples {
  func.func public @only(%x: tensor<2xf32>, %t: !stablehlo.token) -> tensor<2xf32> {
    %0 = stablehlo.tuple %x, %x, %t : tuple<tensor<2xf32>, tensor<2xf32>, !stablehlo.token>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
    %2 = stablehlo.tuple %0, %1 : tuple<tuple<tensor<2xf32>, tensor<2xf32>, !stablehlo.token>, tensor<2xf32>>
    %3 = stablehlo.after_all %t, %t : !stablehlo.token
    %4 = stablehlo.after_all : !stablehlo.token
    %5 = stablehlo.partition_id : tensor<ui32>
    %6 = stablehlo.replica_id : tensor<ui32>
    return %1 : tensor<2xf32>
  }
}
