#loc1 = loc("x")
module @locations {
  func.func public @main(%arg0: tensor<f32> loc("x")) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<f32> loc(#loc)
    %1 = stablehlo.multiply %0, %arg0 : tensor<f32> loc(#loc6)
    %2 = stablehlo.subtract %1, %arg0 : tensor<f32> loc(#loc7)
    %3 = stablehlo.negate %2 : tensor<f32> loc(#loc4)
    return %3 : tensor<f32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc("model.py":12:3)
#loc2 = loc("train.py":7:1)
#loc3 = loc("other")
#loc4 = loc(unknown)
#loc5 = loc(callsite(#loc at #loc2))
#loc6 = loc("jit(f)/mul"(#loc5))
#loc7 = loc(fused[#loc6, #loc3])

