"builtin.module"() <{sym_name = "jit_large_constant"}> ({
  "func.func"() <{function_type = (tensor<300xf32>) -> (tensor<300xf32>, tensor<120xi32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<300xf32>):
    %0 = "stablehlo.constant"() <{value = dense<"0x000000000100000002000000030000000400000005000000060000000700000008000000090000000A0000000B0000000C0000000D0000000E0000000F000000100000001100000012000000130000001400000015000000160000001700000018000000190000001A0000001B0000001C0000001D0000001E0000001F000000200000002100000022000000230000002400000025000000260000002700000028000000290000002A0000002B0000002C0000002D0000002E0000002F000000300000003100000032000000330000003400000035000000360000003700000038000000390000003A0000003B0000003C0000003D0000003E0000003F000000400000004100000042000000430000004400000045000000460000004700000048000000490000004A0000004B0000004C0000004D0000004E0000004F000000500000005100000052000000530000005400000055000000560000005700000058000000590000005A0000005B0000005C0000005D0000005E0000005F000000600000006100000062000000630000006400000065000000660000006700000068000000690000006A0000006B0000006C0000006D0000006E0000006F0000007000000071000000720000007300000074000000750000007600000077000000"> : tensor<120xi32>}> : () -> tensor<120xi32>
    %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<300xf32>
    %2 = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %4 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.scatter"(%1, %3, %4) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      "stablehlo.return"(%arg2) : (tensor<f32>) -> ()
    }) : (tensor<300xf32>, tensor<1xi32>, tensor<f32>) -> tensor<300xf32>
    %6 = "stablehlo.add"(%arg0, %5) : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xf32>
    "func.return"(%6, %0) : (tensor<300xf32>, tensor<120xi32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
