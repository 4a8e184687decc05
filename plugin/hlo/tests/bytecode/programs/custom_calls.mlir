module @custom_calls {
  func.func public @main(%x: tensor<2x3xf32> {tf.aliasing_output = 0 : i32, mhlo.sharding = "{replicated}"}, %y: tensor<4xi32> {jax.buffer_donor = true}) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<4xi32>) {
    %0 = stablehlo.custom_call @typed(%x) {mhlo.backend_config = {array = array<i64: 1, -2>, dense = dense<[1, 2]> : tensor<2xi32>, flag = true, float = 1.5 : f16, int = 200 : ui8, list = [1 : i8, {k = "v"}], name = "text", type = tensor<2xf32>}, mhlo.frontend_attributes = {a = "b"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1:2 = stablehlo.custom_call @legacy(%0, %y) {api_version = 2 : i32, backend_config = "opaque \00 bytes", called_computations = [@callee, @main], has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>, tensor<4xi32>) -> (tensor<2x3xf32>, tensor<4xi32>)
    stablehlo.custom_call @nothing() : () -> ()
    return %1#0, %1#1 : tensor<2x3xf32>, tensor<4xi32>
  }
  func.func private @callee(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
}
