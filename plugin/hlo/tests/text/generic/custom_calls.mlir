"builtin.module"() <{sym_name = "custom_calls"}> ({
  "func.func"() <{function_type = (tensor<2x3xf32>) -> tensor<2x3xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<2x3xf32>):
    %1 = "stablehlo.custom_call"(%arg1) <{backend_config = "", call_target_name = "typed", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]}> {mhlo.backend_config = {array = array<i32: 1, -2>, empty = array<f64>, flag = true, half = 1.500000e+00 : f16, inf = 0x7F800000 : f32, int = 200 : ui8, large = 18446744073709551615 : ui64, list = [1 : i8, {k = "v"}, unit, @double], small = -3 : i16, strings = ["a\0Ab", "\22"], tensor = dense<[[1.000000e+00, 2.500000e+00]]> : tensor<1x2xf32>, type = tensor<2xi4>, unit}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2:2 = "stablehlo.custom_call"(%arg1, %1) <{api_version = 4 : i32, backend_config = {scale = 2.000000e+00 : f32}, call_target_name = "v4", called_computations = [@double], has_side_effect = true}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)
    %3 = "stablehlo.custom_call"(%arg1) <{api_version = 2 : i32, backend_config = "opaque \00 bytes", call_target_name = "not an identifier"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "stablehlo.custom_call"() <{call_target_name = "nothing", has_side_effect = true}> : () -> ()
    %4 = "stablehlo.custom_call"(%arg1) <{call_target_name = "partitioned"}> {mhlo.sharding = "{replicated}", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=3}, custom>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%4) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "double", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2xf32>):
    %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
