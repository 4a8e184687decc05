// Custom calls, and attributes of every kind.
module @custom_calls {
  func.func public @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.custom_call @typed(%x) {backend_config = "", mhlo.backend_config = {array = array<i32: 1, -2>, empty = array<f64>, flag = true, half = 1.500000e+00 : f16, inf = 0x7F800000 : f32, int = 200 : ui8, large = 18446744073709551615 : ui64, list = [1 : i8, {k = "v"}, unit, @double], small = -3 : i16, strings = ["a\0Ab", "\22"], tensor = dense<[[1.000000e+00, 2.500000e+00]]> : tensor<1x2xf32>, type = tensor<2xi4>, unit}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1:2 = stablehlo.custom_call @v4(%x, %0) {api_version = 4 : i32, backend_config = {scale = 2.000000e+00 : f32}, has_side_effect = true, called_computations = [@double]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>)
    %2 = stablehlo.custom_call @"not an identifier"(%x) {api_version = 2 : i32, backend_config = "opaque \00 bytes"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    stablehlo.custom_call @nothing() {has_side_effect = true} : () -> ()
    %3 = stablehlo.custom_call @partitioned(%x) {mhlo.sharding = "{replicated}", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=3}, custom>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
  func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
