// Everything that Shardy's dialect writes into attributes.
module @shardings attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  sdy.mesh @reversed = <["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
  sdy.mesh @maximal = <[], device_ids=[0]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", ?}p1]>}, %arg1: tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], replicated={"x"}>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@reversed, [{"x":(2)2, "y"}, {"x":(1)2}]>}, tensor<16x8xf32>, tensor<i64>) {
    %0 = sdy.sharding_constraint %arg0 <mesh<["a"=2, "b"=4]>, [{"b"}p0, {}], replicated={"a"}> : tensor<8x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x16xf32>
    %2 = stablehlo.custom_call @f(%1, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {?}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j])->([k, i]) {i=8, j=16, k=16} reduction={j} need_replication={k} permutation={i} blocked_propagation={k}, custom>} : (tensor<8x16xf32>, tensor<16xi32>) -> tensor<16x8xf32>
    %g = stablehlo.custom_call @g(%arg1) {has_side_effect = true, sdy.sharding_rule = #sdy.op_sharding_rule<([ij])->([i, j]) {i=4, j=4}, custom>} : (tensor<16xi32>) -> tensor<4x4xi32>
    %3 = stablehlo.custom_call @callback() {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : () -> tensor<i64>
    %4:2 = sdy.manual_computation(%1, %2) in_shardings=[<@mesh, [{"x"}, {?}]>, <@mesh, [{}, {"y", ?}], replicated={"x"}>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"y"}, {}]>] manual_axes={"x", "y"} (%arg2: tensor<2x16xf32>, %arg3: tensor<16x4xf32>) {
      %5 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<16x4xf32>) -> tensor<4x16xf32>
      %6 = stablehlo.slice %5 [0:2, 0:16] : (tensor<4x16xf32>) -> tensor<2x16xf32>
      %7 = stablehlo.add %arg2, %6 : tensor<2x16xf32>
      %8 = stablehlo.reshape %5 : (tensor<4x16xf32>) -> tensor<8x8xf32>
      sdy.return %7, %8 : tensor<2x16xf32>, tensor<8x8xf32>
    } : (tensor<8x16xf32>, tensor<16x8xf32>) -> (tensor<8x16xf32>, tensor<16x8xf32>)
    return %4#0, %4#1, %3 : tensor<8x16xf32>, tensor<16x8xf32>, tensor<i64>
  }
}
