use super::*;
use crate::WindowDim;

const ADD: &[&str] = &["f32, f32 -> f32"];

#[test]
fn reductions() {
    let reduce = |dims: &[usize]| OpKind::Reduce { dims: dims.to_vec() };
    takes(reduce(&[1]), "2x3x5xf32, f32 -> 2x5xf32", ADD);
    takes(reduce(&[0, 1]), "2x3xf32, 2x3xi32, f32, i32 -> f32, i32", &["f32, i32, f32, i32 -> f32, i32"]);
    takes(reduce(&[0]), "4xbf16, bf16 -> f32", ADD);
    refuses(reduce(&[1]), "4xf32, f32 -> f32", ADD, "dimensions must be dimensions of inputs of rank 1, got [1]");
    refuses(reduce(&[0]), "4xf32 -> f32", ADD, "expected inputs and as many init_values, got 1 operands");
    refuses(reduce(&[0]), "4xf32, 4xf32 -> f32", ADD, "init_values must be a scalar, got tensor<4xf32>");
    refuses(reduce(&[0]), "4xf32, f64 -> f32", ADD, "inputs and init_values must have the same element type");
    refuses(
        reduce(&[0]),
        "4xf32, 5xf32, f32, f32 -> f32, f32",
        ADD,
        "all inputs must have the same shape, got tensor<4xf32> and tensor<5xf32>",
    );
    refuses(
        reduce(&[0]),
        "4xf32, f32 -> f32",
        &["f32, f64 -> f32"],
        "body must have parameters and results of the same types",
    );
    refuses(
        reduce(&[0]),
        "4xf32, f32 -> f32",
        &["f32, f32 -> "],
        "body must have 2 parameters and 1 results, got 2 and 0",
    );
    gives_other(reduce(&[0]), "4x5xf32, f32 -> 4xf32", ADD);
}

fn window(size: usize, stride: usize, low: i64, high: i64) -> WindowDim {
    let (base_dilation, window_dilation, reversal) = (1, 1, false);
    WindowDim { size, stride, padding_low: low, padding_high: high, base_dilation, window_dilation, reversal }
}

#[test]
fn windows() {
    let reduce = |window: WindowDim| OpKind::ReduceWindow { window: vec![window] };
    takes(reduce(window(3, 2, 1, 1)), "7xf32, f32 -> 4xf32", ADD);
    takes(reduce(window(3, 2, -2, 0)), "7xf32, f32 -> 2xf32", ADD);
    takes(reduce(window(9, 1, 0, 0)), "7xf32, f32 -> 0xf32", ADD);
    takes(reduce(WindowDim { base_dilation: 3, ..window(2, 1, 0, 0) }), "4xf32, f32 -> 9xf32", ADD);
    takes(reduce(WindowDim { window_dilation: 3, ..window(3, 1, 0, 0) }), "9xf32, f32 -> 3xf32", ADD);
    refuses(reduce(window(0, 1, 0, 0)), "7xf32, f32 -> 7xf32", ADD, "window_dimensions[0] must be positive, got 0");
    refuses(reduce(window(1, 0, 0, 0)), "7xf32, f32 -> 7xf32", ADD, "window_strides[0] must be positive, got 0");
    refuses(
        reduce(window(1, 1, -8, 0)),
        "7xf32, f32 -> 7xf32",
        ADD,
        "dimension 0 of size 7 must not be negative after padding, got -1",
    );
    refuses(
        OpKind::ReduceWindow { window: vec![] },
        "7xf32, f32 -> 7xf32",
        ADD,
        "the window must have an entry for each dimension of inputs, tensor<7xf32>, got 0",
    );
    let huge = WindowDim { base_dilation: usize::MAX, ..window(1, 1, i64::MAX, i64::MAX) };
    refuses(reduce(huge), "7xf32, f32 -> 7xf32", ADD, "windows");
}

