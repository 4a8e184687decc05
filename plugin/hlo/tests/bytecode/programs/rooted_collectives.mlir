module @rooted_collectives attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2x4xf32>, %y: tensor<6xf32>, %roots: tensor<2xi32>) -> (tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<6xf32>) {
    %0:2 = "stablehlo.collective_broadcast"(%x, %y, %roots) <{has_dynamic_root, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<6xf32>, tensor<2xi32>) -> (tensor<2x4xf32>, tensor<6xf32>)
    %1 = "stablehlo.collective_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2:2 = "stablehlo.collective_reduce"(%x, %y, %roots) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<6xf32>, tensor<2xi32>) -> (tensor<2x4xf32>, tensor<6xf32>)
    return %0#0, %0#1, %1, %2#0, %2#1 : tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<6xf32>
  }
}
