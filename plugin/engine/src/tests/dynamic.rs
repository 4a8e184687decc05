//! Bounded dynamic shapes: a program with a dimension of up to `BOUND` elements gives for each size what the same
//! program gives whose dimension has that size.
//!
//! In the programs `[[N,3:f32]]` is a tensor type of which the first dimension is dynamic, and `{N}` its bound; in the
//! static program both have the size. Padding holds NaN and odd numbers.

use std::sync::Arc;

use oxcall_hlo::{ElementType, parse_text, verify};

use super::{buffer, engine, values};
use crate::compile::passes::IoSpec;
use crate::{Argument, Engine, Program};

const BOUND: usize = 5;

/// A size with `N` in the place of the dynamic dimension: `3`, `N`, `2N`, `N+3`.
fn evaluate(size: &str, n: usize) -> usize {
    let Some((factor, summand)) = size.split_once('N') else { return size.parse().unwrap() };
    let factor: usize = if factor.is_empty() { 1 } else { factor.parse().unwrap() };
    let summand: isize = if summand.is_empty() { 0 } else { summand.parse().unwrap() };
    (factor * n).saturating_add_signed(summand)
}

/// A program, with the dimension static if `size` says it.
fn program_text(text: &str, size: Option<usize>) -> String {
    let mut pieces = text.split("[[");
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (ty, rest) = piece.split_once("]]").unwrap();
        let Some((dims, element)) = ty.split_once(':') else {
            out += &format!("[[{piece}"); // a matrix of an attribute
            continue;
        };
        let dims: Vec<&str> = dims.split(',').collect();
        let is_dynamic = |dim: &str| dim.contains('N') && size.is_none();
        let at = |dim: &str| evaluate(dim, size.unwrap_or(BOUND));
        let shape = dims.iter().map(|dim| if is_dynamic(dim) { "?x".into() } else { format!("{}x", at(dim)) });
        let bounds = dims.iter().map(|dim| if is_dynamic(dim) { at(dim).to_string() } else { "?".into() });
        let bounds = format!(", #stablehlo.bounds<{}>", bounds.collect::<Vec<_>>().join(", "));
        let bounds = if dims.iter().any(|dim| is_dynamic(dim)) { bounds } else { String::new() };
        out += &format!("tensor<{}{element}{bounds}>{rest}", shape.collect::<String>());
    }
    out.replace("{N}", &size.unwrap_or(BOUND).to_string())
}

