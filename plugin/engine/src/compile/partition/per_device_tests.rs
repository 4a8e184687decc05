//! Programs of each device.

use oxcall_hlo::sharding::Tiling;
use oxcall_hlo::{ElementType, TensorType, parse_text, verify};

use super::per_device::main;
use super::{ShardedArray, Shardings};
use crate::compile::passes;

const PROGRAM: &str = "sdy.mesh @mesh = <[\"i\"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"i\"}]>, tf.aliasing_output = 0 : i32}, \
     %b: tensor<3xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  %0:2 = func.call @body(%b, %a) : (tensor<3xf32>, tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>)
  return %0#1, %0#0 : tensor<4xf32>, tensor<3xf32>
}
func.func private @body(%b: tensor<3xf32>, %a: tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>) {
  %0:2 = sdy.manual_computation(%b, %a) in_shardings=[<@mesh, [{}]>, <@mesh, [{\"i\"}]>] \
     out_shardings=[<@mesh, [{}]>, <@mesh, [{\"i\"}]>] manual_axes={\"i\"} (%c: tensor<3xf32>, %d: tensor<2xf32>) {
    %1 = stablehlo.negate %d : tensor<2xf32>
    sdy.return %c, %1 : tensor<3xf32>, tensor<2xf32>
  } : (tensor<3xf32>, tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<4xf32>
}";

fn split() -> Tiling {
    Tiling::new(vec![2], vec![0, 1]).unwrap()
}

/// The program of each device, of arrays that are split like this.
fn per_device(text: &str, parameters: &[Tiling], results: &[Tiling]) -> Option<String> {
    let mut module = parse_text(text).unwrap();
    verify(&module).unwrap();
    passes::inline_calls(&mut module).unwrap();
    let sharded = |tilings: &[Tiling]| {
        let each = |tiling: &Tiling| ShardedArray {
            ty: TensorType::scalar(ElementType::F32),
            placement: tiling.clone().into(),
        };
        tilings.iter().map(each).collect()
    };
    let shardings = Shardings { parameters: sharded(parameters), results: sharded(results), inspections: Vec::new() };
    module.funcs[0] = main(&module, &shardings)?;
    verify(&module).unwrap();
    Some(module.to_string())
}

#[test]
fn what_each_device_runs() {
    let whole = Tiling::replicated(1, 2);
    let text = per_device(PROGRAM, &[split(), whole.clone()], &[split(), whole.clone()]).unwrap();
    assert!(text.contains("%arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<3xf32>)"), "{text}");
    assert!(text.contains("%0 = stablehlo.negate %arg0"), "{text}");
    assert!(text.contains("return %0, %arg1 : tensor<2xf32>, tensor<3xf32>"), "{text}");
}

#[test]
fn programs_that_do_more_are_left() {
    let whole = Tiling::replicated(1, 2);
    let right = [split(), whole.clone()];
    // Other shardings at the edges.
    assert!(per_device(PROGRAM, &[whole.clone(), whole.clone()], &right).is_none());
    let swapped = Tiling::new(vec![2], vec![1, 0]).unwrap();
    assert!(per_device(PROGRAM, &right, &[swapped, whole.clone()]).is_none());
    // Axes that are not manual.
    let partly = PROGRAM.replace("[\"i\"=2]", "[\"i\"=2, \"j\"=2]");
    let four = Tiling::new(vec![2], vec![0, 0, 1, 1]).unwrap();
    let whole = Tiling::replicated(1, 4);
    let edges = [four, whole];
    assert!(per_device(&partly, &edges, &edges).is_none());
    // Something besides.
    let more =
        PROGRAM.replace("  return %0#1, %0#0", "  %1 = stablehlo.negate %0#0 : tensor<3xf32>\n  return %0#1, %1");
    assert!(per_device(&more, &right, &right).is_none());
}
