#loc2 = loc("-":2:26)
#loc5 = loc("-":5:10)
#loc7 = loc("-":7:12)
#loc8 = loc("-":7:29)
#loc16 = loc("-":17:28)
#loc18 = loc("-":19:10)
module @futures attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%arg0: tensor<2x4xf32> loc("-":2:26)) -> (tensor<4x4xf32>, tensor<2x4xf32>) {
    %0 = call @start(%arg0) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<4x4xf32>> loc(#loc3)
    %1 = "stablehlo.async_start"(%arg0) ({
    ^bb0(%arg1: tensor<2x4xf32> loc("-":5:10)):
      %4 = "stablehlo.all_reduce"(%arg1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%arg2: tensor<f32> loc("-":7:12), %arg3: tensor<f32> loc("-":7:29)):
        %5 = stablehlo.add %arg2, %arg3 : tensor<f32> loc(#loc9)
        stablehlo.return %5 : tensor<f32> loc(#loc10)
      }) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc(#loc6)
      stablehlo.return %4 : tensor<2x4xf32> loc(#loc11)
    }) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>> loc(#loc4)
    %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32> loc(#loc12)
    %3 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<2x4xf32>>) -> tensor<2x4xf32> loc(#loc13)
    return %2, %3 : tensor<4x4xf32>, tensor<2x4xf32> loc(#loc14)
  } loc(#loc1)
  func.func private @start(%arg0: tensor<2x4xf32> loc("-":17:28)) -> !stablehlo.future<tensor<4x4xf32>> {
    %0 = "stablehlo.async_start"(%arg0) ({
    ^bb0(%arg1: tensor<2x4xf32> loc("-":19:10)):
      %1 = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x4xf32> loc(#loc19)
      stablehlo.return %1 : tensor<4x4xf32> loc(#loc20)
    }) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<4x4xf32>> loc(#loc17)
    return %0 : !stablehlo.future<tensor<4x4xf32>> loc(#loc21)
  } loc(#loc15)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc3 = loc("-":3:10)
#loc4 = loc("-":4:10)
#loc6 = loc("-":6:12)
#loc9 = loc("-":8:14)
#loc10 = loc("-":9:9)
#loc11 = loc("-":11:7)
#loc12 = loc("-":13:10)
#loc13 = loc("-":14:10)
#loc14 = loc("-":15:5)
#loc15 = loc("-":17:3)
#loc17 = loc("-":18:10)
#loc19 = loc("-":20:12)
#loc20 = loc("-":21:7)
#loc21 = loc("-":23:5)