fn compile(engine: &Arc<Engine>, text: &str) -> Program {
    let module = parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    engine.compile(module).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// The places of the elements of an array of these sizes, in one of `dims`.
fn places(sizes: &[usize], dims: &[usize]) -> Vec<usize> {
    let mut places = vec![0];
    for (&size, &dim) in sizes.iter().zip(dims) {
        places = places.iter().flat_map(|place| (0..size).map(move |index| place * dim + index)).collect();
    }
    places
}

fn dims(edge: &IoSpec) -> Vec<usize> {
    edge.ty.tensor().unwrap().dims.to_vec()
}

/// Elements by their bits.
fn bits(edge: &IoSpec, buffer: &crate::Buffer) -> Vec<u32> {
    match edge.ty.tensor().unwrap().element {
        ElementType::Pred => buffer.as_bytes().iter().map(|&byte| byte.into()).collect(),
        _ => values::<u32>(buffer),
    }
}

/// Runs a program for each size in both forms, and compares the results.
#[track_caller]
fn check(text: &str) {
    check_from(0, text);
}

#[track_caller]
fn check_from(least: usize, text: &str) {
    let engine = engine();
    let dynamic = compile(&engine, &program_text(text, None));
    assert!(!dynamic.text().contains("dimension_size"), "{}", dynamic.text());
    for size in least..=BOUND {
        let exact = compile(&engine, &program_text(text, Some(size)));
        let (mut padded, mut dense, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (bound, edge)) in dynamic.parameters().iter().zip(exact.parameters()).enumerate() {
            let (bounds, actual) = (dims(bound), dims(edge));
            let is_float = edge.ty.tensor().unwrap().element == ElementType::F32;
            let element = |place: usize| {
                let number = (place * 7 + index * 3) % 11;
                if is_float { (number as f32 - 4.5).to_bits() } else { number as u32 }
            };
            let elements: Vec<u32> = (0..actual.iter().product()).map(element).collect();
            let filler = if is_float { f32::NAN.to_bits() } else { 0x7654_3210 };
            let mut all = vec![filler; bounds.iter().product()];
            places(&actual, &bounds).into_iter().zip(&elements).for_each(|(place, &element)| all[place] = element);
            padded.push(Argument::Shared(Arc::new(buffer(&engine, &all))));
            dense.push(Argument::Shared(Arc::new(buffer(&engine, &elements))));
            for &dim in &bound.dynamic {
                sizes.push(Argument::Shared(Arc::new(buffer(&engine, &[actual[dim] as i32]))));
            }
        }
        padded.extend(sizes);
        let (got, expected) = (dynamic.run(padded).unwrap(), exact.run(dense).unwrap());
        let mut sizes = got[dynamic.results().len()..].iter();
        for (index, (bound, edge)) in dynamic.results().iter().zip(exact.results()).enumerate() {
            let (bounds, mut actual) = (dims(bound), dims(bound));
            for &dim in &bound.dynamic {
                actual[dim] = values::<i32>(sizes.next().unwrap())[0] as usize;
            }
            assert_eq!(actual, dims(edge), "the shape of result {index} for size {size}\n{text}");
            let all = bits(bound, &got[index]);
            let real: Vec<u32> = places(&actual, &bounds).into_iter().map(|place| all[place]).collect();
            assert_eq!(real, bits(edge, &expected[index]), "result {index} for size {size}\n{text}");
        }
        assert!(sizes.next().is_none());
    }
}

/// The error for a program that cannot be compiled.
fn error(text: &str) -> String {
    let module = parse_text(&program_text(text, None)).unwrap();
    verify(&module).unwrap();
    engine().compile(module).unwrap_err().to_string()
}

/// A function of `[[N,3:f32]]` to one result.
#[track_caller]
fn unary(op: &str, result: &str) {
    check(&format!(
        "func.func @main(%x: [[N,3:f32]]) -> {result} {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %one = stablehlo.constant dense<1.0> : tensor<f32>
          %r = {op}
          return %r : {result}
        }}"
    ));
}

#[test]
fn elements_and_shapes() {
    unary("stablehlo.add %x, %x : [[N,3:f32]]", "[[N,3:f32]]");
    unary("stablehlo.compare LT, %x, %x : ([[N,3:f32]], [[N,3:f32]]) -> [[N,3:i1]]", "[[N,3:i1]]");
    unary("stablehlo.clamp %zero, %x, %one : (tensor<f32>, [[N,3:f32]], tensor<f32>) -> [[N,3:f32]]", "[[N,3:f32]]");
    unary("stablehlo.transpose %x, dims = [1, 0] : ([[N,3:f32]]) -> [[3,N:f32]]", "[[3,N:f32]]");
    unary("stablehlo.broadcast_in_dim %x, dims = [1, 2] : ([[N,3:f32]]) -> [[2,N,3:f32]]", "[[2,N,3:f32]]");
    unary("stablehlo.reverse %x, dims = [0, 1] : [[N,3:f32]]", "[[N,3:f32]]");
    unary("stablehlo.slice %x [0:{N}, 1:3] : ([[N,3:f32]]) -> [[N,2:f32]]", "[[N,2:f32]]");
    unary("stablehlo.concatenate %x, %x, dim = 0 : ([[N,3:f32]], [[N,3:f32]]) -> [[2N,3:f32]]", "[[2N,3:f32]]");
    unary("stablehlo.concatenate %x, %x, dim = 1 : ([[N,3:f32]], [[N,3:f32]]) -> [[N,6:f32]]", "[[N,6:f32]]");
    unary("stablehlo.get_dimension_size %x, dim = 0 : ([[N,3:f32]]) -> tensor<i32>", "tensor<i32>");
    unary("stablehlo.get_dimension_size %x, dim = 1 : ([[N,3:f32]]) -> tensor<i32>", "tensor<i32>");
    unary(
        "stablehlo.pad %x, %one, low = [2, 0], high = [1, 1], interior = [0, 0] : \
         ([[N,3:f32]], tensor<f32>) -> [[N+3,4:f32]]",
        "[[N+3,4:f32]]",
    );
}

