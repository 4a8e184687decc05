//! Small convolutions, in and out of loops, beside sums of products.

use oxcall_hlo::parse_text;

use super::*;

/// A convolution with one spatial dimension: `[batch, features, width]` by `[out, features, size]`.
#[derive(Debug, Clone, Copy)]
struct Case {
    batch: usize,
    features: usize,
    out: usize,
    width: usize,
    size: usize,
    stride: usize,
    padding: [usize; 2],
    dilation: usize,
    reversal: bool,
}

impl Case {
    fn places(&self) -> usize {
        let padded = self.width + self.padding[0] + self.padding[1];
        (padded - (self.size - 1) * self.dilation - 1) / self.stride + 1
    }

    fn expected(&self, x: &[f32], kernel: &[f32]) -> Vec<f32> {
        let mut results = Vec::new();
        for batch in 0..self.batch {
            for out in 0..self.out {
                for place in 0..self.places() {
                    let mut sum = 0.0;
                    for feature in 0..self.features {
                        for tap in 0..self.size {
                            let at = (place * self.stride + tap * self.dilation).checked_sub(self.padding[0]);
                            let Some(at) = at.filter(|&at| at < self.width) else { continue };
                            let tap = if self.reversal { self.size - 1 - tap } else { tap };
                            let factor = kernel[(out * self.features + feature) * self.size + tap];
                            sum += x[(batch * self.features + feature) * self.width + at] * factor;
                        }
                    }
                    results.push(sum);
                }
            }
        }
        results
    }

    /// The program; the layout has features last if `last` is set.
    fn text(&self, element: &str, is_last: bool) -> String {
        let Case { batch, features, out, width, size, stride, padding: [low, high], dilation, reversal } = *self;
        let (labels, x, kernel, result) = if is_last {
            (
                "[b, 0, f]x[0, i, o]->[b, 0, f]",
                format!("{batch}x{width}x{features}"),
                format!("{size}x{features}x{out}"),
                format!("{batch}x{}x{out}", self.places()),
            )
        } else {
            (
                "[b, f, 0]x[o, i, 0]->[b, f, 0]",
                format!("{batch}x{features}x{width}"),
                format!("{out}x{features}x{size}"),
                format!("{batch}x{out}x{}", self.places()),
            )
        };
        let [x, kernel, result] = [x, kernel, result].map(|dims| format!("tensor<{dims}x{element}>"));
        format!(
            "func.func @main(%x: {x}, %k: {kernel}) -> {result} {{\n\
             %r = stablehlo.convolution(%x, %k) dim_numbers = {labels}, window = {{stride = [{stride}], pad = \
             [[{low}, {high}]], rhs_dilate = [{dilation}], reverse = [{reversal}]}} {{batch_group_count = 1 : i64, \
             feature_group_count = 1 : i64}} : ({x}, {kernel}) -> {result}\nreturn %r : {result}\n}}\n"
        )
    }
}

/// The elements of an array of three dimensions with these in another order.
fn permuted(elements: &[f32], dims: [usize; 3], order: [usize; 3]) -> Vec<f32> {
    let sizes = order.map(|dim| dims[dim]);
    let strides = [dims[1] * dims[2], dims[2], 1];
    let mut out = Vec::new();
    for i in 0..sizes[0] {
        for j in 0..sizes[1] {
            for k in 0..sizes[2] {
                out.push(elements[i * strides[order[0]] + j * strides[order[1]] + k * strides[order[2]]]);
            }
        }
    }
    out
}

#[test]
fn small_convolutions_are_sums_of_products() {
    let plain = Case {
        batch: 1,
        features: 1,
        out: 1,
        width: 8,
        size: 3,
        stride: 1,
        padding: [1, 1],
        dilation: 1,
        reversal: false,
    };
    let cases = [
        plain,
        Case { reversal: true, padding: [2, 0], ..plain },
        Case { features: 4, out: 4, width: 16, ..plain },
        Case { batch: 3, features: 2, out: 3, stride: 2, ..plain },
        Case { dilation: 2, padding: [0, 3], batch: 2, ..plain },
        Case { size: 1, padding: [0, 0], out: 5, ..plain },
        Case { size: 5, width: 60, padding: [4, 4], ..plain },
    ];
    let engine = Engine::for_isa(None);
    for case in cases {
        // Small integers: sums are exact in any order.
        let count = case.batch * case.features * case.width;
        let x: Vec<f32> = (0..count).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
        let kernel: Vec<f32> = (0..case.out * case.features * case.size).map(|i| (i * 5 % 7) as f32 - 3.0).collect();
        let expected = case.expected(&x, &kernel);
        for is_last in [false, true] {
            let module = parse_text(&case.text("f32", is_last)).unwrap();
            verify(&module).unwrap();
            let program = compile(&engine, module);
            let is_kernel = is_last && case.features * case.out > 1;
            assert_eq!(program.steps().contains("convolution"), is_kernel, "{case:?}:\n{}", program.steps());
            let (x, kernel) = if is_last {
                let x = permuted(&x, [case.batch, case.features, case.width], [0, 2, 1]);
                (x, permuted(&kernel, [case.out, case.features, case.size], [2, 1, 0]))
            } else {
                (x.clone(), kernel.clone())
            };
            let results = program.run(vec![shared(&engine, &x), shared(&engine, &kernel)]).unwrap();
            let mut found = values::<f32>(&results[0]);
            if is_last {
                found = permuted(&found, [case.batch, case.places(), case.out], [0, 2, 1]);
            }
            assert_eq!(found, expected, "{case:?}, features last: {is_last}");
        }
    }
}

#[test]
fn narrow_floats_are_rounded_once() {
    let case = Case {
        batch: 1,
        features: 1,
        out: 1,
        width: 6,
        size: 3,
        stride: 1,
        padding: [0, 0],
        dilation: 1,
        reversal: false,
    };
    let engine = Engine::for_isa(None);
    let program = compile(&engine, parse_text(&case.text("bf16", false)).unwrap());
    let bf16 = |x: &[f32]| x.iter().map(|&x| half::bf16::from_f32(x).to_bits()).collect::<Vec<u16>>();
    let (x, kernel) = ([256.0, 1.0, 1.0, -256.0, 3.0, 0.5], [1.0, 1.0, 1.0]);
    let results = program.run(vec![shared(&engine, &bf16(&x)), shared(&engine, &bf16(&kernel))]).unwrap();
    // 256 + 1 alone would be 256.
    assert_eq!(values::<u16>(&results[0]), bf16(&[258.0, -254.0, -252.0, -252.5]));
}
