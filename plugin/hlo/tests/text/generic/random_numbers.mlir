"builtin.module"() <{sym_name = "jit_random_numbers"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty_mesh"}> {stablehlo.mesh = {axes = []}} : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>) -> (tensor<3xf32>, tensor<5xi32>, tensor<2xui8>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg102: tensor<2xui32>):
    %295 = "sdy.sharding_constraint"(%arg102) <{sharding = #sdy.sharding<@empty_mesh, [{}]>}> : (tensor<2xui32>) -> tensor<2xui32>
    %296 = "func.call"(%295) <{callee = @_normal}> : (tensor<2xui32>) -> tensor<3xf32>
    %297 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5xi32>
    %298 = "func.call"(%295, %297) <{callee = @_shuffle}> : (tensor<2xui32>, tensor<5xi32>) -> tensor<5xi32>
    %299 = "stablehlo.slice"(%295) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %300 = "stablehlo.reshape"(%299) : (tensor<1xui32>) -> tensor<ui32>
    %301 = "stablehlo.slice"(%295) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %302 = "stablehlo.reshape"(%301) : (tensor<1xui32>) -> tensor<ui32>
    %303 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xui64>
    %304 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %305 = "stablehlo.broadcast_in_dim"(%304) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %306 = "stablehlo.multiply"(%305, %303) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %307 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %308 = "stablehlo.broadcast_in_dim"(%307) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %309 = "stablehlo.shift_right_logical"(%306, %308) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %310 = "stablehlo.convert"(%306) : (tensor<2xui64>) -> tensor<2xui32>
    %311 = "stablehlo.convert"(%309) : (tensor<2xui64>) -> tensor<2xui32>
    %312:2 = "func.call"(%300, %302, %311, %310) <{callee = @threefry2x32_0}> : (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>)
    %313 = "stablehlo.xor"(%312#0, %312#1) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %314 = "stablehlo.convert"(%313) : (tensor<2xui32>) -> tensor<2xui8>
    "func.return"(%296, %298, %314) : (tensor<3xf32>, tensor<5xi32>, tensor<2xui8>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>) -> tensor<3xf32>, sym_name = "_normal", sym_visibility = "private"}> ({
  ^bb0(%arg101: tensor<2xui32>):
    %294 = "func.call"(%arg101) <{callee = @_normal_real}> : (tensor<2xui32>) -> tensor<3xf32>
    "func.return"(%294) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>) -> tensor<3xf32>, sym_name = "_normal_real", sym_visibility = "private"}> ({
  ^bb0(%arg100: tensor<2xui32>):
    %287 = "stablehlo.constant"() <{value = dense<-0.99999994> : tensor<f32>}> : () -> tensor<f32>
    %288 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %289 = "func.call"(%arg100, %287, %288) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
    %290 = "chlo.erf_inv"(%289) : (tensor<3xf32>) -> tensor<3xf32>
    %291 = "stablehlo.constant"() <{value = dense<1.41421354> : tensor<f32>}> : () -> tensor<f32>
    %292 = "stablehlo.broadcast_in_dim"(%291) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %293 = "stablehlo.multiply"(%292, %290) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%293) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>, sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg97: tensor<2xui32>, %arg98: tensor<f32>, %arg99: tensor<f32>):
    %253 = "stablehlo.broadcast_in_dim"(%arg98) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %254 = "stablehlo.broadcast_in_dim"(%arg99) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %255 = "stablehlo.slice"(%arg97) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %256 = "stablehlo.reshape"(%255) : (tensor<1xui32>) -> tensor<ui32>
    %257 = "stablehlo.slice"(%arg97) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %258 = "stablehlo.reshape"(%257) : (tensor<1xui32>) -> tensor<ui32>
    %259 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xui64>
    %260 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %261 = "stablehlo.broadcast_in_dim"(%260) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<3xui64>
    %262 = "stablehlo.multiply"(%261, %259) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
    %263 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %264 = "stablehlo.broadcast_in_dim"(%263) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<3xui64>
    %265 = "stablehlo.shift_right_logical"(%262, %264) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
    %266 = "stablehlo.convert"(%262) : (tensor<3xui64>) -> tensor<3xui32>
    %267 = "stablehlo.convert"(%265) : (tensor<3xui64>) -> tensor<3xui32>
    %268:2 = "func.call"(%256, %258, %267, %266) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)
    %269 = "stablehlo.xor"(%268#0, %268#1) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %270 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %271 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %272 = "stablehlo.shift_right_logical"(%269, %271) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %273 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %274 = "stablehlo.broadcast_in_dim"(%273) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %275 = "stablehlo.or"(%272, %274) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %276 = "stablehlo.bitcast_convert"(%275) : (tensor<3xui32>) -> tensor<3xf32>
    %277 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %278 = "stablehlo.broadcast_in_dim"(%277) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %279 = "stablehlo.subtract"(%276, %278) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %280 = "stablehlo.subtract"(%254, %253) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %281 = "stablehlo.broadcast_in_dim"(%280) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<3xf32>
    %282 = "stablehlo.multiply"(%279, %281) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %283 = "stablehlo.broadcast_in_dim"(%253) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<3xf32>
    %284 = "stablehlo.add"(%282, %283) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %285 = "stablehlo.broadcast_in_dim"(%253) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<3xf32>
    %286 = "stablehlo.maximum"(%285, %284) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%286) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg75: tensor<ui32>, %arg76: tensor<ui32>, %arg77: tensor<3xui32>, %arg78: tensor<3xui32>):
    %236 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %237 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %238 = "stablehlo.xor"(%arg75, %arg76) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %239 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %240 = "stablehlo.xor"(%238, %239) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %241 = "stablehlo.broadcast_in_dim"(%arg75) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %242 = "stablehlo.add"(%arg77, %241) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %243 = "stablehlo.broadcast_in_dim"(%arg76) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %244 = "stablehlo.add"(%arg78, %243) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %245 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %246 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %247:9 = "stablehlo.while"(%246, %245, %242, %244, %arg76, %240, %arg75, %236, %237) ({
    ^bb0(%arg88: tensor<i32>, %arg89: tensor<i32>, %arg90: tensor<3xui32>, %arg91: tensor<3xui32>, %arg92: tensor<ui32>, %arg93: tensor<ui32>, %arg94: tensor<ui32>, %arg95: tensor<4xui32>, %arg96: tensor<4xui32>):
      %251 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %252 = "stablehlo.compare"(%arg88, %251) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%252) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg79: tensor<i32>, %arg80: tensor<i32>, %arg81: tensor<3xui32>, %arg82: tensor<3xui32>, %arg83: tensor<ui32>, %arg84: tensor<ui32>, %arg85: tensor<ui32>, %arg86: tensor<4xui32>, %arg87: tensor<4xui32>):
      %248:8 = "func.call"(%arg80, %arg81, %arg82, %arg83, %arg84, %arg85, %arg86, %arg87) <{callee = @closed_call}> : (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %249 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %250 = "stablehlo.add"(%arg79, %249) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%250, %248#0, %248#1, %248#2, %248#3, %248#4, %248#5, %248#6, %248#7) : (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%247#2, %247#3) : (tensor<3xui32>, tensor<3xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg67: tensor<i32>, %arg68: tensor<3xui32>, %arg69: tensor<3xui32>, %arg70: tensor<ui32>, %arg71: tensor<ui32>, %arg72: tensor<ui32>, %arg73: tensor<4xui32>, %arg74: tensor<4xui32>):
    %181 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %182 = "stablehlo.add"(%arg67, %181) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %183 = "stablehlo.slice"(%arg73) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %184 = "stablehlo.reshape"(%183) : (tensor<1xui32>) -> tensor<ui32>
    %185 = "stablehlo.add"(%arg68, %arg69) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %186 = "stablehlo.broadcast_in_dim"(%184) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %187 = "stablehlo.shift_left"(%arg69, %186) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %188 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %189 = "stablehlo.subtract"(%188, %184) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %190 = "stablehlo.broadcast_in_dim"(%189) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %191 = "stablehlo.shift_right_logical"(%arg69, %190) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %192 = "stablehlo.or"(%187, %191) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %193 = "stablehlo.xor"(%185, %192) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %194 = "stablehlo.slice"(%arg73) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %195 = "stablehlo.reshape"(%194) : (tensor<1xui32>) -> tensor<ui32>
    %196 = "stablehlo.add"(%185, %193) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %197 = "stablehlo.broadcast_in_dim"(%195) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %198 = "stablehlo.shift_left"(%193, %197) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %199 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %200 = "stablehlo.subtract"(%199, %195) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %201 = "stablehlo.broadcast_in_dim"(%200) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %202 = "stablehlo.shift_right_logical"(%193, %201) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %203 = "stablehlo.or"(%198, %202) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %204 = "stablehlo.xor"(%196, %203) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %205 = "stablehlo.slice"(%arg73) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %206 = "stablehlo.reshape"(%205) : (tensor<1xui32>) -> tensor<ui32>
    %207 = "stablehlo.add"(%196, %204) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %208 = "stablehlo.broadcast_in_dim"(%206) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %209 = "stablehlo.shift_left"(%204, %208) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %210 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %211 = "stablehlo.subtract"(%210, %206) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %212 = "stablehlo.broadcast_in_dim"(%211) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %213 = "stablehlo.shift_right_logical"(%204, %212) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %214 = "stablehlo.or"(%209, %213) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %215 = "stablehlo.xor"(%207, %214) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %216 = "stablehlo.slice"(%arg73) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %217 = "stablehlo.reshape"(%216) : (tensor<1xui32>) -> tensor<ui32>
    %218 = "stablehlo.add"(%207, %215) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %219 = "stablehlo.broadcast_in_dim"(%217) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %220 = "stablehlo.shift_left"(%215, %219) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %221 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %222 = "stablehlo.subtract"(%221, %217) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %223 = "stablehlo.broadcast_in_dim"(%222) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %224 = "stablehlo.shift_right_logical"(%215, %223) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %225 = "stablehlo.or"(%220, %224) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %226 = "stablehlo.xor"(%218, %225) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %227 = "stablehlo.broadcast_in_dim"(%arg70) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %228 = "stablehlo.add"(%218, %227) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %229 = "stablehlo.broadcast_in_dim"(%arg71) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %230 = "stablehlo.add"(%226, %229) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    %231 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %232 = "stablehlo.add"(%arg67, %231) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %233 = "stablehlo.convert"(%232) : (tensor<i32>) -> tensor<ui32>
    %234 = "stablehlo.broadcast_in_dim"(%233) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<3xui32>
    %235 = "stablehlo.add"(%230, %234) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    "func.return"(%182, %228, %235, %arg71, %arg72, %arg70, %arg74, %arg73) : (tensor<i32>, tensor<3xui32>, tensor<3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>, tensor<5xi32>) -> tensor<5xi32>, sym_name = "_shuffle", sym_visibility = "private"}> ({
  ^bb0(%arg61: tensor<2xui32>, %arg62: tensor<5xi32>):
    %161 = "func.call"(%arg61) <{callee = @_threefry_split}> : (tensor<2xui32>) -> tensor<2x2xui32>
    %162 = "stablehlo.slice"(%161) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %163 = "stablehlo.reshape"(%162) : (tensor<1x2xui32>) -> tensor<2xui32>
    %164 = "stablehlo.slice"(%163) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %165 = "stablehlo.reshape"(%164) : (tensor<1xui32>) -> tensor<ui32>
    %166 = "stablehlo.slice"(%163) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %167 = "stablehlo.reshape"(%166) : (tensor<1xui32>) -> tensor<ui32>
    %168 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5xui64>
    %169 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<5xui64>
    %171 = "stablehlo.multiply"(%170, %168) : (tensor<5xui64>, tensor<5xui64>) -> tensor<5xui64>
    %172 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %173 = "stablehlo.broadcast_in_dim"(%172) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<5xui64>
    %174 = "stablehlo.shift_right_logical"(%171, %173) : (tensor<5xui64>, tensor<5xui64>) -> tensor<5xui64>
    %175 = "stablehlo.convert"(%171) : (tensor<5xui64>) -> tensor<5xui32>
    %176 = "stablehlo.convert"(%174) : (tensor<5xui64>) -> tensor<5xui32>
    %177:2 = "func.call"(%165, %167, %176, %175) <{callee = @threefry2x32_2}> : (tensor<ui32>, tensor<ui32>, tensor<5xui32>, tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>)
    %178 = "stablehlo.xor"(%177#0, %177#1) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %179:2 = "stablehlo.sort"(%178, %arg62) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg63: tensor<ui32>, %arg64: tensor<ui32>, %arg65: tensor<i32>, %arg66: tensor<i32>):
      %180 = "stablehlo.compare"(%arg63, %arg64) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      "stablehlo.return"(%180) : (tensor<i1>) -> ()
    }) : (tensor<5xui32>, tensor<5xi32>) -> (tensor<5xui32>, tensor<5xi32>)
    "func.return"(%179#1) : (tensor<5xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2xui32>) -> tensor<2x2xui32>, sym_name = "_threefry_split", sym_visibility = "private"}> ({
  ^bb0(%arg60: tensor<2xui32>):
    %144 = "stablehlo.slice"(%arg60) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %145 = "stablehlo.reshape"(%144) : (tensor<1xui32>) -> tensor<ui32>
    %146 = "stablehlo.slice"(%arg60) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %147 = "stablehlo.reshape"(%146) : (tensor<1xui32>) -> tensor<ui32>
    %148 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xui64>
    %149 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %151 = "stablehlo.multiply"(%150, %148) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %152 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %153 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %154 = "stablehlo.shift_right_logical"(%151, %153) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %155 = "stablehlo.convert"(%151) : (tensor<2xui64>) -> tensor<2xui32>
    %156 = "stablehlo.convert"(%154) : (tensor<2xui64>) -> tensor<2xui32>
    %157:2 = "func.call"(%145, %147, %156, %155) <{callee = @threefry2x32_0}> : (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>)
    %158 = "stablehlo.broadcast_in_dim"(%157#0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %159 = "stablehlo.broadcast_in_dim"(%157#1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %160 = "stablehlo.concatenate"(%158, %159) <{dimension = 1 : i64}> : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x2xui32>
    "func.return"(%160) : (tensor<2x2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>), sym_name = "threefry2x32_0", sym_visibility = "private"}> ({
  ^bb0(%arg38: tensor<ui32>, %arg39: tensor<ui32>, %arg40: tensor<2xui32>, %arg41: tensor<2xui32>):
    %127 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %128 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %129 = "stablehlo.xor"(%arg38, %arg39) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %130 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %131 = "stablehlo.xor"(%129, %130) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %132 = "stablehlo.broadcast_in_dim"(%arg38) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %133 = "stablehlo.add"(%arg40, %132) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %134 = "stablehlo.broadcast_in_dim"(%arg39) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %135 = "stablehlo.add"(%arg41, %134) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %136 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %137 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %138:9 = "stablehlo.while"(%137, %136, %133, %135, %arg39, %131, %arg38, %127, %128) ({
    ^bb0(%arg51: tensor<i32>, %arg52: tensor<i32>, %arg53: tensor<2xui32>, %arg54: tensor<2xui32>, %arg55: tensor<ui32>, %arg56: tensor<ui32>, %arg57: tensor<ui32>, %arg58: tensor<4xui32>, %arg59: tensor<4xui32>):
      %142 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %143 = "stablehlo.compare"(%arg51, %142) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%143) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg42: tensor<i32>, %arg43: tensor<i32>, %arg44: tensor<2xui32>, %arg45: tensor<2xui32>, %arg46: tensor<ui32>, %arg47: tensor<ui32>, %arg48: tensor<ui32>, %arg49: tensor<4xui32>, %arg50: tensor<4xui32>):
      %139:8 = "func.call"(%arg43, %arg44, %arg45, %arg46, %arg47, %arg48, %arg49, %arg50) <{callee = @closed_call_1}> : (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %140 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %141 = "stablehlo.add"(%arg42, %140) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%141, %139#0, %139#1, %139#2, %139#3, %139#4, %139#5, %139#6, %139#7) : (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%138#2, %138#3) : (tensor<2xui32>, tensor<2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call_1", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<i32>, %arg31: tensor<2xui32>, %arg32: tensor<2xui32>, %arg33: tensor<ui32>, %arg34: tensor<ui32>, %arg35: tensor<ui32>, %arg36: tensor<4xui32>, %arg37: tensor<4xui32>):
    %72 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %73 = "stablehlo.add"(%arg30, %72) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %74 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %75 = "stablehlo.reshape"(%74) : (tensor<1xui32>) -> tensor<ui32>
    %76 = "stablehlo.add"(%arg31, %arg32) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %77 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %78 = "stablehlo.shift_left"(%arg32, %77) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %79 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %80 = "stablehlo.subtract"(%79, %75) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %82 = "stablehlo.shift_right_logical"(%arg32, %81) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %83 = "stablehlo.or"(%78, %82) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %84 = "stablehlo.xor"(%76, %83) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %85 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %86 = "stablehlo.reshape"(%85) : (tensor<1xui32>) -> tensor<ui32>
    %87 = "stablehlo.add"(%76, %84) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %88 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %89 = "stablehlo.shift_left"(%84, %88) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %90 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %91 = "stablehlo.subtract"(%90, %86) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %93 = "stablehlo.shift_right_logical"(%84, %92) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %94 = "stablehlo.or"(%89, %93) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %95 = "stablehlo.xor"(%87, %94) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %96 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %97 = "stablehlo.reshape"(%96) : (tensor<1xui32>) -> tensor<ui32>
    %98 = "stablehlo.add"(%87, %95) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %99 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %100 = "stablehlo.shift_left"(%95, %99) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %101 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %102 = "stablehlo.subtract"(%101, %97) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %104 = "stablehlo.shift_right_logical"(%95, %103) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %105 = "stablehlo.or"(%100, %104) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %106 = "stablehlo.xor"(%98, %105) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %107 = "stablehlo.slice"(%arg36) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %108 = "stablehlo.reshape"(%107) : (tensor<1xui32>) -> tensor<ui32>
    %109 = "stablehlo.add"(%98, %106) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %110 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %111 = "stablehlo.shift_left"(%106, %110) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %112 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %113 = "stablehlo.subtract"(%112, %108) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %115 = "stablehlo.shift_right_logical"(%106, %114) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %116 = "stablehlo.or"(%111, %115) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %117 = "stablehlo.xor"(%109, %116) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %118 = "stablehlo.broadcast_in_dim"(%arg33) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %119 = "stablehlo.add"(%109, %118) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %120 = "stablehlo.broadcast_in_dim"(%arg34) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %121 = "stablehlo.add"(%117, %120) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %122 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %123 = "stablehlo.add"(%arg30, %122) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %124 = "stablehlo.convert"(%123) : (tensor<i32>) -> tensor<ui32>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %126 = "stablehlo.add"(%121, %125) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    "func.return"(%73, %119, %126, %arg34, %arg35, %arg33, %arg37, %arg36) : (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<5xui32>, tensor<5xui32>) -> (tensor<5xui32>, tensor<5xui32>), sym_name = "threefry2x32_2", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<ui32>, %arg9: tensor<ui32>, %arg10: tensor<5xui32>, %arg11: tensor<5xui32>):
    %55 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %56 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %57 = "stablehlo.xor"(%arg8, %arg9) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %58 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %59 = "stablehlo.xor"(%57, %58) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %60 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %61 = "stablehlo.add"(%arg10, %60) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %62 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %63 = "stablehlo.add"(%arg11, %62) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %64 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %65 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %66:9 = "stablehlo.while"(%65, %64, %61, %63, %arg9, %59, %arg8, %55, %56) ({
    ^bb0(%arg21: tensor<i32>, %arg22: tensor<i32>, %arg23: tensor<5xui32>, %arg24: tensor<5xui32>, %arg25: tensor<ui32>, %arg26: tensor<ui32>, %arg27: tensor<ui32>, %arg28: tensor<4xui32>, %arg29: tensor<4xui32>):
      %70 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %71 = "stablehlo.compare"(%arg21, %70) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%71) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>, %arg14: tensor<5xui32>, %arg15: tensor<5xui32>, %arg16: tensor<ui32>, %arg17: tensor<ui32>, %arg18: tensor<ui32>, %arg19: tensor<4xui32>, %arg20: tensor<4xui32>):
      %67:8 = "func.call"(%arg13, %arg14, %arg15, %arg16, %arg17, %arg18, %arg19, %arg20) <{callee = @closed_call_3}> : (tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %68 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %69 = "stablehlo.add"(%arg12, %68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%69, %67#0, %67#1, %67#2, %67#3, %67#4, %67#5, %67#6, %67#7) : (tensor<i32>, tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%66#2, %66#3) : (tensor<5xui32>, tensor<5xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), sym_name = "closed_call_3", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<5xui32>, %arg2: tensor<5xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1xui32>) -> tensor<ui32>
    %4 = "stablehlo.add"(%arg1, %arg2) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %5 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %6 = "stablehlo.shift_left"(%arg2, %5) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %7 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %8 = "stablehlo.subtract"(%7, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %10 = "stablehlo.shift_right_logical"(%arg2, %9) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %11 = "stablehlo.or"(%6, %10) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %12 = "stablehlo.xor"(%4, %11) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %13 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %14 = "stablehlo.reshape"(%13) : (tensor<1xui32>) -> tensor<ui32>
    %15 = "stablehlo.add"(%4, %12) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %16 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %17 = "stablehlo.shift_left"(%12, %16) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %18 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %19 = "stablehlo.subtract"(%18, %14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %21 = "stablehlo.shift_right_logical"(%12, %20) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %22 = "stablehlo.or"(%17, %21) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %23 = "stablehlo.xor"(%15, %22) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %24 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1xui32>) -> tensor<ui32>
    %26 = "stablehlo.add"(%15, %23) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %27 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %28 = "stablehlo.shift_left"(%23, %27) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %29 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %30 = "stablehlo.subtract"(%29, %25) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %32 = "stablehlo.shift_right_logical"(%23, %31) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %33 = "stablehlo.or"(%28, %32) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %34 = "stablehlo.xor"(%26, %33) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %35 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %36 = "stablehlo.reshape"(%35) : (tensor<1xui32>) -> tensor<ui32>
    %37 = "stablehlo.add"(%26, %34) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %38 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %39 = "stablehlo.shift_left"(%34, %38) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %40 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %41 = "stablehlo.subtract"(%40, %36) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %43 = "stablehlo.shift_right_logical"(%34, %42) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %44 = "stablehlo.or"(%39, %43) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %45 = "stablehlo.xor"(%37, %44) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %46 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %47 = "stablehlo.add"(%37, %46) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %48 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %49 = "stablehlo.add"(%45, %48) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    %50 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %51 = "stablehlo.add"(%arg0, %50) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %52 = "stablehlo.convert"(%51) : (tensor<i32>) -> tensor<ui32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<5xui32>
    %54 = "stablehlo.add"(%49, %53) : (tensor<5xui32>, tensor<5xui32>) -> tensor<5xui32>
    "func.return"(%1, %47, %54, %arg4, %arg5, %arg3, %arg7, %arg6) : (tensor<i32>, tensor<5xui32>, tensor<5xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
