module @unsupported_dynamic {
  func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.sine %x : tensor<?xf32> loc("model.py":3:1)
    return %0 : tensor<?xf32>
  }
}
