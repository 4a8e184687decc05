module @composite_regions {
  func.func public @main(%x: tensor<4x3xf32>, %init: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0:2 = "chlo.scan"(%x, %init) <{dimension = 0 : i64, is_reverse = true, is_associative = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
      %s = stablehlo.add %a, %b : tensor<3xf32>
      stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32>
    }) : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
    %1 = stablehlo.composite "my.op" %init ({
    ^bb0(%a: tensor<3xf32>):
      %s = stablehlo.sine %a : tensor<3xf32>
      stablehlo.return %s : tensor<3xf32>
    }, {
      %s = stablehlo.constant dense<1.0> : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {decomposition = @my.op.impl} : (tensor<3xf32>) -> tensor<3xf32>
    return %0#0, %0#1, %1 : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>
  }
  func.func private @my.op.impl(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.sine %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
