//! Shardings that follow from others, as stock JAX reports them for the same programs.

use oxcall_hlo::{OpKind, parse_text};

use super::*;

fn open_results() -> ShardingOptions {
    ShardingOptions { open_results: vec![true], ..ShardingOptions::default() }
}

/// The tiles of each result of a program on the mesh `x=4, y=2`, whose parameters are split as their types say.
fn results(main: &str) -> Vec<Vec<usize>> {
    results_with("", main)
}

/// The same with other meshes.
fn results_with(meshes: &str, main: &str) -> Vec<Vec<usize>> {
    let text = format!("sdy.mesh @m = <[\"x\"=4, \"y\"=2]>\n{meshes}\nfunc.func @main{main}");
    let module = parse_text(&text).unwrap();
    oxcall_hlo::verify(&module).unwrap();
    let Partitioned { module, shardings, .. } = partition(module, 8, &open_results()).unwrap();
    oxcall_hlo::verify(&module).unwrap();
    shardings.results.iter().map(|array| array.placement.tiling.tiles().to_vec()).collect()
}

#[test]
fn element_wise_and_transposed() {
    let main = "(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>}) -> (tensor<8x16xf32>, tensor<16x8xf32>) {
        %0 = stablehlo.sine %a : tensor<8x16xf32>
        %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
        return %0, %1 : tensor<8x16xf32>, tensor<16x8xf32>
    }";
    assert_eq!(results(main), [[4, 2], [2, 4]]);
}

#[test]
fn calls_that_only_say_something_about_their_operands() {
    for target in ["LayoutConstraint", "annotate_device_placement", "MoveToHost", "xla.sdy.FuncResultSharding"] {
        let main = format!(
            "(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@m, [{{\"x\"}}, {{}}]>}}, %b: tensor<4xf32>)
             -> (tensor<8x16xf32>, tensor<4xf32>) {{
                %0:2 = stablehlo.custom_call @{target}(%a, %b)
                    : (tensor<8x16xf32>, tensor<4xf32>) -> (tensor<8x16xf32>, tensor<4xf32>)
                return %0#0, %0#1 : tensor<8x16xf32>, tensor<4xf32>
            }}"
        );
        assert_eq!(results(&main), [vec![4, 1], vec![1]], "{target}");
    }
    let opaque = "(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) -> tensor<8xf32> {
        %0 = stablehlo.custom_call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
    }";
    assert_eq!(results(opaque), [[1]]);
}

#[test]
fn products_and_reductions() {
    let main = "(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>},
                 %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {\"y\"}]>})
                 -> (tensor<8x32xf32>, tensor<32xf32>, tensor<f32>) {
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x32xf32>, tensor<f32>) -> tensor<32xf32>
        %2 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
        return %0, %1, %2 : tensor<8x32xf32>, tensor<32xf32>, tensor<f32>
    }";
    assert_eq!(results(main), [vec![4, 2], vec![2], vec![]]);
}

#[test]
fn reshapes_split_and_join_dimensions() {
    let main = "(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>}) -> (tensor<48xf32>, tensor<2x4x6xf32>, tensor<6x8xf32>) {
        %0 = stablehlo.reshape %a : (tensor<8x6xf32>) -> tensor<48xf32>
        %1 = stablehlo.reshape %a : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
        %2 = stablehlo.reshape %a : (tensor<8x6xf32>) -> tensor<6x8xf32>
        return %0, %1, %2 : tensor<48xf32>, tensor<2x4x6xf32>, tensor<6x8xf32>
    }";
    // Half of `x` could split the second and third results, but no result says so.
    assert_eq!(results(main), [vec![4], vec![1, 1, 2], vec![1, 1]]);
}

