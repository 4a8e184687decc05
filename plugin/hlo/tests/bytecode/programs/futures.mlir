module @futures attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<2x4xf32>) {
    %0 = call @start(%x) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<4x4xf32>>
    %1 = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2x4xf32>):
      %2 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%b: tensor<f32>, %c: tensor<f32>):
        %s = stablehlo.add %b, %c : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
      stablehlo.return %2 : tensor<2x4xf32>
    }) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>>
    %3 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32>
    %4 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<2x4xf32>>) -> tensor<2x4xf32>
    return %3, %4 : tensor<4x4xf32>, tensor<2x4xf32>
  }
  func.func private @start(%x: tensor<2x4xf32>) -> !stablehlo.future<tensor<4x4xf32>> {
    %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<2x4xf32>):
      %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %1 : tensor<4x4xf32>
    }) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<4x4xf32>>
    return %0 : !stablehlo.future<tensor<4x4xf32>>
  }
}
