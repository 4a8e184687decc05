#loc2 = loc("-":3:26)
module @typed_ffi {
  func.func public @main(%arg0: tensor<2xf32> loc("-":3:26)) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @target(%arg0) {api_version = 4 : i32, backend_config = {alpha = 5.000000e-01 : f32, n = 3 : i64}} : (tensor<2xf32>) -> tensor<2xf32> loc(#loc3)
    return %0 : tensor<2xf32> loc(#loc4)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":2:1)
#loc1 = loc("-":3:3)
#loc3 = loc("-":4:10)
#loc4 = loc("-":5:5)