#[test]
fn reshapes_move_elements_where_the_padding_is_amid_them() {
    unary("stablehlo.reshape %x : ([[N,3:f32]]) -> [[3N:f32]]", "[[3N:f32]]");
    unary("stablehlo.reshape %x : ([[N,3:f32]]) -> [[N,1,3:f32]]", "[[N,1,3:f32]]");
    unary("stablehlo.reshape %x : ([[N,3:f32]]) -> [[1,N,3:f32]]", "[[1,N,3:f32]]");
    let twice = |middle: &str, op: &str, result: &str| {
        check(&format!(
            "func.func @main(%x: {middle}) -> {result} {{
              %r = stablehlo.reshape %x : ({middle}) -> {result}
              return %r : {result}
            }} {op}"
        ));
    };
    twice("[[3,N:f32]]", "", "[[3N:f32]]");
    twice("[[2,N,3:f32]]", "", "[[2,3N:f32]]");
    twice("[[2,N,3:f32]]", "", "[[6N:f32]]");
    twice("[[6N:f32]]", "", "[[2,3N:f32]]");
    twice("[[N,N:f32]]", "", "[[1,N,N,1:f32]]");
}

#[test]
fn reductions_do_not_see_the_padding() {
    for (op, init) in [("add", "0.0"), ("multiply", "1.0"), ("maximum", "0xFF800000"), ("minimum", "0x7F800000")] {
        for (dims, result) in [("0", "tensor<3xf32>"), ("1", "[[N:f32]]"), ("0, 1", "tensor<f32>")] {
            check(&format!(
                "func.func @main(%x: [[N,3:f32]]) -> {result} {{
                  %init = stablehlo.constant dense<{init}> : tensor<f32>
                  %r = stablehlo.reduce(%x init: %init) applies stablehlo.{op} across dimensions = [{dims}] :
                    ([[N,3:f32]], tensor<f32>) -> {result}
                  return %r : {result}
                }}"
            ));
        }
    }
    // An initial value that is not the identity, and a region that has none.
    check(
        r#"func.func @main(%x: [[N,3:f32]]) -> tensor<3xf32> {
          %init = stablehlo.constant dense<5.0> : tensor<f32>
          %r = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 0>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %0 = stablehlo.multiply %a, %a : tensor<f32>
            %1 = stablehlo.add %0, %b : tensor<f32>
            %2 = stablehlo.tanh %1 : tensor<f32>
            stablehlo.return %2 : tensor<f32>
          }) : ([[N,3:f32]], tensor<f32>) -> tensor<3xf32>
          return %r : tensor<3xf32>
        }"#,
    );
    // Two arrays at once.
    check(
        r#"func.func @main(%x: [[N:f32]], %i: [[N:i32]]) -> (tensor<f32>, tensor<i32>) {
          %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %r:2 = "stablehlo.reduce"(%x, %i, %low, %zero) <{dimensions = array<i64: 0>}> ({
          ^bb0(%a: tensor<f32>, %ai: tensor<i32>, %b: tensor<f32>, %bi: tensor<i32>):
            %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %0 = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
            %1 = stablehlo.select %c, %ai, %bi : tensor<i1>, tensor<i32>
            stablehlo.return %0, %1 : tensor<f32>, tensor<i32>
          }) : ([[N:f32]], [[N:i32]], tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
          return %r#0, %r#1 : tensor<f32>, tensor<i32>
        }"#,
    );
}

#[test]
fn windows_and_sorts() {
    // Running sums, and pooling.
    check(
        r#"func.func @main(%x: [[N,3:f32]]) -> [[N,3:f32]] {
          %init = stablehlo.constant dense<0.0> : tensor<f32>
          %r = "stablehlo.reduce_window"(%x, %init) <{
            window_dimensions = array<i64: 5, 1>, padding = dense<[[4, 0], [0, 0]]> : tensor<2x2xi64>
          }> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }) : ([[N,3:f32]], tensor<f32>) -> [[N,3:f32]]
          return %r : [[N,3:f32]]
        }"#,
    );
    // Windows of padding alone exist even without elements.
    check(
        r#"func.func @main(%x: [[N:f32]]) -> [[N+2:f32]] {
          %init = stablehlo.constant dense<0.5> : tensor<f32>
          %r = "stablehlo.reduce_window"(%x, %init) <{
            window_dimensions = array<i64: 3>, padding = dense<[[2, 2]]> : tensor<1x2xi64>
          }> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.maximum %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }) : ([[N:f32]], tensor<f32>) -> [[N+2:f32]]
          return %r : [[N+2:f32]]
        }"#,
    );
    check(
        r#"func.func @main(%x: [[3,2N:f32]]) -> [[3,N:f32]] {
          %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
          %r = "stablehlo.reduce_window"(%x, %init) <{
            window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
          }> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.maximum %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }) : ([[3,2N:f32]], tensor<f32>) -> [[3,N:f32]]
          return %r : [[3,N:f32]]
        }"#,
    );
    for (dim, direction) in [(0, "LT"), (0, "GT"), (1, "LT")] {
        check(&format!(
            r#"func.func @main(%x: [[N,3:f32]], %i: [[N,3:i32]]) -> ([[N,3:f32]], [[N,3:i32]]) {{
              %r:2 = "stablehlo.sort"(%x, %i) <{{dimension = {dim} : i64, is_stable = true}}> ({{
              ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
                %p = stablehlo.compare {direction}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
                stablehlo.return %p : tensor<i1>
              }}) : ([[N,3:f32]], [[N,3:i32]]) -> ([[N,3:f32]], [[N,3:i32]])
              return %r#0, %r#1 : [[N,3:f32]], [[N,3:i32]]
            }}"#
        ));
    }
}

