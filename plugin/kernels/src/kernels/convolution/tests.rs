//! Tests against the definition: each element of the result as a sum over input features and the window, in `f64`.

use oxcall_hlo::{ConvolutionDims, OpKind, WindowDim};

use crate::element::{Complex, Element, bf16};
use crate::kernels::testing::{Random, Single, bytes, elements, indices, ravel, ty};

/// A convolution in logical order: sizes by role.
#[derive(Debug, Clone)]
struct Case {
    batch: usize,
    features: usize,
    out_features: usize,
    feature_groups: usize,
    batch_groups: usize,
    /// Sizes of the input.
    spatial: Vec<usize>,
    window: Vec<WindowDim>,
    /// The order of dimensions of input, kernel and result in memory: dimension `i` of the logical order (batch,
    /// features, spatial; output features, input features, spatial) is dimension `order[i]`.
    orders: [Vec<usize>; 3],
}

impl Case {
    /// The logical sizes of input, kernel and result; `None` if the window does not fit.
    fn sizes(&self) -> Option<[Vec<usize>; 3]> {
        let places = self.spatial.iter().zip(&self.window).map(|(&size, w)| {
            let dilated = if size == 0 { 0 } else { (size as i64 - 1) * w.base_dilation as i64 + 1 };
            let padded = dilated + w.padding_low + w.padding_high;
            let window = (w.size as i64 - 1) * w.window_dilation as i64 + 1;
            if padded < 0 {
                return None;
            }
            Some(if window > padded { 0 } else { ((padded - window) / w.stride as i64 + 1) as usize })
        });
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        let windows = self.window.iter().map(|w| w.size);
        Some([
            [self.batch, self.features].into_iter().chain(self.spatial.iter().copied()).collect(),
            [self.out_features, self.features / self.feature_groups].into_iter().chain(windows).collect(),
            [self.batch / self.batch_groups, self.out_features].into_iter().chain(places).collect(),
        ])
    }

    fn kind(&self) -> OpKind {
        let [input, kernel, output] = &self.orders;
        OpKind::Convolution(ConvolutionDims {
            window: self.window.clone(),
            input_batch: input[0],
            input_feature: input[1],
            input_spatial: input[2..].to_vec(),
            kernel_input_feature: kernel[1],
            kernel_output_feature: kernel[0],
            kernel_spatial: kernel[2..].to_vec(),
            output_batch: output[0],
            output_feature: output[1],
            output_spatial: output[2..].to_vec(),
            feature_groups: self.feature_groups,
            batch_groups: self.batch_groups,
            precision: Vec::new(),
        })
    }

    /// Runs it on elements in logical order, and gives results in logical order.
    fn run<T: Element>(&self, operands: [&[T]; 2]) -> Vec<T> {
        self.run_to::<T, T>(operands)
    }

    fn run_to<T: Element, O: Element>(&self, [input, kernel]: [&[T]; 2]) -> Vec<O> {
        let sizes = self.sizes().unwrap();
        let physical: Vec<Vec<usize>> = (0..3).map(|i| permuted(&sizes[i], &self.orders[i])).collect();
        let place = |i: usize, index: &[usize]| ravel(&permuted(index, &self.orders[i]), &physical[i]);
        let arrange = |i: usize, elements: &[T]| {
            let mut out = elements.to_vec();
            indices(&sizes[i]).zip(elements).for_each(|(index, &element)| out[place(i, &index)] = element);
            bytes(&out)
        };
        let types = [(0, T::TYPE), (1, T::TYPE), (2, O::TYPE)].map(|(i, element)| ty(element, &physical[i]));
        let op = Single::new(self.kind(), &types[..2], &types[2..]);
        let out: Vec<O> = elements(&op.run(&[arrange(0, input), arrange(1, kernel)])[0]);
        indices(&sizes[2]).map(|index| out[place(2, &index)]).collect()
    }