#[test]
fn selections() {
    let select = |window: WindowDim| OpKind::SelectAndScatter { window: vec![window] };
    let bodies = &["f32, f32 -> i1", "f32, f32 -> f32"];
    takes(select(window(3, 2, 0, 0)), "7xf32, 3xf32, f32 -> 7xf32", bodies);
    refuses(
        select(window(3, 2, 0, 0)),
        "7xf32, 4xf32, f32 -> 7xf32",
        bodies,
        "source must have the shape [3] of the windows of operand tensor<7xf32>, got tensor<4xf32>",
    );
    refuses(select(window(3, 2, 0, 0)), "7xf32, 3xf32, f32 -> 7xf32", &bodies[1..], "expected 2 regions, got 1");
    refuses(
        select(window(3, 2, 0, 0)),
        "7xf32, 3xf32, f32 -> 7xf32",
        &[bodies[1], bodies[1]],
        "select must return one i1, got (f32)",
    );
    refuses(select(window(3, 2, 0, 0)), "7xf32, 3xf32, 3xf32 -> 7xf32", bodies, "init_value must be a scalar");
    let dilated = WindowDim { window_dilation: 2, ..window(3, 2, 0, 0) };
    refuses(select(dilated), "7xf32, 2xf32, f32 -> 7xf32", bodies, "the window must not be dilated");
}

#[test]
fn sorts() {
    let sort = |dim| OpKind::Sort { dim, stable: true };
    takes(sort(1), "2x3xf32, 2x3xi32 -> 2x3xf32, 2x3xi32", &["f32, f32, i32, i32 -> i1"]);
    takes(sort(0), "f32 -> f32", &["f32, f32 -> i1"]);
    refuses(
        sort(2),
        "2x3xf32 -> 2x3xf32",
        &["f32, f32 -> i1"],
        "dimension = 2 must be a dimension of inputs, tensor<2x3xf32>",
    );
    refuses(
        sort(0),
        "2xf32, 3xf32 -> 2xf32, 3xf32",
        &["f32, f32, f32, f32 -> i1"],
        "all inputs must have the same shape",
    );
    refuses(
        sort(0),
        "2xf32, 2xi32 -> 2xf32, 2xi32",
        &["f32, i32, f32, i32 -> i1"],
        "comparator must have two scalar parameters of the element type of each input, (f32, f32, i32, i32); got (f32, i32, f32, i32)",
    );
    refuses(sort(0), "2xf32 -> 2xf32", &["f32, f32 -> i8"], "comparator must return one i1, got (i8)");
    let top_k = |k| OpKind::TopK { k, largest: true };
    takes(top_k(2), "5x3xbf16 -> 5x2xbf16, 5x2xi32", &[]);
    refuses(
        top_k(4),
        "5x3xf32 -> 5x4xf32, 5x4xi32",
        &[],
        "k must be at most 3, the last dimension of operand tensor<5x3xf32>, got 4",
    );
    refuses(top_k(0), "f32 -> f32, i32", &[], "operand must have at least one dimension");
    gives_other(top_k(2), "3xf32 -> 2xf32, 2xi64", &[]);
}

#[test]
fn maps() {
    let map = |dims: &[usize]| OpKind::Map { dims: dims.to_vec() };
    takes(map(&[0, 1]), "2x3xf32, 2x3xi8 -> 2x3xi1", &["f32, i8 -> i1"]);
    refuses(
        map(&[1, 0]),
        "2x3xf32 -> 2x3xf32",
        &["f32 -> f32"],
        "dimensions must be all dimensions of inputs, tensor<2x3xf32>, in order; got [1, 0]",
    );
    refuses(map(&[0]), "2xf32, 3xf32 -> 2xf32", &["f32, f32 -> f32"], "all inputs must have the same shape");
    refuses(
        map(&[0]),
        "2xf32 -> 2xf32",
        &["f32, f32 -> f32"],
        "computation must have a scalar parameter of the element type of each input, (f32); got (f32, f32)",
    );
    refuses(map(&[0]), "2xf32 -> 2xf32", &["f32 -> f32, f32"], "computation must have one result, got 2");
}