#[test]
fn products() {
    let dot = |lhs: &str, rhs: &str, dims: &str, result: &str| {
        check(&format!(
            "func.func @main(%x: {lhs}, %y: {rhs}) -> {result} {{
              %r = stablehlo.dot_general %x, %y, {dims} : ({lhs}, {rhs}) -> {result}
              return %r : {result}
            }}"
        ));
    };
    dot("[[N,3:f32]]", "[[3,2:f32]]", "contracting_dims = [1] x [0]", "[[N,2:f32]]");
    dot("[[2,3:f32]]", "[[3,N:f32]]", "contracting_dims = [1] x [0]", "[[2,N:f32]]");
    dot("[[N,3:f32]]", "[[N,2:f32]]", "contracting_dims = [0] x [0]", "[[3,2:f32]]");
    dot("[[N,3:f32]]", "[[3,N:f32]]", "contracting_dims = [1] x [0]", "[[N,N:f32]]");
    dot("[[N,2,3:f32]]", "[[N,3:f32]]", "batching_dims = [0] x [0], contracting_dims = [2] x [1]", "[[N,2:f32]]");
}

#[test]
fn gathers_and_scatters() {
    check(
        r#"func.func @main(%x: tensor<11x3xf32>, %i: [[N,1:i32]]) -> [[N,3:f32]] {
          %r = "stablehlo.gather"(%x, %i) <{
            dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
            index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>
          }> : (tensor<11x3xf32>, [[N,1:i32]]) -> [[N,3:f32]]
          return %r : [[N,3:f32]]
        }"#,
    );
    check(
        r#"func.func @main(%x: tensor<11xf32>, %i: [[N,1:i32]], %u: [[N:f32]]) -> tensor<11xf32> {
          %r = "stablehlo.scatter"(%x, %i, %u) <{
            scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
          }> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }) : (tensor<11xf32>, [[N,1:i32]], [[N:f32]]) -> tensor<11xf32>
          return %r : tensor<11xf32>
        }"#,
    );
    check(
        r#"func.func @main(%x: tensor<7x3xf32>, %u: [[N,3:f32]]) -> tensor<7x3xf32> {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %r = stablehlo.dynamic_update_slice %x, %u, %zero, %zero :
            (tensor<7x3xf32>, [[N,3:f32]], tensor<i32>, tensor<i32>) -> tensor<7x3xf32>
          return %r : tensor<7x3xf32>
        }"#,
    );
}

#[test]
fn loops_and_branches_carry_sizes() {
    check(
        r#"func.func @main(%x: [[N,3:f32]]) -> ([[N,3:f32]], tensor<i32>) {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %r:2 = stablehlo.while(%a = %x, %i = %zero) : [[N,3:f32]], tensor<i32>
          cond {
            %three = stablehlo.constant dense<3> : tensor<i32>
            %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          } do {
            %one = stablehlo.constant dense<1> : tensor<i32>
            %b = stablehlo.add %a, %a : [[N,3:f32]]
            %n = stablehlo.add %i, %one : tensor<i32>
            stablehlo.return %b, %n : [[N,3:f32]], tensor<i32>
          }
          %n = stablehlo.get_dimension_size %r#0, dim = 0 : ([[N,3:f32]]) -> tensor<i32>
          return %r#0, %n : [[N,3:f32]], tensor<i32>
        }"#,
    );
    check(
        r#"func.func @main(%x: [[N:f32]], %c: tensor<i32>) -> [[N:f32]] {
          %r = "stablehlo.case"(%c) ({
            %y = stablehlo.negate %x : [[N:f32]]
            stablehlo.return %y : [[N:f32]]
          }, {
            stablehlo.return %x : [[N:f32]]
          }) : (tensor<i32>) -> [[N:f32]]
          return %r : [[N:f32]]
        }"#,
    );
}