#[test]
fn loops_and_constraints() {
    let main = "(%a: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
        %n = stablehlo.constant dense<3> : tensor<i32>
        %i = stablehlo.constant dense<0> : tensor<i32>
        %0:2 = stablehlo.while(%k = %i, %c = %a) : tensor<i32>, tensor<8x16xf32>
          cond {
            %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          } do {
            %d = sdy.sharding_constraint %c <@m, [{}, {\"x\"}]> : tensor<8x16xf32>
            %one = stablehlo.constant dense<1> : tensor<i32>
            %j = stablehlo.add %k, %one : tensor<i32>
            stablehlo.return %j, %d : tensor<i32>, tensor<8x16xf32>
          }
        %z = stablehlo.constant dense<0.0> : tensor<8x16xf32>
        return %0#1, %z : tensor<8x16xf32>, tensor<8x16xf32>
    }";
    assert_eq!(results(main), [[1, 4], [1, 1]]);
}

#[test]
fn open_dimensions_and_conflicts() {
    // Both axes want both dimensions of the sum: the first operand's come first.
    let main = "(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>},
                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"y\"}, {}]>})
                 -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{?}, {\"y\"}]>}, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {?}]>}) {
        %0 = stablehlo.add %a, %b : tensor<8x8xf32>
        return %a, %0 : tensor<8x8xf32>, tensor<8x8xf32>
    }";
    assert_eq!(results(main), [[4, 2], [1, 1]]);
}

#[test]
fn custom_calls_with_rules() {
    let call = |attributes: &str| {
        format!(
            "(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@m, [{{\"x\"}}, {{\"y\"}}]>}}) -> tensor<8x16xf32> {{
                %0 = stablehlo.custom_call @f(%a) {{{attributes}}} : (tensor<8x16xf32>) -> tensor<8x16xf32>
                return %0 : tensor<8x16xf32>
            }}"
        )
    };
    assert_eq!(results(&call("")), [[1, 1]]);
    let rule = "sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=16, k=16}, custom>";
    assert_eq!(results(&call(rule)), [[4, 1]]);
}

#[test]
fn stated_tiles_are_padded_and_derived_ones_divide() {
    let module = parse_text(
        "sdy.mesh @m = <[\"x\"=4]>\nfunc.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) -> tensor<6xf32> {
            return %a : tensor<6xf32>
        }",
    )
    .unwrap();
    let shardings = partition(module.clone(), 4, &open_results()).unwrap().shardings;
    assert_eq!(
        (shardings.parameters[0].placement.tiling.tiles(), shardings.results[0].placement.tiling.tiles()),
        (&[4][..], &[1][..])
    );
    assert_eq!(shardings.parameters[0].placement.tiling.tile_dims(&[6]), [2]);
    let error = partition(module, 8, &ShardingOptions::default()).err().unwrap();
    assert!(error.message().contains("has 4 devices, but the program has 8"), "{error}");
}

