//! Products of the slices that a loop takes, which leave it, against sums in double precision.

use oxcall_hlo::parse_text;

use super::*;

/// Three dimensions of an array of slices, the free dimension of the weights, and the number of iterations.
struct Case {
    steps: usize,
    rows: usize,
    terms: usize,
    columns: usize,
    turns: usize,
    /// The slice of iteration `i`: `2 * i - 3`, which is out of bounds at the ends, or `i`.
    is_strided: bool,
    kind: Kind,
}

/// The operands of the product of a slice `x` and weights `w`.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `x w` for a matrix `x`.
    MatrixByWeights,
    /// `x^T w` for a matrix `x`.
    TransposedByWeights,
    /// `x w` for a vector `x`, which is the only row.
    VectorByWeights,
    /// `w x` for a vector `x`, which is the only row.
    WeightsByVector,
}

fn tensor(dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
    format!("tensor<{}xf32>", dims.join("x"))
}

impl Case {
    /// The shapes of a slice, the weights and a product.
    fn shapes(&self) -> [Vec<usize>; 3] {
        let &Case { rows, terms, columns, .. } = self;
        match self.kind {
            Kind::MatrixByWeights => [vec![rows, terms], vec![terms, columns], vec![rows, columns]],
            Kind::TransposedByWeights => [vec![terms, rows], vec![terms, columns], vec![rows, columns]],
            Kind::VectorByWeights => [vec![terms], vec![terms, columns], vec![columns]],
            Kind::WeightsByVector => [vec![terms], vec![columns, terms], vec![columns]],
        }
    }

    /// `y = y / 2 + x[i] w` for each iteration.
    fn program(&self) -> String {
        let [x, w, y] = self.shapes();
        let stack: Vec<usize> = [self.steps].into_iter().chain(x.iter().copied()).collect();
        let slice: Vec<usize> = [1].into_iter().chain(x.iter().copied()).collect();
        let sizes: Vec<String> = slice.iter().map(usize::to_string).collect();
        let starts = ", %zero".repeat(x.len());
        let index_types = ", tensor<i32>".repeat(x.len() + 1);
        let [x, w, y, stack, slice] = [x, w, y, stack, slice].map(|dims| tensor(&dims));
        let (operands, types, dims) = match self.kind {
            Kind::MatrixByWeights => ("%x, %w", format!("({x}, {w})"), "[1] x [0]"),
            Kind::TransposedByWeights => ("%x, %w", format!("({x}, {w})"), "[0] x [0]"),
            Kind::VectorByWeights => ("%x, %w", format!("({x}, {w})"), "[0] x [0]"),
            Kind::WeightsByVector => ("%w, %x", format!("({w}, {x})"), "[1] x [0]"),
        };
        let [scale, shift] = if self.is_strided { [2, -3] } else { [1, 0] };
        format!(
            "func.func @main(%xs: {stack}, %w: {w}, %y0: {y}) -> {y} {{
            %zero = stablehlo.constant dense<0> : tensor<i32>
            %loop:2 = stablehlo.while(%i = %zero, %y = %y0) : tensor<i32>, {y}
            cond {{
                %limit = stablehlo.constant dense<{turns}> : tensor<i32>
                %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                stablehlo.return %less : tensor<i1>
            }} do {{
                %one = stablehlo.constant dense<1> : tensor<i32>
                %next = stablehlo.add %i, %one : tensor<i32>
                %scale = stablehlo.constant dense<{scale}> : tensor<i32>
                %shift = stablehlo.constant dense<{shift}> : tensor<i32>
                %scaled = stablehlo.multiply %i, %scale : tensor<i32>
                %at = stablehlo.add %scaled, %shift : tensor<i32>
                %slice = stablehlo.dynamic_slice %xs, %at{starts}, sizes = [{sizes}] : ({stack}{index_types}) -> {slice}
                %x = stablehlo.reshape %slice : ({slice}) -> {x}
                %p = stablehlo.dot_general {operands}, contracting_dims = {dims} : {types} -> {y}
                %half = stablehlo.constant dense<0.5> : {y}
                %less_y = stablehlo.multiply %y, %half : {y}
                %sum = stablehlo.add %less_y, %p : {y}
                stablehlo.return %next, %sum : tensor<i32>, {y}
            }}
            return %loop#1 : {y}
        }}",
            turns = self.turns,
            sizes = sizes.join(", "),
        )
    }

    fn expected(&self, xs: &[f32], w: &[f32], y: &[f32]) -> Vec<f64> {
        let &Case { steps, rows, terms, columns, .. } = self;
        let x = |step: usize, row: usize, term: usize| {
            let place = if self.kind == Kind::TransposedByWeights { term * rows + row } else { row * terms + term };
            f64::from(xs[step * rows * terms + place])
        };
        let weight = |term: usize, column: usize| {
            let place =
                if self.kind == Kind::WeightsByVector { column * terms + term } else { term * columns + column };
            f64::from(w[place])
        };
        let mut sums: Vec<f64> = y.iter().map(|&y| y.into()).collect();
        for turn in 0..self.turns as i64 {
            let index = if self.is_strided { 2 * turn - 3 } else { turn };
            let step = index.clamp(0, steps as i64 - 1) as usize;
            for (place, sum) in sums.iter_mut().enumerate() {
                let (row, column) = (place / columns, place % columns);
                let product: f64 = (0..terms).map(|term| x(step, row, term) * weight(term, column)).sum();
                *sum = *sum / 2.0 + product;
            }
        }
        sums
    }

    fn check(&self) {
        let numbers = |count: usize, seed: usize| -> Vec<f32> {
            (0..count).map(|i| ((i * 37 + seed * 11) % 23) as f32 / 4.0 - 2.5).collect()
        };
        let sizes = self.shapes().map(|dims| dims.iter().product::<usize>());
        let (xs, w, y) = (numbers(self.steps * sizes[0], 1), numbers(sizes[1], 2), numbers(sizes[2], 3));
        let module = parse_text(&self.program()).unwrap();
        verify(&module).unwrap();
        let found = run(module, &|e| vec![shared(e, &xs), shared(e, &w), shared(e, &y)]).unwrap();
        for (found, expected) in values::<f32>(&found[0]).into_iter().zip(self.expected(&xs, &w, &y)) {
            // The numbers are few bits, so sums lose digits only where halves of earlier sums are below them.
            assert!((f64::from(found) - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }
}

#[test]
fn products_of_all_slices_are_those_of_each() {
    use Kind::{MatrixByWeights, TransposedByWeights, VectorByWeights, WeightsByVector};
    for kind in [MatrixByWeights, TransposedByWeights, VectorByWeights, WeightsByVector] {
        for is_strided in [false, true] {
            let rows = if matches!(kind, MatrixByWeights | TransposedByWeights) { 5 } else { 1 };
            Case { steps: 7, rows, terms: 40, columns: 24, turns: 7, is_strided, kind }.check();
            // These stay in the loop: some slices are never taken, and small products.
            Case { steps: 9, rows, terms: 40, columns: 24, turns: 7, is_strided, kind }.check();
            Case { steps: 7, rows, terms: 4, columns: 3, turns: 7, is_strided, kind }.check();
        }
    }
}
