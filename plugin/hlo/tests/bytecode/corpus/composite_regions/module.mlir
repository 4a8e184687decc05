#loc2 = loc("-":2:26)
#loc3 = loc("-":2:47)
#loc5 = loc("-":3:12)
#loc6 = loc("-":4:10)
#loc7 = loc("-":4:29)
#loc11 = loc("-":9:10)
#loc17 = loc("-":18:33)
module @composite_regions {
  func.func public @main(%arg0: tensor<4x3xf32> loc("-":2:26), %arg1: tensor<3xf32> loc("-":2:47)) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32> loc(#loc4)
    %0:2 = stablehlo.composite "chlo.scan" %arg0, %arg1 ({
    ^bb0(%arg2: tensor<3xf32> loc("-":4:10), %arg3: tensor<3xf32> loc("-":4:29)):
      %2 = stablehlo.add %arg2, %arg3 : tensor<3xf32> loc(#loc8)
      stablehlo.return %2, %2 : tensor<3xf32>, tensor<3xf32> loc(#loc9)
    }) {composite_attributes = {dimension = 0 : i64, is_associative = true, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}, decomposition = @chlo.scan.impl, version = 1 : i32} : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) loc(#loc5)
    %1 = stablehlo.composite "my.op" %arg1 ({
    ^bb0(%arg2: tensor<3xf32> loc("-":9:10)):
      %2 = stablehlo.sine %arg2 : tensor<3xf32> loc(#loc12)
      stablehlo.return %2 : tensor<3xf32> loc(#loc13)
    }, {
      stablehlo.return %cst : tensor<f32> loc(#loc14)
    }) {decomposition = @my.op.impl} : (tensor<3xf32>) -> tensor<3xf32> loc(#loc10)
    return %0#0, %0#1, %1 : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32> loc(#loc15)
  } loc(#loc1)
  func.func private @chlo.scan.impl(%arg0: tensor<4x3xf32> loc("-":3:12), %arg1: tensor<3xf32> loc("-":3:12)) -> (tensor<4x3xf32>, tensor<3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i64> loc(#loc4)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc5)
    %c_0 = stablehlo.constant dense<0> : tensor<i64> loc(#loc4)
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4x3xf32>) -> tensor<i32> loc(#loc5)
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64> loc(#loc5)
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32> loc(#loc5)
    %3:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %arg1, %iterArg_2 = %2) : tensor<i64>, tensor<3xf32>, tensor<4x3xf32>
    cond {
      %4 = stablehlo.compare LT, %iterArg, %1 : (tensor<i64>, tensor<i64>) -> tensor<i1> loc(#loc5)
      stablehlo.return %4 : tensor<i1> loc(#loc5)
    } do {
      %4 = stablehlo.subtract %1, %c : tensor<i64> loc(#loc5)
      %5 = stablehlo.subtract %4, %iterArg : tensor<i64> loc(#loc5)
      %6 = stablehlo.dynamic_slice %arg0, %5, %c_0, sizes = [1, 3] : (tensor<4x3xf32>, tensor<i64>, tensor<i64>) -> tensor<1x3xf32> loc(#loc5)
      %7 = stablehlo.reshape %6 : (tensor<1x3xf32>) -> tensor<3xf32> loc(#loc5)
      %8 = stablehlo.add %7, %iterArg_1 : tensor<3xf32> loc(#loc8)
      %9 = stablehlo.reshape %8 : (tensor<3xf32>) -> tensor<1x3xf32> loc(#loc5)
      %10 = stablehlo.dynamic_update_slice %iterArg_2, %9, %5, %c_0 : (tensor<4x3xf32>, tensor<1x3xf32>, tensor<i64>, tensor<i64>) -> tensor<4x3xf32> loc(#loc5)
      %11 = stablehlo.add %iterArg, %c : tensor<i64> loc(#loc5)
      stablehlo.return %11, %8, %10 : tensor<i64>, tensor<3xf32>, tensor<4x3xf32> loc(#loc5)
    } loc(#loc5)
    return %3#2, %3#1 : tensor<4x3xf32>, tensor<3xf32> loc(#loc5)
  } loc(#loc5)
  func.func private @my.op.impl(%arg0: tensor<3xf32> loc("-":18:33)) -> tensor<3xf32> {
    %0 = stablehlo.sine %arg0 : tensor<3xf32> loc(#loc18)
    return %0 : tensor<3xf32> loc(#loc19)
  } loc(#loc16)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc4 = loc(unknown)
#loc8 = loc("-":5:12)
#loc9 = loc("-":6:7)
#loc10 = loc("-":8:10)
#loc12 = loc("-":10:12)
#loc13 = loc("-":11:7)
#loc14 = loc("-":14:7)
#loc15 = loc("-":16:5)
#loc16 = loc("-":18:3)
#loc18 = loc("-":19:10)
#loc19 = loc("-":20:5)