#[test]
fn calls_run_on_parts() {
    let text = |rule: &str| {
        format!(
            "sdy.mesh @m = <[\"x\"=4, \"y\"=2]>
            func.func @main(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@m, [{{\"x\"}}, {{\"y\"}}]>}}) -> tensor<8xf32> {{
                %0 = call @f(%a) : (tensor<8x16xf32>) -> tensor<8xf32>
                return %0 : tensor<8xf32>
            }}
            func.func private @f(%a: tensor<8x16xf32>) -> tensor<8xf32> {{
                %0 = stablehlo.custom_call @norm(%a) {{{rule}}} : (tensor<8x16xf32>) -> tensor<8xf32>
                return %0 : tensor<8xf32>
            }}"
        )
    };
    let rule = "sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=16} need_replication={j}, custom>";
    let batch_partitionable = ShardingOptions { batch_partitionable: ["norm".to_owned()].into(), ..open_results() };
    for (rule, options) in [(rule, open_results()), ("", batch_partitionable)] {
        let module = parse_text(&text(rule)).unwrap();
        let Partitioned { module, shardings, .. } = partition(module, 8, &options).unwrap();
        assert_eq!(shardings.results[0].placement.tiling.tiles(), [4]);
        oxcall_hlo::verify(&module).unwrap();
        let expected = "sdy.manual_computation(%arg0) in_shardings=[<@m, [{\"x\"}, {}]>] out_shardings=[<@m, [{\"x\"}]>] \
                        manual_axes={\"x\"} (%arg1: tensor<2x16xf32>)";
        assert!(module.to_string().contains(expected), "{module}");
    }
    let module = parse_text(&text("")).unwrap();
    let Partitioned { module, shardings, .. } = partition(module, 8, &open_results()).unwrap();
    assert_eq!(shardings.results[0].placement.tiling.tiles(), [1]);
    assert!(!module.to_string().contains("manual"), "{module}");
}

#[test]
fn sums_of_calls_add_up() {
    let text = |attributes: &str| {
        format!(
            "sdy.mesh @m = <[\"x\"=4, \"y\"=2]>
            func.func @main(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@m, [{{\"x\"}}, {{}}]>}}, %w: tensor<16xf32>)
                    -> (tensor<8x16xf32>, tensor<16xf32>) {{
                %0:2 = stablehlo.custom_call @norm_vjp(%a, %w) {{sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])
                    ->([i, l], [m]) {{i=8, j=16, k=16, l=16, m=16}} need_replication={{j, k, l, m}}, custom>{attributes}}}
                    : (tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>)
                return %0#0, %0#1 : tensor<8x16xf32>, tensor<16xf32>
            }}"
        )
    };
    let sums = text(", mhlo.frontend_attributes = {oxcall.sums = \"1\"}");
    let Partitioned { module, shardings, .. } = partition(parse_text(&sums).unwrap(), 8, &open_results()).unwrap();
    oxcall_hlo::verify(&module).unwrap();
    let tiles: Vec<_> = shardings.results.iter().map(|result| result.placement.tiling.tiles()).collect();
    assert_eq!(tiles, [vec![4, 1], vec![1]]);
    let text_of = module.to_string();
    assert!(text_of.contains("out_shardings=[<@m, [{\"x\"}, {}]>, <@m, [{\"x\"}, {}]>]"), "{text_of}");
    assert!(text_of.contains("stablehlo.reduce"), "{text_of}");
    // A result that is not a sum has to have every dimension along which the call is split.
    for other in
        ["", ", mhlo.frontend_attributes = {oxcall.sums = \"0\"}", ", mhlo.frontend_attributes = {oxcall.sums = \"x\"}"]
    {
        let whole = partition(parse_text(&text(other)).unwrap(), 8, &open_results()).unwrap().module.to_string();
        assert!(!whole.contains("manual"), "{whole}");
    }
}

#[test]
fn calls_ask_how_they_are_split() {
    let main = "sdy.mesh @m = <[\"x\"=4, \"y\"=2]>
    func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>}) {
        %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
        stablehlo.custom_call @oxcall_inspect_sharding(%0) {has_side_effect = true} : (tensor<16x8xf32>) -> ()
        stablehlo.custom_call @print(%0, %a) {has_side_effect = true, oxcall.partitioned = true} : (tensor<16x8xf32>, tensor<8x16xf32>) -> ()
        return
    }";
    let module = parse_text(main).unwrap();
    let Partitioned { module, shardings, .. } = partition(module, 8, &ShardingOptions::default()).unwrap();
    oxcall_hlo::verify(&module).unwrap();
    let answers: Vec<_> = shardings.inspections.iter().map(|(_, tiling)| tiling.as_ref().unwrap().tiles()).collect();
    assert_eq!(answers, [[2, 4]]);
    let calls: Vec<_> = module.main().body.ops.iter().filter(|op| op.results.is_empty()).collect();
    let [call] = calls[..] else { panic!("{module}") };
    assert!(matches!(call.kind, OpKind::ManualComputation(_)), "{module}");
    let types: Vec<_> = call.regions[0].params.iter().map(|&param| module.main().ty(param).to_string()).collect();
    assert_eq!(types, ["tensor<8x2xf32>", "tensor<2x8xf32>"]);
}

#[test]
fn meshes_that_cut_devices_alike_belong_together() {
    let main = |constraint: &str| {
        format!(
            "(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {{
                %0 = sdy.sharding_constraint %a <@m, [{{\"y\"}}, {{}}]> : tensor<8x8xf32>
                %1 = sdy.sharding_constraint %a {constraint} : tensor<8x8xf32>
                %2 = stablehlo.sine %1 : tensor<8x8xf32>
                return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
            }}"
        )
    };
    let three = "sdy.mesh @n = <[\"u\"=2, \"v\"=2, \"w\"=2]>";
    assert_eq!(results_with(three, &main("<@n, [{\"u\"}, {\"v\", \"w\"}]>")), [[2, 1], [2, 4]]);
    // Devices in another order, which goes along the axes of the first mesh.
    let turned = "sdy.mesh @n = <[\"q\"=2, \"p\"=4], device_ids=[0, 2, 4, 6, 1, 3, 5, 7]>";
    assert_eq!(results_with(turned, &main("<@n, [{\"q\"}, {\"p\"}]>")), [[2, 1], [2, 4]]);
    // One that goes along none says nothing.
    let mixed = "sdy.mesh @n = <[\"q\"=8], device_ids=[3, 0, 1, 2, 7, 6, 5, 4]>";
    assert_eq!(results_with(mixed, &main("<@n, [{\"q\"}, {}]>")), [[2, 1], [1, 1]]);
}

#[test]
fn earlier_priorities_come_first() {
    let main = |first: &str, second: &str| {
        format!(
            "(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{\"x\", ?}}{first}, {{?}}]>}},
              %b: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{?}}, {{\"x\", ?}}{second}]>}}) -> tensor<8x8xf32> {{
                %0 = stablehlo.add %a, %b : tensor<8x8xf32>
                return %0 : tensor<8x8xf32>
            }}"
        )
    };
    assert_eq!(results(&main("p0", "p1")), [[4, 1]]);
    assert_eq!(results(&main("p1", "p0")), [[1, 4]]);
}

#[test]
fn values_in_groups_are_split_alike() {
    let main = "(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>}) -> tensor<8x8xf32> {
        %z = stablehlo.constant dense<0.0> : tensor<8x8xf32>
        \"sdy.sharding_group\"(%a) {group_id = 3 : i64} : (tensor<8x8xf32>) -> ()
        \"sdy.sharding_group\"(%z) {group_id = 3 : i64} : (tensor<8x8xf32>) -> ()
        return %z : tensor<8x8xf32>
    }";
    assert_eq!(results(main), [[4, 2]]);
}

#[test]
fn parts_of_dimensions_keep_their_places() {
    let main = "(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>}, %i: tensor<1xi32>, %u: tensor<2x8xf32>)
            -> tensor<8x8xf32> {
        %0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers =
            #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%old: tensor<f32>, %new: tensor<f32>):
            stablehlo.return %new : tensor<f32>
        }) : (tensor<8x8xf32>, tensor<1xi32>, tensor<2x8xf32>) -> tensor<8x8xf32>
        return %0 : tensor<8x8xf32>
    }";
    assert_eq!(results(main), [[4, 2]]);
}