    /// The result by the definition, and the sums of magnitudes.
    fn expected(&self, [input, kernel]: [&[f64]; 2]) -> Vec<(f64, f64)> {
        let [input_sizes, kernel_sizes, out_sizes] = self.sizes().unwrap();
        indices(&out_sizes)
            .map(|out| {
                let mut sums = (0.0, 1e-30);
                for window in indices(&kernel_sizes[1..]) {
                    let group = out[1] / (self.out_features / self.feature_groups);
                    let batch_group = out[1] / (self.out_features / self.batch_groups);
                    let mut index = vec![
                        batch_group * (self.batch / self.batch_groups) + out[0],
                        group * (self.features / self.feature_groups) + window[0],
                    ];
                    let mut there = true;
                    for (d, w) in self.window.iter().enumerate() {
                        let element = if w.reversal { w.size - 1 - window[d + 1] } else { window[d + 1] };
                        let position = (out[d + 2] * w.stride + element * w.window_dilation) as i64 - w.padding_low;
                        there &= position >= 0 && position % w.base_dilation as i64 == 0;
                        index.push((position / w.base_dilation as i64).max(0) as usize);
                        there &= index[d + 2] < self.spatial[d];
                    }
                    if there {
                        let at = [&[out[1]][..], &window].concat();
                        let product = input[ravel(&index, &input_sizes)] * kernel[ravel(&at, &kernel_sizes)];
                        sums = (sums.0 + product, sums.1 + product.abs());
                    }
                }
                sums
            })
            .collect()
    }

    fn check(&self) {
        let Some(sizes) = self.sizes() else { return };
        let mut random = Random(7);
        let mut numbers = |sizes: &[usize]| -> Vec<f64> {
            (0..sizes.iter().product()).map(|_| f64::from(random.float() as f32)).collect()
        };
        let (input, kernel) = (numbers(&sizes[0]), numbers(&sizes[1]));
        let expected = self.expected([&input, &kernel]);
        let narrow = |elements: &[f64]| elements.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let out = self.run([&narrow(&input), &narrow(&kernel)]);
        assert_eq!(out.len(), expected.len());
        for (out, (sum, size)) in out.iter().zip(expected) {
            assert!((f64::from(*out) - sum).abs() <= 1e-6 * size, "{self:?}: {out} for {sum}");
        }
    }
}

/// Dimension `i` goes to `order[i]`.
fn permuted(sizes: &[usize], order: &[usize]) -> Vec<usize> {
    let mut out = vec![0; sizes.len()];
    order.iter().zip(sizes).for_each(|(&to, &size)| out[to] = size);
    out
}

fn window(size: usize, stride: usize, padding: (i64, i64)) -> WindowDim {
    let (padding_low, padding_high) = padding;
    WindowDim { size, stride, padding_low, padding_high, base_dilation: 1, window_dilation: 1, reversal: false }
}

/// Common layouts of two spatial dimensions.
fn layouts() -> [[Vec<usize>; 3]; 3] {
    let [nchw, oihw] = [vec![0, 1, 2, 3], vec![0, 1, 2, 3]];
    let [nhwc, hwio] = [vec![0, 3, 1, 2], vec![3, 2, 0, 1]];
    // JAX's layout for the gradient of the kernel: batch and features swapped, the result as a kernel.
    let gradient = [vec![3, 0, 1, 2], vec![3, 0, 1, 2], vec![2, 3, 0, 1]];
    [[nchw.clone(), oihw, nchw], [nhwc.clone(), hwio, nhwc], gradient]
}

/// Like the gradient of a kernel: few results, each the sum of so many products that these are divided among threads.
/// The number of products is not a multiple of the number of parts, and in the last case the window is reversed.
#[test]
fn long_sums_are_cut() {
    let [.., channels_last, gradient] = layouts();
    for (orders, reversal) in [(channels_last.clone(), false), (gradient, false), (channels_last, true)] {
        Case {
            batch: 8,
            features: 3,
            out_features: 8,
            feature_groups: 1,
            batch_groups: 1,
            spatial: vec![27, 47],
            window: vec![
                WindowDim { reversal, ..window(25, 1, (0, 0)) },
                WindowDim { reversal, ..window(45, 1, (0, 0)) },
            ],
            orders,
        }
        .check();
    }
}

