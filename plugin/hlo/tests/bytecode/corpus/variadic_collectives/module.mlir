#loc2 = loc("-":2:26)
#loc3 = loc("-":2:47)
#loc5 = loc("-":4:10)
#loc6 = loc("-":4:27)
module @variadic_collectives attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%arg0: tensor<2x4xf32> loc("-":2:26), %arg1: tensor<6xf32> loc("-":2:47)) -> (tensor<2x4xf32>, tensor<6xf32>, tensor<4x4xf32>, tensor<12xf32>, tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32>) {
    %0:2 = "stablehlo.all_reduce"(%arg0, %arg1) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%arg2: tensor<f32> loc("-":4:10), %arg3: tensor<f32> loc("-":4:27)):
      %4 = stablehlo.add %arg2, %arg3 : tensor<f32> loc(#loc7)
      stablehlo.return %4 : tensor<f32> loc(#loc8)
    }) : (tensor<2x4xf32>, tensor<6xf32>) -> (tensor<2x4xf32>, tensor<6xf32>) loc(#loc4)
    %1:2 = "stablehlo.all_gather"(%0#0, %0#1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<6xf32>) -> (tensor<4x4xf32>, tensor<12xf32>) loc(#loc9)
    %2:2 = "stablehlo.all_to_all"(%0#0, %0#1) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x4xf32>, tensor<6xf32>) -> (tensor<2x4xf32>, tensor<6xf32>) loc(#loc10)
    %3 = "stablehlo.collective_broadcast"(%2#0) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc(#loc11)
    return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3 : tensor<2x4xf32>, tensor<6xf32>, tensor<4x4xf32>, tensor<12xf32>, tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32> loc(#loc12)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":1:1)
#loc1 = loc("-":2:3)
#loc4 = loc("-":3:12)
#loc7 = loc("-":5:12)
#loc8 = loc("-":6:7)
#loc9 = loc("-":8:12)
#loc10 = loc("-":9:12)
#loc11 = loc("-":10:10)
#loc12 = loc("-":11:5)

