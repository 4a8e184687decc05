"builtin.module"() <{sym_name = "control"}> ({
  "func.func"() <{arg_attrs = [{jax.buffer_donor = true, mhlo.sharding = "{replicated}"}, {}, {}, {}], function_type = (tensor<2xf32>, tensor<i1>, tensor<i32>, !stablehlo.token) -> (tensor<2xf32>, tensor<i32>), res_attrs = [{jax.result_info = "result[\22a\22]"}, {}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<2xf32>, %arg2: tensor<i1>, %arg3: tensor<i32>, %arg4: !stablehlo.token):
    %1:2 = "stablehlo.while"(%arg3, %arg1) ({
    ^bb0(%arg7: tensor<i32>, %arg8: tensor<2xf32>):
      %16 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %17 = "stablehlo.compare"(%arg7, %16) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%17) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg5: tensor<i32>, %arg6: tensor<2xf32>):
      %14 = "func.call"(%arg6) <{callee = @double}> : (tensor<2xf32>) -> tensor<2xf32>
      %15 = "stablehlo.add"(%arg5, %arg3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%15, %14) : (tensor<i32>, tensor<2xf32>) -> ()
    }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    %2 = "stablehlo.if"(%arg2) ({
      "stablehlo.return"(%arg1) : (tensor<2xf32>) -> ()
    }, {
      %13 = "stablehlo.negate"(%arg1) : (tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%13) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    %3:2 = "stablehlo.case"(%arg3) ({
      "stablehlo.return"(%arg1, %arg2) : (tensor<2xf32>, tensor<i1>) -> ()
    }, {
      "stablehlo.return"(%2, %arg2) : (tensor<2xf32>, tensor<i1>) -> ()
    }) : (tensor<i32>) -> (tensor<2xf32>, tensor<i1>)
    %4 = "func.call"(%arg1) <{callee = @double}> : (tensor<2xf32>) -> tensor<2xf32>
    %5 = "stablehlo.composite"(%arg1) <{composite_attributes = {factor = 2 : i64, name = "double"}, decomposition = @double, name = "my.double", version = 1 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
    %6 = "stablehlo.tuple"(%arg1, %arg3) : (tensor<2xf32>, tensor<i32>) -> tuple<tensor<2xf32>, tensor<i32>>
    %7 = "stablehlo.get_tuple_element"(%6) <{index = 1 : i32}> : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
    %8:2 = "stablehlo.optimization_barrier"(%arg1, %arg3) : (tensor<2xf32>, tensor<i32>) -> (tensor<2xf32>, tensor<i32>)
    %9 = "stablehlo.after_all"(%arg4, %arg4) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    %10 = "stablehlo.after_all"() : () -> !stablehlo.token
    %11 = "stablehlo.partition_id"() : () -> tensor<ui32>
    %12 = "stablehlo.replica_id"() : () -> tensor<ui32>
    "func.return"(%1#1, %7) : (tensor<2xf32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "double", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