#[test]
fn usual_convolutions() {
    for orders in layouts() {
        let case = Case {
            batch: 2,
            features: 8,
            out_features: 12,
            feature_groups: 1,
            batch_groups: 1,
            spatial: vec![9, 11],
            window: vec![window(3, 1, (1, 1)), window(3, 1, (1, 1))],
            orders,
        };
        case.check();
        Case { window: vec![window(1, 1, (0, 0)); 2], ..case.clone() }.check();
        Case { window: vec![window(1, 2, (0, 0)); 2], ..case.clone() }.check();
        Case { window: vec![window(7, 2, (3, 3)); 2], features: 3, ..case.clone() }.check();
        Case { window: vec![window(8, 1, (0, 0)), window(10, 1, (0, 1))], ..case.clone() }.check();
        Case { feature_groups: 4, ..case.clone() }.check();
        Case { batch_groups: 2, ..case.clone() }.check();
        // Depthwise, also with several results for each feature; its gradient.
        Case { feature_groups: 8, out_features: 8, ..case.clone() }.check();
        Case { feature_groups: 8, out_features: 16, ..case.clone() }.check();
        Case { batch: 9, batch_groups: 9, out_features: 9, ..case.clone() }.check();
        // Larger than a block of patches, in both directions.
        Case { spatial: vec![20, 21], features: 130, out_features: 2, batch: 1, ..case.clone() }.check();
        Case { batch: 0, ..case.clone() }.check();
        Case { features: 0, ..case.clone() }.check();
        Case { window: vec![window(15, 1, (0, 0)); 2], ..case }.check();
    }
}

#[test]
fn random_convolutions_of_any_layout() {
    let mut random = Random(1);
    for _ in 0..200 {
        let rank = random.below(4);
        let (feature_groups, batch_groups) = [(1, 1), (1, 1), (3, 1), (1, 2), (9, 1), (1, 8)][random.below(6)];
        let mut order = || random.permutation(rank + 2);
        let orders = [order(), order(), order()];
        let case = Case {
            batch: batch_groups * (1 + random.below(3)),
            features: feature_groups * (1 + random.below(3)),
            out_features: feature_groups * batch_groups * (1 + random.below(3)),
            feature_groups,
            batch_groups,
            spatial: (0..rank).map(|_| 1 + random.below(11)).collect(),
            window: (0..rank)
                .map(|_| WindowDim {
                    size: 1 + random.below(4),
                    stride: 1 + random.below(3),
                    padding_low: random.between(-2, 4),
                    padding_high: random.between(-2, 4),
                    base_dilation: 1 + random.below(3),
                    window_dilation: 1 + random.below(3),
                    reversal: random.below(2) == 1,
                })
                .collect(),
            orders,
        };
        case.check();
    }
}

fn small() -> Case {
    let [_, orders, _] = layouts();
    Case {
        batch: 2,
        features: 4,
        out_features: 5,
        feature_groups: 1,
        batch_groups: 1,
        spatial: vec![6, 7],
        window: vec![window(3, 1, (1, 1)), window(2, 2, (0, 1))],
        orders,
    }
}

#[test]
fn other_element_types() {
    let case = small();
    let [input_sizes, kernel_sizes, _] = case.sizes().unwrap();
    let mut random = Random(3);
    let mut integers =
        |sizes: &[usize]| -> Vec<f64> { (0..sizes.iter().product()).map(|_| random.between(-5, 6) as f64).collect() };
    let (input, kernel) = (integers(&input_sizes), integers(&kernel_sizes));
    let expected = case.expected([&input, &kernel]);
    let sums: Vec<f64> = expected.iter().map(|(sum, _)| *sum).collect();

    // Small integers are exact in every type; in bytes, modulo 256.
    let doubles = case.run::<f64>([&input, &kernel]);
    assert_eq!(doubles, sums);
    let cast = |elements: &[f64]| elements.iter().map(|&x| x as i8).collect::<Vec<i8>>();
    let wrapped: Vec<i8> = sums.iter().map(|&x| x as i64 as i8).collect();
    assert_eq!(case.run::<i8>([&cast(&input), &cast(&kernel)]), wrapped);
    let exact: Vec<i32> = sums.iter().map(|&x| x as i32).collect();
    assert_eq!(case.run_to::<i8, i32>([&cast(&input), &cast(&kernel)]), exact);
    let cast = |elements: &[f64]| elements.iter().map(|&x| bf16::from_f64(x)).collect::<Vec<bf16>>();
    assert_eq!(case.run::<bf16>([&cast(&input), &cast(&kernel)]), cast(&sums));
    let turned = |elements: &[f64]| elements.iter().map(|&x| Complex::new(0.0, x as f32)).collect::<Vec<_>>();
    let negative: Vec<Complex<f32>> = sums.iter().map(|&x| Complex::new(-x as f32, 0.0)).collect();
    assert_eq!(case.run::<Complex<f32>>([&turned(&input), &turned(&kernel)]), negative);
}
