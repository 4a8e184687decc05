module @variadic_collectives attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2x4xf32>, %y: tensor<6xf32>) -> (tensor<2x4xf32>, tensor<6xf32>, tensor<4x4xf32>, tensor<12xf32>, tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32>) {
    %0:2 = "stablehlo.all_reduce"(%x, %y) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x4xf32>, tensor<6xf32>) -> (tensor<2x4xf32>, tensor<6xf32>)
    %1:2 = "stablehlo.all_gather"(%0#0, %0#1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<6xf32>) -> (tensor<4x4xf32>, tensor<12xf32>)
    %2:2 = "stablehlo.all_to_all"(%0#0, %0#1) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x4xf32>, tensor<6xf32>) -> (tensor<2x4xf32>, tensor<6xf32>)
    %3 = "stablehlo.collective_broadcast"(%2#0) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3 : tensor<2x4xf32>, tensor<6xf32>, tensor<4x4xf32>, tensor<12xf32>, tensor<2x4xf32>, tensor<6xf32>, tensor<2x4xf32>
  }
}
