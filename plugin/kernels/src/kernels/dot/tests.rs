//! Tests against the definition: each element of the result as a sum over indices, in `f64` or `i128`.

use num_complex::Complex;
use oxcall_hlo::{DotAlgorithm, DotDims, ElementType, OpKind};

use super::Number;
use crate::element::{Element, F8E4M3FN, Pred, S4, bf16, f16};
use crate::kernels::testing::{Random, Single, bytes, elements, indices, ty};
use crate::math::level::with_level;

/// A dot product's dimension numbers and sizes.
struct Case {
    lhs: &'static [usize],
    rhs: &'static [usize],
    batching: [&'static [usize]; 2],
    contracting: [&'static [usize]; 2],
}

/// Every memory layout, and every size with its own code path.
const CASES: &[Case] = &[
    case(&[3, 4], &[4, 5], [&[], &[]], [&[1], &[0]]),
    case(&[4, 3], &[5, 4], [&[], &[]], [&[0], &[1]]),
    case(&[40, 33], &[33, 37], [&[], &[]], [&[1], &[0]]),
    case(&[33, 40], &[37, 33], [&[], &[]], [&[0], &[1]]),
    case(&[40, 33], &[37, 33], [&[], &[]], [&[1], &[1]]),
    case(&[70, 300], &[300, 270], [&[], &[]], [&[1], &[0]]),
    // At most one tile wide.
    case(&[9, 40], &[40, 16], [&[], &[]], [&[1], &[0]]),
    case(&[23, 150], &[150, 13], [&[], &[]], [&[1], &[0]]),
    case(&[301, 8], &[8, 8], [&[], &[]], [&[1], &[1]]),
    case(&[303, 15], &[15, 5], [&[], &[]], [&[1], &[0]]),
    case(&[70, 2], &[2, 9], [&[], &[]], [&[1], &[0]]),
    case(&[67, 33], &[33, 4], [&[], &[]], [&[1], &[0]]),
    case(&[40_001, 16], &[16, 4], [&[], &[]], [&[1], &[0]]),
    // A few columns by a few elements.
    case(&[301, 4], &[4, 4], [&[], &[]], [&[1], &[0]]),
    case(&[302, 3], &[3, 3], [&[], &[]], [&[1], &[1]]),
    case(&[40_001, 8], &[8, 2], [&[], &[]], [&[1], &[0]]),
    case(&[65, 7], &[7, 3], [&[], &[]], [&[1], &[0]]),
    case(&[301, 2, 3], &[3, 2, 4], [&[], &[]], [&[1, 2], &[1, 0]]),
    // Long sums of a few columns by a few: all layouts, whole pieces and others, slices of wider rows.
    case(&[4096, 8], &[4096, 8], [&[], &[]], [&[0], &[0]]),
    case(&[5003, 3], &[5003, 16], [&[], &[]], [&[0], &[0]]),
    case(&[11, 2500], &[2500, 5], [&[], &[]], [&[1], &[0]]),
    case(&[2, 9001], &[7, 9001], [&[], &[]], [&[1], &[1]]),
    case(&[2100, 16], &[13, 2100], [&[], &[]], [&[0], &[1]]),
    case(&[2200, 3, 5], &[3, 2200, 4], [&[1], &[0]], [&[0], &[1]]),
    // A right operand whose columns are dense, which is copied.
    case(&[70, 300], &[270, 300], [&[], &[]], [&[1], &[1]]),
    case(&[3, 20, 70], &[3, 90, 70], [&[0], &[0]], [&[2], &[2]]),
    // Vectors, in both orders of the matrix; products of vectors; scalars.
    case(&[70], &[70, 31], [&[], &[]], [&[0], &[0]]),
    case(&[70], &[31, 70], [&[], &[]], [&[0], &[1]]),
    case(&[31, 70], &[70], [&[], &[]], [&[1], &[0]]),
    case(&[70, 31], &[70], [&[], &[]], [&[0], &[0]]),
    case(&[700, 310], &[700], [&[], &[]], [&[0], &[0]]),
    case(&[700, 310], &[310], [&[], &[]], [&[1], &[0]]),
    case(&[40_001, 3], &[40_001], [&[], &[]], [&[0], &[0]]),
    case(&[100_003], &[100_003], [&[], &[]], [&[0], &[0]]),
    // Rows shorter than lanes, side by side and apart.
    case(&[301, 2], &[2], [&[], &[]], [&[1], &[0]]),
    case(&[301, 3], &[3], [&[], &[]], [&[1], &[0]]),
    case(&[302, 5], &[5], [&[], &[]], [&[1], &[0]]),
    case(&[303, 8], &[8], [&[], &[]], [&[1], &[0]]),
    case(&[303, 9], &[9], [&[], &[]], [&[1], &[0]]),
    case(&[301, 13], &[13], [&[], &[]], [&[1], &[0]]),
    case(&[302, 16], &[16], [&[], &[]], [&[1], &[0]]),
    case(&[303, 17], &[17], [&[], &[]], [&[1], &[0]]),
    case(&[301, 2, 11], &[2, 11], [&[1], &[0]], [&[2], &[1]]),
    // A few columns, one or several sixteens of them, in all layouts.
    case(&[70, 133], &[133, 6], [&[], &[]], [&[1], &[0]]),
    case(&[300, 65], &[65, 3], [&[], &[]], [&[1], &[0]]),
    case(&[65, 70], &[65, 20], [&[], &[]], [&[0], &[0]]),
    case(&[70, 65], &[33, 65], [&[], &[]], [&[1], &[1]]),
    case(&[70, 130], &[130, 64], [&[], &[]], [&[1], &[0]]),
    case(&[3, 40, 20], &[3, 20, 5], [&[0], &[0]], [&[2], &[1]]),
    case(&[301, 2, 4], &[2, 4], [&[1], &[0]], [&[2], &[1]]),
    case(&[301, 3, 7], &[3, 7], [&[1], &[0]], [&[2], &[1]]),
    case(&[50], &[60], [&[], &[]], [&[], &[]]),
    case(&[], &[], [&[], &[]], [&[], &[]]),
    case(&[], &[3], [&[], &[]], [&[], &[]]),
    // Batches: outside, between, many small ones, one element each.
    case(&[2, 20, 30], &[2, 30, 10], [&[0], &[0]], [&[2], &[1]]),
    case(&[2, 8, 4, 16], &[2, 9, 4, 16], [&[0, 2], &[0, 2]], [&[3], &[3]]),
    case(&[500, 3, 4], &[500, 4, 2], [&[0], &[0]], [&[2], &[1]]),
    case(&[4, 30, 3], &[2, 30, 4], [&[1], &[1]], [&[0], &[2]]),
    case(&[301, 3, 3], &[301, 3], [&[0], &[0]], [&[2], &[1]]),
    case(&[301, 3, 4], &[301, 2, 4], [&[0], &[0]], [&[2], &[2]]),
    case(&[301, 2, 3], &[301, 5, 3], [&[0], &[0]], [&[2], &[2]]),
    case(&[2, 301, 3], &[3, 301], [&[1], &[1]], [&[2], &[0]]),
    case(&[300], &[300], [&[0], &[0]], [&[], &[]]),
    case(&[12, 20, 30], &[12, 30], [&[0], &[0]], [&[2], &[1]]),
    // Several contracted and free dimensions, some of which strides cannot merge.
    case(&[3, 4, 5], &[4, 5, 6], [&[], &[]], [&[1, 2], &[0, 1]]),
    case(&[3, 4, 5], &[5, 4, 6], [&[], &[]], [&[1, 2], &[1, 0]]),
    case(&[8, 9, 10], &[9, 11], [&[], &[]], [&[1], &[0]]),
    case(&[2, 3, 4, 5], &[5, 2, 7, 3], [&[1], &[3]], [&[0, 3], &[1, 0]]),
    // Nothing to sum, and nothing at all.
    case(&[3, 0], &[0, 5], [&[], &[]], [&[1], &[0]]),
    case(&[0, 4], &[4, 5], [&[], &[]], [&[1], &[0]]),
    case(&[0, 3, 4], &[0, 4, 5], [&[0], &[0]], [&[2], &[1]]),
];

const fn case(
    lhs: &'static [usize],
    rhs: &'static [usize],
    batching: [&'static [usize]; 2],
    contracting: [&'static [usize]; 2],
) -> Case {
    Case { lhs, rhs, batching, contracting }
}

impl Case {
    fn dims(&self) -> DotDims {
        DotDims {
            lhs_batching: self.batching[0].to_vec(),
            rhs_batching: self.batching[1].to_vec(),
            lhs_contracting: self.contracting[0].to_vec(),
            rhs_contracting: self.contracting[1].to_vec(),
            precision: Vec::new(),
            algorithm: None,
        }
    }

    /// The dimensions of an operand that the result has.
    fn free(&self, side: usize) -> Vec<usize> {
        let rank = [self.lhs, self.rhs][side].len();
        (0..rank).filter(|dim| !self.batching[side].contains(dim) && !self.contracting[side].contains(dim)).collect()
    }

    fn out(&self) -> Vec<usize> {
        let batch = self.batching[0].iter().map(|&dim| self.lhs[dim]);
        let lhs = self.free(0).into_iter().map(|dim| self.lhs[dim]);
        let rhs = self.free(1).into_iter().map(|dim| self.rhs[dim]);
        batch.chain(lhs).chain(rhs).collect()
    }

    /// The result by the definition.
    fn expected<T: Copy, S>(&self, lhs: &[T], rhs: &[T], zero: impl Fn() -> S, add: impl Fn(S, T, T) -> S) -> Vec<S> {
        // The place in an operand of an index of some of its dimensions, the others being 0.
        let place = |side: usize, dims: &[usize], index: &[usize]| -> usize {
            let sizes = [self.lhs, self.rhs][side];
            dims.iter().zip(index).map(|(&dim, at)| at * count(&sizes[dim + 1..])).sum()
        };
        let contracted: Vec<usize> = self.contracting[0].iter().map(|&dim| self.lhs[dim]).collect();
        let inner: Vec<[usize; 2]> =
            indices(&contracted).map(|index| [0, 1].map(|side| place(side, self.contracting[side], &index))).collect();
        let outer = [0, 1].map(|side| [self.batching[side], &self.free(side)].concat());
        let batches = self.batching[0].len();
        indices(&self.out())
            .map(|index| {
                let rest = index[..batches].iter().chain(&index[outer[0].len()..]).copied().collect::<Vec<_>>();
                let [l, r] = [place(0, &outer[0], &index), place(1, &outer[1], &rest)];
                inner.iter().fold(zero(), |sum, at| add(sum, lhs[l + at[0]], rhs[r + at[1]]))
            })
            .collect()
    }
}

fn numbers(count: usize, seed: u64) -> impl Iterator<Item = f64> {
    let mut random = Random(seed);
    (0..count).map(move |_| random.float())
}

fn count(dims: &[usize]) -> usize {
    dims.iter().product()
}

fn run_case<T: Element, O: Element>(case: &Case, dims: DotDims, lhs: &[T], rhs: &[T]) -> Vec<O> {
    let operands = [ty(T::TYPE, case.lhs), ty(T::TYPE, case.rhs)];
    let op = Single::new(OpKind::DotGeneral(dims), &operands, &[ty(O::TYPE, &case.out())]);
    elements(&op.run(&[bytes(lhs), bytes(rhs)])[0])
}

/// Floats `T` against sums in `f64`; the error is relative to the sum of magnitudes, or that of a subnormal result.
fn check_floats<T: Element, O: Element>(tolerance: f64, dims: impl Fn(&Case) -> DotDims)
where
    T::Wide: From<f32> + Into<f64>,
    O::Wide: Into<f64>,
{
    for case in CASES {
        let make = |sizes: &[usize], seed| -> Vec<T> {
            numbers(count(sizes), seed).map(|x| T::narrow(T::Wide::from(x as f32))).collect()
        };
        let (lhs, rhs) = (make(case.lhs, 1), make(case.rhs, 2));
        let expected = case.expected(
            &lhs,
            &rhs,
            || (0.0, 1e-30),
            |(sum, size), a, b| {
                let product = a.widen().into() * b.widen().into();
                (sum + product, size + f64::abs(product))
            },
        );
        let out: Vec<O> = run_case(case, dims(case), &lhs, &rhs);
        assert_eq!(out.len(), expected.len());
        for (out, (sum, size)) in out.iter().zip(expected) {
            let error = (out.widen().into() - sum).abs();
            let subnormal = if O::TYPE.bits() == 8 { 2f64.powi(-10) } else { 0.0 };
            assert!(error <= tolerance * size + subnormal, "{:?} {:?}: {error:e}", case.lhs, case.rhs);
        }
    }
}

#[test]
fn floats_of_every_width() {
    check_floats::<f32, f32>(1e-6, Case::dims);
    check_floats::<f64, f64>(2e-15, Case::dims);
    check_floats::<f16, f16>(1e-3, Case::dims);
    check_floats::<bf16, bf16>(5e-3, Case::dims);
    check_floats::<F8E4M3FN, F8E4M3FN>(0.07, Case::dims);
}

#[test]
fn narrow_floats_are_summed_in_wide_ones() {
    check_floats::<bf16, f32>(1e-6, Case::dims);
    check_floats::<f16, f32>(1e-6, Case::dims);
    check_floats::<f32, f64>(2e-15, Case::dims);
    check_floats::<F8E4M3FN, bf16>(5e-3, Case::dims);
}

#[test]
fn an_algorithm_may_ask_for_more() {
    let with = |case: &Case, accumulation| {
        let algorithm = DotAlgorithm {
            lhs_precision: Some(ElementType::BF16),
            rhs_precision: Some(ElementType::BF16),
            accumulation,
            lhs_components: 3,
            rhs_components: 3,
            primitive_operations: 6,
            allow_imprecise_accumulation: false,
        };
        DotDims { algorithm: Some(algorithm), ..case.dims() }
    };
    check_floats::<f32, f32>(1e-6, |case| with(case, Some(ElementType::F32)));
    check_floats::<f32, f32>(1e-6, |case| with(case, None));
    check_floats::<f32, f32>(6.1e-8, |case| with(case, Some(ElementType::F64)));
}

fn check_complex<F>(tolerance: f64)
where
    F: num_traits::Float + Into<f64> + 'static,
    Complex<F>: Element,
{
    for case in CASES {
        let make = |sizes: &[usize], seed| -> Vec<Complex<F>> {
            let parts: Vec<F> = numbers(2 * count(sizes), seed).map(|x| F::from(x).unwrap()).collect();
            parts.chunks(2).map(|parts| Complex::new(parts[0], parts[1])).collect()
        };
        let (lhs, rhs) = (make(case.lhs, 3), make(case.rhs, 4));
        let wide = |z: Complex<F>| Complex::<f64>::new(z.re.into(), z.im.into());
        let expected = case.expected(
            &lhs,
            &rhs,
            || (Complex::new(0.0, 0.0), 1e-30),
            |(sum, size), a, b| (sum + wide(a) * wide(b), size + (wide(a) * wide(b)).norm()),
        );
        let out: Vec<Complex<F>> = run_case(case, case.dims(), &lhs, &rhs);
        for (out, (sum, size)) in out.iter().zip(expected) {
            assert!((wide(*out) - sum).norm() <= tolerance * size, "{:?} {:?}", case.lhs, case.rhs);
        }
    }
}

#[test]
fn complex_numbers() {
    check_complex::<f32>(2e-6);
    check_complex::<f64>(4e-15);
}

/// Integers with all bits in use: sums wrap to the result's width.
fn check_integers<T: Element, O: Element>(
    from: impl Fn(i64) -> T,
    value: impl Fn(T) -> i128,
    wrap: impl Fn(i128) -> O,
) {
    for case in CASES {
        let make = |sizes: &[usize], seed| -> Vec<T> {
            numbers(count(sizes), seed).map(|x| from((x * 9e18) as i64 >> 7)).collect()
        };
        let (lhs, rhs) = (make(case.lhs, 5), make(case.rhs, 6));
        let add = |sum: i128, a, b| sum.wrapping_add(value(a).wrapping_mul(value(b)));
        let expected: Vec<O> = case.expected(&lhs, &rhs, || 0i128, add).into_iter().map(&wrap).collect();
        let out: Vec<O> = run_case(case, case.dims(), &lhs, &rhs);
        assert!(out == expected, "{:?} {:?} {:?}", O::TYPE, case.lhs, case.rhs);
    }
}

#[test]
fn integers_wrap() {
    check_integers(|x| x as i8, i128::from, |sum| sum as i8);
    check_integers(|x| x as i8, i128::from, |sum| sum as i32);
    check_integers(|x| x as u16, i128::from, |sum| sum as u16);
    check_integers(|x| x as i32, i128::from, |sum| sum as i32);
    check_integers(|x| x as u32, i128::from, |sum| sum as u32);
    check_integers(|x| x, i128::from, |sum| sum as i64);
    check_integers(|x| x as u64, i128::from, |sum| sum as u64);
    check_integers(|x| S4::narrow(x as i8), |x| i128::from(x.get()), |sum| S4::narrow(sum as i8));
}

#[test]
fn narrow_integers_are_multiplied_exactly() {
    check_integers(|x| x as u8, i128::from, |sum| sum as i32);
    check_integers(|x| x as u8, i128::from, |sum| sum as i64);
    check_integers(|x| x as i16, i128::from, |sum| sum as i32);
    check_integers(|x| x as i16, i128::from, |sum| sum as i64);
    check_integers(|x| x as u16, i128::from, |sum| sum as i64);
    check_integers(|x| S4::narrow(x as i8), |x| i128::from(x.get()), |sum| sum as i32);
    check_integers(|x| Pred((x & 1) as u8), |x| i128::from(x.0), |sum| sum as i32);
    // The largest sums that floats have, and those beyond.
    for terms in [1024, 1025, 65_536, 65_537, 131_072] {
        for (x, y) in [(i8::MIN, i8::MIN), (i8::MIN, i8::MAX)] {
            let (dims, sizes) = (case(&[1], &[1], [&[], &[]], [&[0], &[0]]).dims(), [terms]);
            let operands = [ty(ElementType::S8, &sizes), ty(ElementType::S8, &sizes)];
            let op = Single::new(OpKind::DotGeneral(dims), &operands, &[ty(ElementType::S32, &[])]);
            let out: Vec<i32> = elements(&op.run(&[bytes(&vec![x; terms]), bytes(&vec![y; terms])])[0]);
            assert_eq!(out, [(i64::from(x) * i64::from(y) * terms as i64) as i32], "{x} {y} {terms}");
        }
    }
}

#[test]
fn long_sums_of_narrow_integers_wrap() {
    const LONG: &[Case] = &[
        case(&[3, 1025], &[1025, 5], [&[], &[]], [&[1], &[0]]),
        case(&[2049, 3], &[7, 2049], [&[], &[]], [&[0], &[1]]),
        case(&[70, 2050], &[33, 2050], [&[], &[]], [&[1], &[1]]),
        case(&[9, 2, 1030], &[9, 1030, 2], [&[0], &[0]], [&[2], &[1]]),
        case(&[2, 3000], &[3000], [&[], &[]], [&[1], &[0]]),
    ];
    fn check<T: Element, O: Element>(extremes: [T; 2], value: impl Fn(T) -> i128, wrap: impl Fn(i128) -> O) {
        for case in LONG {
            // Most products are the largest ones, so that sums leave the range of 24 bits, and of 31.
            let make = |sizes: &[usize], seed| -> Vec<T> {
                numbers(count(sizes), seed).map(|x| extremes[usize::from(x > 0.2)]).collect()
            };
            let (lhs, rhs) = (make(case.lhs, 7), make(case.rhs, 8));
            let add = |sum: i128, a, b| sum + value(a) * value(b);
            let expected: Vec<O> = case.expected(&lhs, &rhs, || 0, add).into_iter().map(&wrap).collect();
            let out: Vec<O> = run_case(case, case.dims(), &lhs, &rhs);
            assert!(out == expected, "{:?} {:?} {:?} {:?}", T::TYPE, O::TYPE, case.lhs, case.rhs);
        }
    }
    check([i8::MAX, i8::MIN], i128::from, |sum| sum as i32);
    check([u8::MAX - 1, u8::MAX], i128::from, |sum| sum as i32);
    check([u8::MAX - 1, u8::MAX], i128::from, |sum| sum as u32);
    check([i16::MAX, i16::MIN], i128::from, |sum| sum as i32);
}

#[test]
fn booleans_are_or_of_and() {
    check_integers(|x| Pred((x & 1) as u8), |x| i128::from(x.0), |sum| Pred(u8::from(sum != 0)));
    // 256 true products are true, whatever the width of a sum.
    let ones = vec![Pred(1); 256];
    let case = case(&[256], &[256], [&[], &[]], [&[0], &[0]]);
    assert_eq!(run_case::<Pred, Pred>(&case, case.dims(), &ones, &ones), [Pred(1)]);
}

#[test]
fn infinities_and_nan_go_through() {
    let case = case(&[2, 2], &[2, 2], [&[], &[]], [&[1], &[0]]);
    let lhs = [f32::INFINITY, 0.0, 1.0, f32::NAN];
    let out: Vec<f32> = run_case(&case, case.dims(), &lhs, &[0.0, 1.0, 2.0, 3.0]);
    assert!(out[0].is_nan() && out[1] == f32::INFINITY && out[2].is_nan() && out[3].is_nan());
}

/// Products that use blocks: ragged tiles, blocks and parts, packed operands in several pieces, and every layout.
const LARGE: &[Case] = &[
    case(&[256, 257], &[257, 64], [&[], &[]], [&[1], &[0]]),
    case(&[257, 300], &[300, 65], [&[], &[]], [&[1], &[0]]),
    case(&[300, 385], &[100, 385], [&[], &[]], [&[1], &[1]]),
    case(&[385, 391], &[385, 130], [&[], &[]], [&[0], &[0]]),
    case(&[260, 390], &[79, 260], [&[], &[]], [&[0], &[1]]),
    case(&[259, 2100], &[2100, 66], [&[], &[]], [&[1], &[0]]),
    case(&[256, 258], &[258, 2070], [&[], &[]], [&[1], &[0]]),
    // A vector, and a few, by a matrix in every layout.
    case(&[1, 700], &[700, 401], [&[], &[]], [&[1], &[0]]),
    case(&[700], &[401, 700], [&[], &[]], [&[0], &[1]]),
    case(&[3, 700], &[700, 401], [&[], &[]], [&[1], &[0]]),
    case(&[700, 3], &[700, 401], [&[], &[]], [&[0], &[0]]),
    case(&[5, 703], &[401, 703], [&[], &[]], [&[1], &[1]]),
    case(&[403, 701], &[701, 7], [&[], &[]], [&[1], &[0]]),
    case(&[701, 402], &[701, 2], [&[], &[]], [&[0], &[0]]),
    case(&[8, 130], &[130, 9001], [&[], &[]], [&[1], &[0]]),
    case(&[2, 4, 700], &[2, 700, 403], [&[0], &[0]], [&[2], &[1]]),
    // Batches, which threads divide, and rows that are apart in both operands.
    case(&[9, 260, 258], &[9, 258, 70], [&[0], &[0]], [&[2], &[1]]),
    case(&[260, 2, 258], &[258, 2, 70], [&[1], &[1]], [&[2], &[0]]),
];

#[test]
fn large_products_of_integers_are_exact() {
    for case in LARGE {
        let make = |sizes: &[usize], seed| -> Vec<f32> {
            numbers(count(sizes), seed).map(|x| (x * 40.0).round() as f32).collect()
        };
        let (lhs, rhs) = (make(case.lhs, 11), make(case.rhs, 12));
        // No sum leaves the range of 24 bits, so any order gives it.
        let expected = case.expected(&lhs, &rhs, || 0, |sum, a, b| sum + (a * b) as i64);
        let out: Vec<f32> = run_case(case, case.dims(), &lhs, &rhs);
        let expected: Vec<f32> = expected.into_iter().map(|x| x as f32).collect();
        assert!(out == expected, "{:?} {:?}", case.lhs, case.rhs);
    }
}

/// The bits of blocks: parts of sums as even as can be, of at most 128 products, added in order, on each number of
/// threads. The right operand is packed in two pieces.
#[test]
fn large_products_add_parts_in_order() {
    let case = case(&[259, 1100], &[1100, 83], [&[], &[]], [&[1], &[0]]);
    let make = |sizes: &[usize], seed| numbers(count(sizes), seed).map(|x| x as f32).collect::<Vec<f32>>();
    let (lhs, rhs) = (make(case.lhs, 21), make(case.rhs, 22));
    let add = |sum: f32, &[a, b]: &[f32; 2]| with_level!(L => sum.plus_fused::<L>(a, b));
    let sum = |at: usize| {
        let (row, column) = (&lhs[at / 83 * 1100..][..1100], at % 83);
        let products: Vec<[f32; 2]> = row.iter().zip(rhs[column..].iter().step_by(83)).map(|(&a, &b)| [a, b]).collect();
        let part = |products: &[[f32; 2]]| products.iter().fold(0.0, add);
        products.chunks(1100_usize.div_ceil(9)).map(part).reduce(|sum, part| sum + part)
    };
    let expected: Vec<f32> = (0..259 * 83).filter_map(sum).collect();
    let operands = [ty(ElementType::F32, case.lhs), ty(ElementType::F32, case.rhs)];
    let op = Single::new(OpKind::DotGeneral(case.dims()), &operands, &[ty(ElementType::F32, &case.out())]);
    let operands = [bytes(&lhs), bytes(&rhs)];
    assert!(op.run_alone(&operands) == [bytes(&expected)], "one thread");
    assert!(op.run(&operands) == [bytes(&expected)], "several threads");
}

#[test]
fn large_products_keep_infinities_and_nan_in_their_rows() {
    let case = case(&[257, 300], &[300, 70], [&[], &[]], [&[1], &[0]]);
    let (mut lhs, rhs) = (vec![1f32; 257 * 300], vec![1f32; 300 * 70]);
    lhs[255 * 300 + 299] = f32::INFINITY;
    lhs[256 * 300] = f32::NAN;
    let out: Vec<f32> = run_case(&case, case.dims(), &lhs, &rhs);
    let (finite, rest) = out.split_at(255 * 70);
    assert!(finite.iter().all(|&x| x == 300.0));
    assert!(rest[..70].iter().all(|&x| x == f32::INFINITY) && rest[70..].iter().all(|x| x.is_nan()));
}

/// The error of one sum of `k` products is about `sqrt(k / 2)` times 0.25 units of `f32::EPSILON`: 1.4 for 64 terms.
/// XLA:CPU's is 0.71 for 16 x 64 x 16, 0.91 for 8 x 120 x 8 and 1.36 for 8 x 300 x 8.
#[test]
fn narrow_products_are_summed_in_parts() {
    for (case, seeds, bound) in [
        (case(&[16, 64], &[64, 16], [&[], &[]], [&[1], &[0]]), 19, 0.85),
        (case(&[64, 64], &[64, 16], [&[], &[]], [&[1], &[0]]), 19, 0.85),
        (case(&[8, 120], &[120, 8], [&[], &[]], [&[1], &[0]]), 19, 0.9),
        (case(&[16, 127], &[127, 16], [&[], &[]], [&[1], &[0]]), 19, 0.95),
        (case(&[8, 300], &[300, 8], [&[], &[]], [&[1], &[0]]), 19, 1.0),
        // Blocks: one sum would have 4.
        (case(&[256, 514], &[514, 64], [&[], &[]], [&[1], &[0]]), 3, 2.3),
    ] {
        let (mut errors, mut squares) = (0.0, 0.0);
        for seed in 1..=seeds {
            let make = |sizes: &[usize], seed| numbers(count(sizes), seed).map(|x| x as f32).collect::<Vec<_>>();
            let (lhs, rhs) = (make(case.lhs, 2 * seed), make(case.rhs, 2 * seed + 1));
            let exact = case.expected(&lhs, &rhs, || 0.0, |sum, a, b| sum + f64::from(a) * f64::from(b));
            let out: Vec<f32> = run_case(&case, case.dims(), &lhs, &rhs);
            errors += out.iter().zip(&exact).map(|(&out, exact)| (f64::from(out) - exact).powi(2)).sum::<f64>();
            squares += exact.iter().map(|exact| exact * exact).sum::<f64>();
        }
        let error = (errors / squares).sqrt() / f64::from(f32::EPSILON);
        assert!(error <= bound, "{:?} {:?}: {error} eps", case.lhs, case.rhs);
    }
}

/// A product of vectors by the order in which matrices by vectors add: rows that are computed four at a time in chains
/// of chunks, the last ones in four sums.
fn row_by_vector<T: Number>(row: &[T], vector: &[T], is_in_four: bool) -> T {
    const LANES: usize = 16;
    let whole = vector.len() / LANES * LANES;
    let rest = row[whole..].iter().zip(&vector[whole..]).enumerate();
    let mut sums = [[T::ZERO; LANES]; 4];
    if is_in_four {
        for (row, vector) in row[..whole].chunks(8 * LANES).zip(vector.chunks(8 * LANES)) {
            let mut chain = [T::ZERO; LANES];
            for (i, (&a, &b)) in row.iter().zip(vector).enumerate() {
                chain[i % LANES] = chain[i % LANES].plus_product(a, b);
            }
            sums[0].iter_mut().zip(chain).for_each(|(sum, part)| *sum = sum.plus(part));
        }
        rest.for_each(|(lane, (&a, &b))| sums[0][lane] = sums[0][lane].plus_product(a, b));
    } else {
        for (i, (&a, &b)) in row[..whole].iter().zip(vector).enumerate() {
            let is_whole = i < whole / (4 * LANES) * (4 * LANES);
            let sum = &mut sums[if is_whole { i / LANES % 4 } else { 0 }][i % LANES];
            *sum = sum.plus_product(a, b);
        }
        rest.for_each(|(lane, (&a, &b))| sums[1][lane] = sums[1][lane].plus_product(a, b));
    }
    let [s0, s1, s2, s3] = sums;
    let mut lanes: Vec<T> = (0..LANES).map(|lane| s0[lane].plus(s1[lane]).plus(s2[lane].plus(s3[lane]))).collect();
    while lanes.len() > 1 {
        let (low, high) = lanes.split_at(lanes.len() / 2);
        lanes = low.iter().zip(high).map(|(&low, &high)| low.plus(high)).collect();
    }
    lanes[0]
}

fn check_row_orders<T: Number + Element>(narrow: impl Fn(f64) -> T) {
    const MATRICES: &[&[usize]] =
        &[&[64, 64], &[65, 40], &[66, 79], &[67, 130], &[83, 257], &[128, 1000], &[70, 1023], &[99, 31]];
    for &dims in MATRICES {
        let &[rows, len] = dims else { unreachable!("matrices have two dimensions") };
        let case = Case { lhs: dims, rhs: &dims[1..], batching: [&[], &[]], contracting: [&[1], &[0]] };
        let make = |sizes: &[usize], seed| numbers(count(sizes), seed).map(&narrow).collect::<Vec<T>>();
        let (lhs, rhs) = (make(case.lhs, 1), make(case.rhs, 2));
        let out: Vec<T> = run_case(&case, case.dims(), &lhs, &rhs);
        let expected = lhs.chunks(len).enumerate().map(|(i, row)| row_by_vector(row, &rhs, i < rows / 4 * 4));
        assert_eq!(bytes(&out), bytes(&expected.collect::<Vec<T>>()), "{dims:?}");
    }
}

#[test]
fn rows_by_a_vector_are_summed_in_order() {
    check_row_orders(|x| x as f32);
    check_row_orders(|x| x);
    check_row_orders(|x| Complex::new(x as f32, (1.0 - x) as f32));
}

/// A row is read beyond its end, and what is there stays out of its sum.
#[test]
fn infinities_of_other_rows_stay_there() {
    for terms in [12, 17, 31, 40, 130] {
        for special in [f32::INFINITY, f32::NAN] {
            let element = |i: usize| if i / terms % 2 == 1 { special } else { (i % 7) as f32 };
            let data: Vec<f32> = (0..21 * terms).map(element).collect();
            let vector: Vec<f32> = (0..terms).map(|i| (i % 5) as f32 - 2.0).collect();
            let mut out = vec![0.0; 21];
            super::vector::add_dots(&data, terms, &vector, &mut out);
            for (row, found) in out.into_iter().enumerate() {
                let expected: f32 = data[row * terms..][..terms].iter().zip(&vector).map(|(a, b)| a * b).sum();
                assert!(if row % 2 == 1 { !found.is_finite() } else { found == expected }, "row {row} of {terms}");
            }
        }
    }
}

#[test]
fn rows_by_a_vector_for_every_count() {
    let small = |index: usize| (index % 13) as f32 - 6.0;
    for terms in [9, 16, 31, 128, 131, 300] {
        let stride = terms + 3;
        let data: Vec<f32> = (0..21 * stride).map(small).collect();
        let halves: Vec<bf16> = data.iter().map(|&element| bf16::from_f32(element)).collect();
        let vector: Vec<f32> = (0..terms).map(|index| small(index * 5)).collect();
        for rows in 0..=21 {
            let mut out = vec![1.0; rows];
            super::vector::add_dots(&data, stride, &vector, &mut out);
            let mut of_halves = vec![1.0; rows];
            super::vector::add_dots(&halves, stride, &vector, &mut of_halves);
            // Sums of small integers are exact in any order.
            let expected = |row: &[f32]| 1.0 + row.iter().zip(&vector).map(|(a, b)| a * b).sum::<f32>();
            let expected: Vec<f32> = data.chunks(stride).take(rows).map(expected).collect();
            assert_eq!(out, expected, "{rows} rows of {terms}");
            assert_eq!(of_halves, expected, "{rows} rows of {terms} bf16");
        }
    }
}
