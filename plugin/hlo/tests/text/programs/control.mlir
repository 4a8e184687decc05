// Control flow, calls, tuples, tokens.
module @control attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<2xf32> {jax.buffer_donor = true, mhlo.sharding = "{replicated}"}, %p: tensor<i1>, %i: tensor<i32>, %token: !stablehlo.token) -> (tensor<2xf32> {jax.result_info = "result[\22a\22]"}, tensor<i32>) {
    %0:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %x) : tensor<i32>, tensor<2xf32>
    cond {
      %c = stablehlo.constant dense<3> : tensor<i32>
      %9 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = func.call @double(%iterArg_0) : (tensor<2xf32>) -> tensor<2xf32>
      %10 = stablehlo.add %iterArg, %i : tensor<i32>
      stablehlo.return %10, %9 : tensor<i32>, tensor<2xf32>
    }
    %1 = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<2xf32>
    }, {
      %9 = stablehlo.negate %x : tensor<2xf32>
      stablehlo.return %9 : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    %2:2 = "stablehlo.case"(%i) ({
      stablehlo.return %x, %p : tensor<2xf32>, tensor<i1>
    }, {
      stablehlo.return %1, %p : tensor<2xf32>, tensor<i1>
    }) : (tensor<i32>) -> (tensor<2xf32>, tensor<i1>)
    %3 = call @double(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %4 = stablehlo.composite "my.double" %x {composite_attributes = {factor = 2 : i64, name = "double"}, decomposition = @double, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %5 = stablehlo.tuple %x, %i : tuple<tensor<2xf32>, tensor<i32>>
    %6 = stablehlo.get_tuple_element %5[1] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
    %7:2 = stablehlo.optimization_barrier %x, %i : tensor<2xf32>, tensor<i32>
    %8 = stablehlo.after_all %token, %token : !stablehlo.token
    %11 = stablehlo.after_all : !stablehlo.token
    %13 = stablehlo.partition_id : tensor<ui32>
    %14 = stablehlo.replica_id : tensor<ui32>
    return %0#1, %6 : tensor<2xf32>, tensor<i32>
  }
  func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
