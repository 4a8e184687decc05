//! Manual computations in programs of whole arrays.

use std::sync::Arc;

use oxcall_hlo::parse_text;

use super::*;
use crate::{ProcessGrid, ShardingOptions};

fn compile_partitioned(engine: &Arc<Engine>, partitions: usize, text: &str) -> Result<Program, Error> {
    let module = parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let grid = ProcessGrid { replicas: 1, partitions };
    engine.compile_partitioned(module, grid, &ShardingOptions::default()).map(|compiled| compiled.program)
}

/// The result of a program of one parameter, twice, since the second execution uses what the first one left.
fn whole<T: Pod + PartialEq + std::fmt::Debug>(partitions: usize, text: &str, input: &[T]) -> Vec<T> {
    let engine = engine();
    let program = compile_partitioned(&engine, partitions, text).unwrap_or_else(|error| panic!("{error}"));
    let run = || values::<T>(&program.run(vec![shared(&engine, input)]).unwrap_or_else(|error| panic!("{error}"))[0]);
    let first = run();
    assert_eq!(run(), first);
    first
}

fn sum(groups: &str, value: &str, ty: &str) -> String {
    format!(
        "\"stablehlo.all_reduce\"({value}) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, \
         replica_groups = dense<{groups}, use_global_device_ids}}> ({{
        ^bb0(%sa: tensor<i32>, %sb: tensor<i32>):
          %sum = stablehlo.add %sa, %sb : tensor<i32>
          stablehlo.return %sum : tensor<i32>
        }}) : ({ty}) -> {ty}"
    )
}

const MESH: &str = "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n";

#[test]
fn every_device_computes_on_its_part() {
    // What `jax.pmap(lambda x: x + jax.lax.psum(x, 'i'), axis_name='i')` gives.
    let all = sum("[[0, 1, 2, 3]]> : tensor<1x4xi64>", "%y", "tensor<1xi32>");
    let text = format!(
        "sdy.mesh @mesh = <[\"i\"=4]>
        func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {{
          %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{\"i\"}}]>] out_shardings=[<@mesh, [{{\"i\"}}]>] \
         manual_axes={{\"i\"}} (%y: tensor<1xi32>) {{
            %s = {all}
            %r = stablehlo.add %y, %s : tensor<1xi32>
            sdy.return %r : tensor<1xi32>
          }} : (tensor<4xi32>) -> tensor<4xi32>
          return %0 : tensor<4xi32>
        }}"
    );
    assert_eq!(whole(4, &text, &[0, 1, 2, 3]), [6, 7, 8, 9]);
}

#[test]
fn parts_along_several_dimensions() {
    // Each part times ten, plus the number of its device; the result is transposed.
    let text = format!(
        "{MESH}func.func @main(%x: tensor<4x4xi32>) -> tensor<4x4xi32> {{
          %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{\"x\"}}, {{\"y\"}}]>] \
         out_shardings=[<@mesh, [{{\"y\"}}, {{\"x\"}}]>] manual_axes={{\"x\", \"y\"}} (%y: tensor<2x2xi32>) {{
            %id = stablehlo.partition_id : tensor<ui32>
            %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
            %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
            %ten = stablehlo.constant dense<10> : tensor<2x2xi32>
            %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<2x2xi32>) -> tensor<2x2xi32>
            %m = stablehlo.multiply %t, %ten : tensor<2x2xi32>
            %r = stablehlo.add %m, %b : tensor<2x2xi32>
            sdy.return %r : tensor<2x2xi32>
          }} : (tensor<4x4xi32>) -> tensor<4x4xi32>
          return %0 : tensor<4x4xi32>
        }}"
    );
    let input: Vec<i32> = (0..16).collect();
    let expected: Vec<i32> = (0..16)
        .map(|index| {
            let (row, column) = (index % 4, index / 4);
            10 * (4 * row + column) + row / 2 * 2 + column / 2
        })
        .collect();
    assert_eq!(whole(4, &text, &input), expected);
}

#[test]
fn partly_manual_computations_run_once_for_each_manual_coordinate() {
    // Rows are split over `x`; whole rows are seen, whatever `y` does. The groups name all devices.
    let all = sum("[[0, 2], [1, 3]]> : tensor<2x2xi64>", "%y", "tensor<1x2xi32>");
    let text = format!(
        "{MESH}func.func @main(%x: tensor<2x2xi32>) -> tensor<1x2xi32> {{
          %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{\"x\"}}, {{?}}]>] \
         out_shardings=[<@mesh, [{{}}, {{?}}]>] manual_axes={{\"x\"}} (%y: tensor<1x2xi32>) {{
            %s = {all}
            sdy.return %s : tensor<1x2xi32>
          }} : (tensor<2x2xi32>) -> tensor<1x2xi32>
          return %0 : tensor<1x2xi32>
        }}"
    );
    assert_eq!(whole(4, &text, &[1, 2, 30, 40]), [31, 42]);
    let across = text.replace("[[0, 2], [1, 3]]", "[[0, 1], [2, 3]]");
    let error = compile_partitioned(&engine(), 4, &across).unwrap_err().to_string();
    assert!(error.contains("crosses a mesh axis that is not manual here"), "{error}");
}