/// A loop whose body is the first to give a computed size, and a conditional with one branch that does.
#[test]
fn sizes_appear_in_loops_and_branches() {
    let engine = engine();
    let text = r#"func.func @main(%x: tensor<5xf32>, %s: tensor<i32>, %p: tensor<i1>) ->
          (tensor<?xf32, #stablehlo.bounds<5>>, tensor<?xf32, #stablehlo.bounds<5>>) {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %r:2 = stablehlo.while(%a = %x, %i = %zero) : tensor<5xf32>, tensor<i32>
          cond {
            %q = stablehlo.compare LT, %i, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %q : tensor<i1>
          } do {
            %one = stablehlo.constant dense<1> : tensor<i32>
            %n = stablehlo.add %i, %one : tensor<i32>
            %b = stablehlo.set_dimension_size %a, %n, dim = 0 :
              (tensor<5xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<5>>
            stablehlo.return %b, %n : tensor<?xf32, #stablehlo.bounds<5>>, tensor<i32>
          }
          %c = "stablehlo.if"(%p) ({
            %b = stablehlo.set_dimension_size %x, %s, dim = 0 :
              (tensor<5xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<5>>
            stablehlo.return %b : tensor<?xf32, #stablehlo.bounds<5>>
          }, {
            stablehlo.return %x : tensor<5xf32>
          }) : (tensor<i1>) -> tensor<?xf32, #stablehlo.bounds<5>>
          return %r#0, %c : tensor<?xf32, #stablehlo.bounds<5>>, tensor<?xf32, #stablehlo.bounds<5>>
        }"#;
    let program = compile(&engine, text);
    for (size, flag, expected) in [(0, 1u8, [5, 0]), (3, 1, [3, 3]), (3, 0, [3, 5]), (9, 1, [5, 5]), (-4, 1, [5, 0])] {
        let arguments = vec![
            Argument::Shared(Arc::new(buffer(&engine, &[1f32; 5]))),
            Argument::Shared(Arc::new(buffer(&engine, &[size]))),
            Argument::Shared(Arc::new(buffer(&engine, &[flag]))),
        ];
        let results = program.run(arguments).unwrap();
        let sizes: Vec<i32> = results[2..].iter().map(|size| values::<i32>(size)[0]).collect();
        assert_eq!(sizes, expected, "{size}, {flag}");
    }
}

#[test]
fn sizes_of_dynamic_ops_come_from_their_shapes() {
    check(
        "func.func @main(%x: [[N,3:f32]]) -> ([[N,2:f32]], [[N:i32]], [[3N:f32]]) {
          %one = stablehlo.constant dense<1.0> : tensor<f32>
          %n = stablehlo.get_dimension_size %x, dim = 0 : ([[N,3:f32]]) -> tensor<i32>
          %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
          %two = stablehlo.constant dense<2> : tensor<1xi32>
          %three = stablehlo.constant dense<3> : tensor<1xi32>
          %shape = stablehlo.concatenate %n1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
          %a = stablehlo.dynamic_broadcast_in_dim %one, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> [[N,2:f32]]
          %b = stablehlo.dynamic_iota %n1, dim = 0 : (tensor<1xi32>) -> [[N:i32]]
          %m = stablehlo.multiply %n1, %three : tensor<1xi32>
          %c = stablehlo.dynamic_reshape %x, %m : ([[N,3:f32]], tensor<1xi32>) -> [[3N:f32]]
          return %a, %b, %c : [[N,2:f32]], [[N:i32]], [[3N:f32]]
        }",
    );
}

/// Sizes that are set to ones that no dynamic operand has.
#[test]
fn computed_sizes_of_new_dimensions() {
    let engine = engine();
    let text = "func.func @main(%n: tensor<1xi32>) -> tensor<?x2xi32, #stablehlo.bounds<5, ?>> {
          %two = stablehlo.constant dense<2> : tensor<1xi32>
          %shape = stablehlo.concatenate %n, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
          %r = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> tensor<?x2xi32, #stablehlo.bounds<5, ?>>
          return %r : tensor<?x2xi32, #stablehlo.bounds<5, ?>>
        }";
    let program = compile(&engine, text);
    let results = program.run(vec![Argument::Shared(Arc::new(buffer(&engine, &[3i32])))]).unwrap();
    assert_eq!(values::<i32>(&results[1]), [3]);
    assert_eq!(values::<i32>(&results[0])[..6], [0, 0, 1, 1, 2, 2]);
}

