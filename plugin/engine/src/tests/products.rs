//! Products of vectors and matrices in loops: the matrix is transposed before the loop, and machine code gives the bits
//! of steps.

use oxcall_hlo::parse_text;
use oxcall_jit::{Isa, Kernel};

use super::*;

/// `y += A x, x += x`, three times, for `batches` matrices of `m` by `k`, which are the left or the right operand, and
/// whose rows are along their first or their last dimension.
fn program(element: &str, [batches, m, k]: [usize; 3], is_left: bool, is_last: bool) -> String {
    let ty = |dims: &[usize]| {
        let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
        format!("tensor<{}x{element}>", dims.join("x"))
    };
    let matrix = ty(&if is_last { [batches, m, k] } else { [batches, k, m] });
    let (x, y) = (ty(&[batches, k]), ty(&[batches, m]));
    let contracted = if is_last { 2 } else { 1 };
    let (operands, types, dims) = if is_left {
        ("%a, %x", format!("({matrix}, {x})"), format!("[{contracted}] x [1]"))
    } else {
        ("%x, %a", format!("({x}, {matrix})"), format!("[1] x [{contracted}]"))
    };
    format!(
        "func.func @main(%a: {matrix}, %x0: {x}, %y0: {y}) -> {y} {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %loop:3 = stablehlo.while(%i = %zero, %x = %x0, %y = %y0) : tensor<i32>, {x}, {y}
        cond {{
            %limit = stablehlo.constant dense<3> : tensor<i32>
            %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %less : tensor<i1>
        }} do {{
            %one = stablehlo.constant dense<1> : tensor<i32>
            %next = stablehlo.add %i, %one : tensor<i32>
            %p = stablehlo.dot_general {operands}, batching_dims = [0] x [0], contracting_dims = {dims} : {types} -> {y}
            %sum = stablehlo.add %y, %p : {y}
            %twice = stablehlo.add %x, %x : {x}
            stablehlo.return %next, %twice, %sum : tensor<i32>, {x}, {y}
        }}
        return %loop#2 : {y}
    }}"
    )
}

fn bytes(element: &str, count: usize, seed: usize) -> Vec<u8> {
    let number = |i: usize| ((i * 37 + seed * 11) % 23) as f32 / 4.0 - 2.5;
    (0..count)
        .flat_map(|i| match element {
            "f64" => f64::from(number(i)).to_le_bytes().to_vec(),
            "i32" => (number(i) as i32).to_le_bytes().to_vec(),
            "f16" => half::f16::from_f32(number(i)).to_le_bytes().to_vec(),
            "complex<f32>" => [number(i), number(i + 1)].map(f32::to_le_bytes).concat(),
            _ => number(i).to_le_bytes().to_vec(),
        })
        .collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect()
}

/// The sum of the products with the numbers that are doubled in each iteration: 1 + 2 + 4 times `A x`.
fn expected([batches, m, k]: [usize; 3], is_last: bool, a: &[f32], x: &[f32], y: &[f32]) -> Vec<f64> {
    let at = |batch: usize, row: usize, column: usize| {
        f64::from(if is_last { a[(batch * m + row) * k + column] } else { a[(batch * k + column) * m + row] })
    };
    let sum = |batch: usize, row: usize| {
        (0..k).map(|column| at(batch, row, column) * f64::from(x[batch * k + column])).sum::<f64>()
    };
    let all = (0..batches * m).map(|place| f64::from(y[place]) + 7.0 * sum(place / m, place % m));
    all.collect()
}

