// Ops with a body that combines elements.
module @reductions {
  func.func public @main(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %1:2 = stablehlo.reduce(%x init: %zero), (%i init: %none) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>)  {
      %5 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.select %5, %a, %b : tensor<i1>, tensor<f32>
      %7 = stablehlo.select %5, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %6, %7 : tensor<f32>, tensor<i32>
    }
    %2 = "stablehlo.reduce_window"(%x, %zero) <{base_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [1, -1]]> : tensor<2x2xi64>, window_dilations = array<i64: 2, 1>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x5xf32>
    %source = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
    %3 = "stablehlo.select_and_scatter"(%x, %source, %zero) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
    %4:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %5 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
    %8 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>):
      %5 = stablehlo.tanh %a : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %1#0, %1#1 : tensor<4xf32>, tensor<4xi32>
  }
}
