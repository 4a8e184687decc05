"builtin.module"() <{sym_name = "jit_narrow_types"}> ({
  "func.func"() <{function_type = (tensor<4xf32>) -> (tensor<4xf8E4M3FN>, tensor<4xbf16>, tensor<4xi4>, tensor<4xf16>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xf32>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
    %1 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xbf16>
    %2 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<bf16>) -> tensor<4xbf16>
    %4 = "stablehlo.multiply"(%1, %3) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
    %5 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xi4>
    %6 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xf16>
    %7 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f16>}> : () -> tensor<f16>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f16>) -> tensor<4xf16>
    %9 = "stablehlo.add"(%6, %8) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    "func.return"(%0, %4, %5, %9) : (tensor<4xf8E4M3FN>, tensor<4xbf16>, tensor<4xi4>, tensor<4xf16>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
