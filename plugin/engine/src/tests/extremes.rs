//! `argmax` and `argmin`, against a search: over a few elements, which become element-wise ops, and over more, whose
//! positions are counted.

use oxcall_hlo::parse_text;
use oxcall_kernels::element::{bf16, f16};

use super::*;

/// JAX's program for the extremes along a dimension of an array of this shape, with their indices.
fn program(element: &str, dims: [usize; 2], dim: usize, largest: bool, init: &str) -> Module {
    let array = |element: &str| format!("tensor<{}x{}x{element}>", dims[0], dims[1]);
    let result = |element: &str| format!("tensor<{}x{element}>", dims[1 - dim]);
    let better = if largest { "GT" } else { "LT" };
    let kind = match element {
        _ if element.contains('f') => "FLOAT",
        _ if element.starts_with('u') => "UNSIGNED",
        _ => "SIGNED",
    };
    let text = format!(
        "func.func @main(%x: {array}) -> ({values}, {indices}) {{
          %iota = stablehlo.iota dim = {dim} : {positions}
          %init = stablehlo.constant dense<{init}> : tensor<{element}>
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %r:2 = stablehlo.reduce(%x init: %init), (%iota init: %zero) across dimensions = [{dim}] :
              ({array}, {positions}, tensor<{element}>, tensor<i32>) -> ({values}, {indices})
           reducer(%a: tensor<{element}>, %b: tensor<{element}>) (%i: tensor<i32>, %j: tensor<i32>) {{
            %0 = stablehlo.compare {better}, %a, %b, {kind} : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
            %1 = stablehlo.compare NE, %a, %a, {kind} : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
            %2 = stablehlo.or %0, %1 : tensor<i1>
            %3 = stablehlo.compare EQ, %a, %b, {kind} : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
            %4 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            %5 = stablehlo.and %3, %4 : tensor<i1>
            %6 = stablehlo.or %2, %5 : tensor<i1>
            %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<{element}>
            %8 = stablehlo.select %6, %i, %j : tensor<i1>, tensor<i32>
            stablehlo.return %7, %8 : tensor<{element}>, tensor<i32>
          }}
          return %r#0, %r#1 : {values}, {indices}
        }}",
        array = array(element),
        positions = array("i32"),
        values = result(element),
        indices = result("i32"),
    );
    parse_text(&text).unwrap()
}

/// The numbers of reductions and of elements of each.
const SHAPES: [(usize, usize); 12] = [
    (300, 2),
    (300, 3),
    (300, 7),
    (300, 10),
    (300, 16),
    (300, 17),
    (1100, 20),
    (70, 64),
    (37, 130),
    (9, 5000),
    (3, 70_001),
    (1, 300_000),
];

/// Compares the indices, and the bits of the values, for elements that are often equal, infinite or NaN.
fn check<T: Pod + PartialOrd>(element: &str, number: impl Fn(usize) -> T, inits: [&str; 2]) {
    for (lines, row, dim, largest) in SHAPES
        .into_iter()
        .flat_map(|(lines, row)| [0, 1].map(|dim| (lines, row, dim)))
        .flat_map(|(lines, row, dim)| [true, false].map(|largest| (lines, row, dim, largest)))
    {
        let mut dims = [lines; 2];
        dims[dim] = row;
        let numbers: Vec<T> = (0..lines * row).map(&number).collect();
        let module = program(element, dims, dim, largest, inits[usize::from(!largest)]);
        let results = run(module, &|engine| vec![shared(engine, &numbers)]).unwrap();
        let at = |line: usize, index: usize| if dim == 1 { line * row + index } else { index * lines + line };
        #[allow(clippy::eq_op, reason = "only NaN is not equal to itself")]
        let is_nan = |x: &T| x != x;
        for line in 0..lines {
            let mut found = 0;
            for index in 1..row {
                let (new, old) = (&numbers[at(line, index)], &numbers[at(line, found)]);
                let is_better = if largest { new > old } else { new < old };
                if !is_nan(old) && (is_nan(new) || is_better) {
                    found = index;
                }
            }
            assert_eq!(values::<i32>(&results[1])[line], found as i32, "{element} {dims:?} {dim} {largest} {line}");
            let value = values::<T>(&results[0])[line];
            assert_eq!(bytemuck::bytes_of(&value), bytemuck::bytes_of(&numbers[at(line, found)]));
        }
    }
}

/// One of a few numbers, in no order.
fn pick<T: Copy>(few: &[T]) -> impl Fn(usize) -> T {
    |index| few[(index * index * 31 + index / 7) % few.len()]
}

#[test]
fn floats() {
    let odd = [1.0, -2.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5, 0.5, 3.0, -0.25, -7.0, 1.5];
    check("f32", pick(&odd), ["0xFF800000", "0x7F800000"]);
    check("f32", pick(&[f32::NEG_INFINITY]), ["0xFF800000", "0x7F800000"]);
    check("f64", pick(&odd.map(f64::from)), ["0xFFF0000000000000", "0x7FF0000000000000"]);
    check("bf16", pick(&odd.map(bf16::from_f32)), ["0xFF80", "0x7F80"]);
    check("f16", pick(&odd.map(f16::from_f32)), ["0xFC00", "0x7C00"]);
}

#[test]
fn integers() {
    check("i32", pick(&[i32::MIN, i32::MAX, 0, -1, 7, 7, 8, -5]), ["-2147483648", "2147483647"]);
    check("ui32", pick(&[0, u32::MAX, 1 << 31, 7, 7, 8]), ["0", "4294967295"]);
    check("ui8", pick(&[u8::MIN, u8::MAX, 5, 128]), ["0", "255"]);
    check("i16", pick(&[i16::MIN, i16::MAX, 0, -1, 7]), ["-32768", "32767"]);
    check("ui64", pick(&[0, u64::MAX, 1 << 63]), ["0", "18446744073709551615"]);
    check("i8", pick(&[i8::MIN, i8::MAX, 0, -1, 7, 7, 8]), ["-128", "127"]);
    check("i64", pick(&[i64::MIN, i64::MAX, 0, -1, 1 << 40, 7]), ["-9223372036854775808", "9223372036854775807"]);
}

#[test]
fn other_initial_values_are_reduced_with_the_rest() {
    for row in [3, 30] {
        let numbers: Vec<f32> = (0..300 * row).map(|index| (index / 7 % 11) as f32).collect();
        let module = program("f32", [300, row], 1, true, "5.0");
        let results = run(module, &|engine| vec![shared(engine, &numbers)]).unwrap();
        let expected = numbers.chunks(row).map(|row| {
            // The initial pair comes before equal elements behind the first.
            let (index, value) = row.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
            if *value > 5.0 { (*value, index as i32) } else { (5.0, 0) }
        });
        let (expected_values, indices): (Vec<f32>, Vec<i32>) = expected.unzip();
        assert_eq!(values::<f32>(&results[0]), expected_values);
        assert_eq!(values::<i32>(&results[1]), indices);
    }
}

#[test]
fn indices_are_counted_where_they_are_positions() {
    let cases = [
        ("f32", "0xFF800000", [300, 20], 1, true),
        ("ui8", "0", [20, 300], 0, true),
        ("f32", "0xFF800000", [500, 3], 1, true),
        // Element-wise ops over its rows.
        ("f32", "0xFF800000", [3, 500], 0, false),
    ];
    for (element, init, dims, dim, is_counted) in cases {
        let program = compile(&engine(), program(element, dims, dim, true, init));
        assert_eq!(program.steps().contains("reduce[argmax,iota]"), is_counted, "{element} {dims:?}");
    }
}