#[test]
fn products_with_matrices_from_outside_of_loops() {
    let sizes = [
        [1, 4, 2],
        [1, 5, 3],
        [1, 1, 9],
        [1, 9, 1],
        [1, 16, 16],
        [1, 17, 16],
        [1, 32, 32],
        [1, 33, 31],
        [1, 64, 64],
        [1, 100, 70],
        [4, 8, 8],
        [3, 5, 7],
        [16, 4, 4],
        [20, 3, 2],
        [9, 5, 3],
        [40, 4, 4],
    ];
    let engines: Vec<Arc<Engine>> = (Isa::all().filter(|isa| Kernel::is_supported() && isa.is_present()))
        .map(|isa| Engine::for_isa(Some(isa)))
        .collect();
    let steps = Engine::for_isa(None);
    for element in ["f32", "f64", "i32", "f16", "complex<f32>"] {
        for (dims, form) in sizes.iter().flat_map(|&dims| (0..4).map(move |form| (dims, form))) {
            let [batches, m, k] = dims;
            let (is_left, is_last) = (form % 2 == 0, form / 2 == 0);
            let text = program(element, dims, is_left, is_last);
            let module = parse_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            verify(&module).unwrap();
            let arguments = [batches * m * k, batches * k, batches * m].map(|count| bytes(element, count, count));
            let run = |engine: &Arc<Engine>| {
                let arguments = arguments.iter().map(|bytes| shared(engine, bytes)).collect();
                compile(engine, module.clone()).run(arguments).unwrap()[0].as_bytes().to_vec()
            };
            let result = run(&steps);
            for engine in &engines {
                assert!(run(engine) == result, "{element} {dims:?} {is_left} {is_last}");
            }
            if element == "f32" {
                let [a, x, y]: [Vec<f32>; 3] = [0, 1, 2].map(|i| floats(&arguments[i]));
                let expected = expected(dims, is_last, &a, &x, &y);
                let got: Vec<f32> = floats(&result);
                for (got, expected) in got.iter().zip(&expected) {
                    assert!((f64::from(*got) - expected).abs() < 1e-2, "{dims:?}: {got} instead of {expected}");
                }
            }
        }
    }
}

#[test]
fn only_small_matrices_of_loops_are_transposed() {
    let transposes = |dims: [usize; 3], is_last: bool| {
        let module = parse_text(&program("f32", dims, true, is_last)).unwrap();
        compile(&engine(), module).text().matches("stablehlo.transpose").count()
    };
    assert_eq!(transposes([1, 16, 16], true), 1);
    assert_eq!(transposes([2, 16, 16], true), 1);
    assert_eq!(transposes([1, 16, 16], false), 0);
    assert_eq!(transposes([1, 1000, 64], true), 1);
    assert_eq!(transposes([1, 16, 65], true), 0);
    assert_eq!(transposes([1, 2000, 64], true), 0);
    assert_eq!(transposes([1, 3, 16], true), 0);
}

