#file = loc("model.py":12:3)
#caller = loc("train.py":7:1)
#call = loc(callsite(#file at #caller))
#name = loc("jit(f)/mul"(#call))
#fused = loc(fused[#name, "other"])
module @locations {
  func.func public @main(%x: tensor<f32> loc("x")) -> tensor<f32> {
    %0 = stablehlo.add %x, %x : tensor<f32> loc(#file)
    %1 = stablehlo.multiply %0, %x : tensor<f32> loc(#name)
    %2 = stablehlo.subtract %1, %x : tensor<f32> loc(#fused)
    %3 = stablehlo.negate %2 : tensor<f32> loc(unknown)
    return %3 : tensor<f32> loc(#file)
  } loc(#file)
} loc(#file)