/// Factors of matrices, and solutions of their equations.
#[test]
fn matrices_of_dynamic_order() {
    let matrix = "%n = stablehlo.get_dimension_size %x, dim = 0 : ([[N,3:f32]]) -> tensor<i32>
          %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
          %shape = stablehlo.concatenate %n1, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
          %i = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> [[N,N:i32]]
          %j = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> [[N,N:i32]]
          %p = stablehlo.compare EQ, %i, %j : ([[N,N:i32]], [[N,N:i32]]) -> [[N,N:i1]]
          %eye = stablehlo.convert %p : ([[N,N:i1]]) -> [[N,N:f32]]
          %xx = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] :
            ([[N,3:f32]], [[N,3:f32]]) -> [[N,N:f32]]
          %a = stablehlo.add %xx, %eye : [[N,N:f32]]";
    for lower in [true, false] {
        check(&format!(
            "func.func @main(%x: [[N,3:f32]]) -> [[N,N:f32]] {{
              {matrix}
              %r = stablehlo.cholesky %a, lower = {lower} : [[N,N:f32]]
              return %r : [[N,N:f32]]
            }}"
        ));
    }
    // Of small integers, without rounding: blocks depend on the bound.
    for (left, lower, ty) in [
        (true, true, "[[N,3:f32]]"),
        (true, false, "[[N,3:f32]]"),
        (false, true, "[[3,N:f32]]"),
        (false, false, "[[3,N:f32]]"),
    ] {
        check(&format!(
            "func.func @main(%x: [[N,3:f32]], %b: {ty}) -> {ty} {{
              {matrix}
              %d = stablehlo.subtract %j, %i : [[N,N:i32]]
              %u = stablehlo.convert %d : ([[N,N:i32]]) -> [[N,N:f32]]
              %r = \"stablehlo.triangular_solve\"(%u, %b) <{{left_side = {left}, lower = {lower}, unit_diagonal = true,
                transpose_a = #stablehlo<transpose NO_TRANSPOSE>}}> : ([[N,N:f32]], {ty}) -> {ty}
              return %r : {ty}
            }}"
        ));
    }
}

#[test]
fn best_elements_of_dynamic_rows() {
    for largest in [true, false] {
        for element in ["f32", "i32", "ui32"] {
            check_from(
                2,
                &format!(
                    "func.func @main(%x: [[3,N:{element}]]) -> (tensor<3x2x{element}>, tensor<3x2xi32>) {{
                      %r:2 = chlo.top_k(%x, k = 2, largest = {largest}) :
                        [[3,N:{element}]] -> (tensor<3x2x{element}>, tensor<3x2xi32>)
                      return %r#0, %r#1 : tensor<3x2x{element}>, tensor<3x2xi32>
                    }}"
                ),
            );
        }
    }
}

#[test]
fn what_has_no_meaning_is_an_error() {
    let sliced = error(
        "func.func @main(%x: [[N,3:f32]], %i: tensor<i32>) -> tensor<2x3xf32> {
          %r = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] :
            ([[N,3:f32]], tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
          return %r : tensor<2x3xf32>
        }",
    );
    assert!(sliced.contains("stablehlo.dynamic_slice: dimension 0 of operand is dynamic"), "{sliced}");
    let factored = error(
        "func.func @main(%x: [[N,5:f32]]) -> [[N,5:f32]] {
          %r = stablehlo.cholesky %x, lower = true : [[N,5:f32]]
          return %r : [[N,5:f32]]
        }",
    );
    assert!(factored.contains("stablehlo.cholesky: dimension 0 of a is dynamic"), "{factored}");
    let unknown = error(
        "func.func @main(%x: tensor<3xf32>) -> [[N:f32]] {
          %r = stablehlo.custom_call @f(%x) : (tensor<3xf32>) -> [[N:f32]]
          return %r : [[N:f32]]
        }",
    );
    assert!(unknown.contains("dimension 0 of the result"), "{unknown}");
    assert!(unknown.contains("no operand determines its size"), "{unknown}");
}