/// A manual computation over `y` in one over `x`, each of which sums.
fn nested() -> String {
    let (outer, inner) = (
        sum("[[0, 2], [1, 3]]> : tensor<2x2xi64>", "%1", "tensor<1x2xi32>"),
        sum("[[0, 1], [2, 3]]> : tensor<2x2xi64>", "%b", "tensor<1x1xi32>"),
    );
    format!(
        "%0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{\"x\"}}, {{?}}]>] \
         out_shardings=[<@mesh, [{{\"x\"}}, {{?}}]>] manual_axes={{\"x\"}} (%a: tensor<1x2xi32>) {{
            %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{}}, {{\"y\"}}]>] \
         out_shardings=[<@mesh, [{{}}, {{\"y\"}}]>] manual_axes={{\"y\"}} (%b: tensor<1x1xi32>) {{
              %s = {inner}
              %id = stablehlo.partition_id : tensor<ui32>
              %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
              %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1x1xi32>
              %r = stablehlo.add %s, %m : tensor<1x1xi32>
              sdy.return %r : tensor<1x1xi32>
            }} : (tensor<1x2xi32>) -> tensor<1x2xi32>
            %2 = {outer}
            sdy.return %2 : tensor<1x2xi32>
          }} : (tensor<2x2xi32>) -> tensor<2x2xi32>\n"
    )
}

#[test]
fn nested_in_each_other() {
    let text = format!(
        "{MESH}func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {{\n{}return %0 : tensor<2x2xi32>\n}}",
        nested()
    );
    // Sums along rows, 3 and 70, with the devices' numbers 0 1 and 2 3; then sums along columns.
    assert_eq!(whole(4, &text, &[1, 2, 30, 40]), [75, 77, 75, 77]);
}

#[test]
fn in_loops_with_values_from_outside() {
    let text = format!(
        "{MESH}func.func @main(%arg: tensor<2x2xi32>) -> tensor<2x2xi32> {{
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %3:2 = stablehlo.while(%i = %zero, %x = %arg) : tensor<i32>, tensor<2x2xi32> cond {{
            %n = stablehlo.constant dense<3> : tensor<i32>
            %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          }} do {{
            %one = stablehlo.constant dense<1> : tensor<i32>
            %j = stablehlo.add %i, %one : tensor<i32>
            {}
            stablehlo.return %j, %0 : tensor<i32>, tensor<2x2xi32>
          }}
          return %3#1 : tensor<2x2xi32>
        }}",
        nested()
    );
    let step = |[a, b, c, d]: [i32; 4]| {
        let (left, right) = (a + b + c + d + 2, a + b + c + d + 4);
        [left, right, left, right]
    };
    assert_eq!(whole(4, &text, &[1, 2, 30, 40]), step(step(step([1, 2, 30, 40]))));
}

#[test]
fn large_parts_are_copied_where_they_are_not_in_one_piece() {
    let count = 1 << 17;
    let text = format!(
        "{MESH}func.func @main(%x: tensor<2x{count}xi32>) -> tensor<2x{count}xi32> {{
          %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{}}, {{\"y\", \"x\"}}]>] \
         out_shardings=[<@mesh, [{{}}, {{\"x\", \"y\"}}]>] manual_axes={{\"x\", \"y\"}} (%y: tensor<2x{part}xi32>) {{
            %r = stablehlo.add %y, %y : tensor<2x{part}xi32>
            sdy.return %r : tensor<2x{part}xi32>
          }} : (tensor<2x{count}xi32>) -> tensor<2x{count}xi32>
          return %0 : tensor<2x{count}xi32>
        }}",
        part = count / 4
    );
    let input: Vec<i32> = (0..2 * count as i32).collect();
    // Device (x, y) has part 2 y + x of the operand and part 2 x + y of the result.
    let part = count / 4;
    let from = |index: usize| {
        let (row, column) = (index / count, index % count);
        let (tile, within) = (column / part, column % part);
        row * count + [0, 2, 1, 3][tile] * part + within
    };
    let expected: Vec<i32> = (0..2 * count).map(|index| 2 * from(index) as i32).collect();
    assert_eq!(whole(4, &text, &input), expected);
}

#[test]
fn meshes_that_do_not_fit_are_errors() {
    let text = format!(
        "{MESH}func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {{\n{}return %0 : tensor<2x2xi32>\n}}",
        nested()
    );
    let error = compile_partitioned(&engine(), 2, &text).unwrap_err().to_string();
    assert!(error.contains("does not fit the program's 2 partitions"), "{error}");
}