/// A case of a product with a transpose.
struct Transposed {
    /// The dimensions of both parameters.
    dims: [&'static [usize]; 2],
    /// The lines that compute `%out` of `%x` and `%y`, and its dimensions.
    lines: &'static str,
    out: &'static [usize],
    /// The subscripts of `numpy.einsum`.
    einsum: [&'static str; 3],
    /// The transposes that are left.
    left: usize,
}

/// The sum over subscripts that the result does not have.
fn einsum(case: &Transposed, x: &[f32], y: &[f32]) -> Vec<f64> {
    let sizes: std::collections::BTreeMap<char, usize> =
        [0, 1].iter().flat_map(|&i| case.einsum[i].chars().zip(case.dims[i].iter().copied())).collect();
    let names: Vec<char> = sizes.keys().copied().collect();
    let mut sums = vec![0.0; case.out.iter().product()];
    let count: usize = sizes.values().product();
    for place in 0..count {
        let mut rest = place;
        let index: std::collections::BTreeMap<char, usize> = names
            .iter()
            .map(|name| {
                let index = rest % sizes[name];
                rest /= sizes[name];
                (*name, index)
            })
            .collect();
        let at = |subscripts: &str| subscripts.chars().fold(0, |at, name| at * sizes[&name] + index[&name]);
        let [a, b, out] = case.einsum.map(at);
        sums[out] += f64::from(x[a]) * f64::from(y[b]);
    }
    sums
}

#[test]
fn transposes_of_operands_and_results_are_other_products() {
    let cases = [
        Transposed {
            dims: [&[40, 5], &[40, 7]],
            lines: "%t = stablehlo.transpose %x, dims = [1, 0] : (X) -> tensor<5x40xf32>
                %out = stablehlo.dot_general %t, %y, contracting_dims = [1] x [0] : (tensor<5x40xf32>, Y) -> OUT",
            out: &[5, 7],
            einsum: ["ka", "kb", "ab"],
            left: 0,
        },
        Transposed {
            dims: [&[5, 40], &[40, 7]],
            lines: "%p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (X, Y) -> tensor<5x7xf32>
                %out = stablehlo.transpose %p, dims = [1, 0] : (tensor<5x7xf32>) -> OUT",
            out: &[7, 5],
            einsum: ["ak", "kb", "ba"],
            left: 0,
        },
        // Both.
        Transposed {
            dims: [&[40, 5], &[40, 7]],
            lines: "%t = stablehlo.transpose %x, dims = [1, 0] : (X) -> tensor<5x40xf32>
                %p = stablehlo.dot_general %t, %y, contracting_dims = [1] x [0] :
                    (tensor<5x40xf32>, Y) -> tensor<5x7xf32>
                %out = stablehlo.transpose %p, dims = [1, 0] : (tensor<5x7xf32>) -> OUT",
            out: &[7, 5],
            einsum: ["ka", "kb", "ba"],
            left: 0,
        },
        // Batches, several free and contracted dimensions.
        Transposed {
            dims: [&[3, 8, 4, 5, 2], &[2, 3, 4, 8]],
            lines: "%t = stablehlo.transpose %x, dims = [4, 0, 3, 1, 2] : (X) -> tensor<2x3x5x8x4xf32>
                %p = stablehlo.dot_general %t, %y, batching_dims = [0] x [0], contracting_dims = [3, 4] x [3, 2] :
                    (tensor<2x3x5x8x4xf32>, Y) -> tensor<2x3x5x3xf32>
                %out = stablehlo.transpose %p, dims = [0, 3, 1, 2] : (tensor<2x3x5x3xf32>) -> OUT",
            out: &[2, 3, 3, 5],
            einsum: ["alkcn", "ndkl", "ndac"],
            left: 0,
        },
        // Free dimensions in another order, and results that are more than swapped.
        Transposed {
            dims: [&[3, 40, 4], &[40, 6]],
            lines: "%t = stablehlo.transpose %x, dims = [2, 0, 1] : (X) -> tensor<4x3x40xf32>
                %p = stablehlo.dot_general %t, %y, contracting_dims = [2] x [0] :
                    (tensor<4x3x40xf32>, Y) -> tensor<4x3x6xf32>
                %out = stablehlo.transpose %p, dims = [1, 2, 0] : (tensor<4x3x6xf32>) -> OUT",
            out: &[3, 6, 4],
            einsum: ["akb", "kc", "acb"],
            left: 2,
        },
        // A few rows by a large matrix, and by a small one.
        Transposed {
            dims: [&[2, 260], &[1010, 260]],
            lines: "%t = stablehlo.transpose %y, dims = [1, 0] : (Y) -> tensor<260x1010xf32>
                %out = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (X, tensor<260x1010xf32>) -> OUT",
            out: &[2, 1010],
            einsum: ["ak", "bk", "ab"],
            left: 0,
        },
        Transposed {
            dims: [&[2, 40], &[50, 40]],
            lines: "%t = stablehlo.transpose %y, dims = [1, 0] : (Y) -> tensor<40x50xf32>
                %out = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (X, tensor<40x50xf32>) -> OUT",
            out: &[2, 50],
            einsum: ["ak", "bk", "ab"],
            left: 1,
        },
        // Short sums.
        Transposed {
            dims: [&[8, 5], &[8, 7]],
            lines: "%t = stablehlo.transpose %x, dims = [1, 0] : (X) -> tensor<5x8xf32>
                %out = stablehlo.dot_general %t, %y, contracting_dims = [1] x [0] : (tensor<5x8xf32>, Y) -> OUT",
            out: &[5, 7],
            einsum: ["ka", "kb", "ab"],
            left: 1,
        },
    ];
    let array = |dims: &[usize]| {
        let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
        format!("tensor<{}xf32>", dims.join("x"))
    };
    for case in &cases {
        let [x, y, out] = [case.dims[0], case.dims[1], case.out].map(array);
        let lines = case.lines.replace("(X", &format!("({x}")).replace('Y', &y).replace("OUT", &out);
        let text = format!("func.func @main(%x: {x}, %y: {y}) -> {out} {{ {lines}\n return %out : {out} }}");
        let module = parse_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        verify(&module).unwrap();
        let [a, b] = case.dims.map(|dims| floats(&bytes("f32", dims.iter().product(), dims.len())));
        let program = compile(&engine(), module.clone());
        assert_eq!(program.text().matches("stablehlo.transpose").count(), case.left, "{lines}\n{}", program.text());
        let results = run(module, &|engine| vec![shared(engine, &a), shared(engine, &b)]).unwrap();
        for (found, expected) in values::<f32>(&results[0]).iter().zip(einsum(case, &a, &b)) {
            assert!((f64::from(*found) - expected).abs() < 1e-3, "{lines}: {found} instead of {expected}");
        }
    }
}