/// Summands of a product over a split dimension: one for each part, in front.
#[test]
fn summands_of_unreduced_results_are_a_dimension() {
    let main = "(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {\"x\"}]>},
                 %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>})
                 -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {\"y\"}], unreduced={\"x\"}>}) {
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
        %1 = sdy.sharding_constraint %0 <@m, [{}, {\"y\"}], unreduced={\"x\"}> : tensor<4x4xf32>
        return %1 : tensor<4x4xf32>
    }";
    let text = format!("sdy.mesh @m = <[\"x\"=4, \"y\"=2]>\nfunc.func @main{main}");
    let module = parse_text(&text).unwrap();
    let Partitioned { module, shardings, .. } = partition(module, 8, &open_results()).unwrap();
    oxcall_hlo::verify(&module).unwrap();
    assert!(shardings.results[0].placement.unreduced && !shardings.parameters[0].placement.unreduced);
    assert_eq!(shardings.results[0].placement.tiling.tiles(), [4, 1, 2]);
    let main = module.main();
    assert_eq!(main.ty(main.body.results[0]).tensor().unwrap().dims[..], [4, 4, 4]);
    // Each device multiplies what it has; nothing is summed.
    assert!(!main.body.ops.iter().any(|op| matches!(op.kind, OpKind::Reduce { .. })));
}

/// The operands of the first product are one tensor, which each of them alone would split in another way.
#[test]
fn a_tensor_that_an_op_uses_twice_has_one_sharding() {
    let main = "(%a: tensor<3x11xf32>) -> tensor<4x13xf32> {
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.sine %a : tensor<3x11xf32>
        %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [1] : (tensor<3x11xf32>, tensor<3x11xf32>) -> tensor<3x3xf32>
        %2 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x11xf32>) -> tensor<3x11xf32>
        %3 = stablehlo.pad %2, %z, low = [0, 2], high = [1, 0], interior = [0, 0] : (tensor<3x11xf32>, tensor<f32>) -> tensor<4x13xf32>
        %4 = sdy.sharding_constraint %3 <@m, [{\"x\"}, {}]> : tensor<4x13xf32>
        return %4 : tensor<4x13xf32>
    }";
    assert_eq!(results(main), [[4, 1]]);
    let main = "(%a: tensor<8x16xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>}, tensor<8x16xf32>) {
        %0 = stablehlo.sine %a : tensor<8x16xf32>
        %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
        return %1, %0 : tensor<8x8xf32>, tensor<8x16xf32>
    }";
    assert_eq!(results(main), [[4, 2], [4, 1]]);
}
