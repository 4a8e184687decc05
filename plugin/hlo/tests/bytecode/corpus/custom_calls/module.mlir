#loc2 = loc("-":2:26)
#loc3 = loc("-":2:110)
#loc9 = loc("-":8:29)
module @custom_calls {
  func.func public @main(%arg0: tensor<2x3xf32> {mhlo.sharding = "{replicated}", tf.aliasing_output = 0 : i32} loc("-":2:26), %arg1: tensor<4xi32> {jax.buffer_donor = true} loc("-":2:110)) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<4xi32>) {
    %0 = stablehlo.custom_call @typed(%arg0) {mhlo.backend_config = {array = dense<[1, -2]> : tensor<2xi64>, dense = dense<[1, 2]> : tensor<2xi32>, flag = true, float = 1.500000e+00 : f16, int = 200 : ui8, list = [1 : i8, {k = "v"}], name = "text", type = tensor<2xf32>}, mhlo.frontend_attributes = {a = "b"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc(#loc4)
    %1:2 = stablehlo.custom_call @legacy(%0, %arg1) {api_version = 2 : i32, backend_config = "opaque \00 bytes", called_computations = [@callee, @main], has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>, tensor<4xi32>) -> (tensor<2x3xf32>, tensor<4xi32>) loc(#loc5)
    stablehlo.custom_call @nothing() : () -> () loc(#loc6)
    return %1#0, %1#1 : tensor<2x3xf32>, tensor<4xi32> loc(#loc7)
  } loc(#loc1)
  func.func private @callee(%arg0: tensor<f32> loc("-":8:29)) -> tensor<f32> {
    return %arg0 : tensor<f32> loc(#loc10)
  } loc(#loc8)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc4 = loc("-":3:10)
#loc5 = loc("-":4:12)
#loc6 = loc("-":5:5)
#loc7 = loc("-":6:5)
#loc8 = loc("-":8:3)
#loc10 = loc("-":9:5)

