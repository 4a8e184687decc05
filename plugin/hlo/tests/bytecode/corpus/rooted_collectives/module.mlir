#loc2 = loc("-":2:26)
#loc3 = loc("-":2:47)
#loc4 = loc("-":2:66)
#loc7 = loc("-":5:10)
#loc8 = loc("-":5:27)
#loc12 = loc("-":10:10)
#loc13 = loc("-":10:27)
module @rooted_collectives attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%arg0: tensor<2x4xf32> loc("-":2:26), %arg1: tensor<6xf32> loc("-":2:47), %arg2: tensor<2xi32> loc("-":2:66)) -> (tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<6xf32>) {
    %0:2 = "stablehlo.collective_broadcast"(%arg0, %arg1, %arg2) <{has_dynamic_root, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<6xf32>, tensor<2xi32>) -> (tensor<2x4xf32>, tensor<6xf32>) loc(#loc5)
    %1 = "stablehlo.collective_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg3: tensor<f32> loc("-":5:10), %arg4: tensor<f32> loc("-":5:27)):
      %3 = stablehlo.add %arg3, %arg4 : tensor<f32> loc(#loc9)
      stablehlo.return %3 : tensor<f32> loc(#loc10)
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc(#loc6)
    %2:2 = "stablehlo.collective_reduce"(%arg0, %arg1, %arg2) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%arg3: tensor<f32> loc("-":10:10), %arg4: tensor<f32> loc("-":10:27)):
      %3 = stablehlo.maximum %arg3, %arg4 : tensor<f32> loc(#loc14)
      stablehlo.return %3 : tensor<f32> loc(#loc15)
    }) : (tensor<2x4xf32>, tensor<6xf32>, tensor<2xi32>) -> (tensor<2x4xf32>, tensor<6xf32>) loc(#loc11)
    return %0#0, %0#1, %1, %2#0, %2#1 : tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<6xf32> loc(#loc16)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc5 = loc("-":3:12)
#loc6 = loc("-":4:10)
#loc9 = loc("-":6:12)
#loc10 = loc("-":7:7)
#loc11 = loc("-":9:12)
#loc14 = loc("-":11:12)
#loc15 = loc("-":12:7)
#loc16 = loc("-":14:5)

