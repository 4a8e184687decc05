//! Tests against the definition, in `f64`.

use std::f64::consts::TAU;

use oxcall_hlo::{FftType, OpKind};

use super::Real;
use crate::element::{Complex, Element};
use crate::kernels::testing::{Random, Single, bytes, elements, indices, ravel, ty};

/// The transform of the last dimensions `lengths`, without a factor.
fn transform(input: &[Complex<f64>], lengths: &[usize], sign: f64) -> Vec<Complex<f64>> {
    let one = |input: &[Complex<f64>]| -> Vec<Complex<f64>> {
        indices(lengths)
            .map(|out| {
                let terms = indices(lengths).zip(input).map(|(at, x)| {
                    let turns: f64 =
                        (at.iter().zip(&out).zip(lengths)).map(|((a, b), n)| (a * b % n) as f64 / *n as f64).sum();
                    Complex::from_polar(1.0, sign * TAU * turns) * x
                });
                terms.sum()
            })
            .collect()
    };
    input.chunks(lengths.iter().product()).flat_map(one).collect()
}

/// The elements of the last dimension's first half, `n / 2 + 1` of `n`.
fn half<T: Copy>(full: &[T], length: usize) -> Vec<T> {
    full.chunks(length).flat_map(|line| line[..length / 2 + 1].to_vec()).collect()
}

fn run<T: Element, O: Element>(fft_type: FftType, lengths: &[usize], dims: [&[usize]; 2], input: &[T]) -> Vec<O> {
    let kind = OpKind::Fft { fft_type, lengths: lengths.to_vec() };
    let op = Single::new(kind, &[ty(T::TYPE, dims[0])], &[ty(O::TYPE, dims[1])]);
    elements(&op.run(&[bytes(input)])[0])
}

fn assert_close(out: &[Complex<f64>], expected: &[Complex<f64>], tolerance: f64, what: &str) {
    assert_eq!(out.len(), expected.len(), "{what}");
    let size = expected.iter().map(|z| z.norm()).fold(1e-30, f64::max);
    for (out, expected) in out.iter().zip(expected) {
        assert!((out - expected).norm() <= tolerance * size, "{what}: {out} for {expected}");
    }
}

fn check<F: Real + Into<f64>>(batch: &[usize], lengths: &[usize], tolerance: f64)
where
    Complex<F>: Element,
{
    let narrow = |x: &Complex<f64>| Complex::new(F::from_f64(x.re).unwrap(), F::from_f64(x.im).unwrap());
    let wide = |out: Vec<Complex<F>>| -> Vec<Complex<f64>> {
        out.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect()
    };
    let full = [batch, lengths].concat();
    let last = lengths[lengths.len() - 1];
    let mut halved = full.clone();
    *halved.last_mut().unwrap() = last / 2 + 1;
    let (count, product) = (full.iter().product(), lengths.iter().product::<usize>() as f64);
    let mut random = Random(count as u64);
    let x: Vec<Complex<f64>> = (0..count).map(|_| Complex::new(random.float(), random.float())).collect();
    let input: Vec<Complex<F>> = x.iter().map(narrow).collect();
    let what = format!("{} {batch:?} {lengths:?}", F::TYPE);

    let out = wide(run(FftType::Fft, lengths, [&full, &full], &input));
    assert_close(&out, &transform(&x, lengths, -1.0), tolerance, &what);
    let out = wide(run(FftType::Ifft, lengths, [&full, &full], &input));
    let expected: Vec<_> = transform(&x, lengths, 1.0).iter().map(|z| z / product).collect();
    assert_close(&out, &expected, tolerance, &what);

    let real: Vec<F> = input.iter().map(|z| z.re).collect();
    let spectrum = transform(&x.iter().map(|z| z.re.into()).collect::<Vec<_>>(), lengths, -1.0);
    let out = wide(run(FftType::Rfft, lengths, [&full, &halved], &real));
    assert_close(&out, &half(&spectrum, last), tolerance, &what);
    let kept: Vec<Complex<F>> = half(&spectrum, last).iter().map(narrow).collect();
    let out: Vec<F> = run(FftType::Irfft, lengths, [&halved, &full], &kept);
    let complex = |reals: &[F]| reals.iter().map(|&x| Complex::new(x.into(), 0.0)).collect::<Vec<_>>();
    assert_close(&complex(&out), &complex(&real), tolerance, &what);
}

#[test]
fn any_length_and_rank() {
    for length in [1, 2, 3, 4, 5, 8, 13, 30, 32, 37, 64, 97, 128, 210] {
        check::<f32>(&[2], &[length], 1e-6);
        check::<f64>(&[3], &[length], 1e-14);
    }
    for lengths in [&[4, 6][..], &[7, 5], &[16, 9], &[1, 8], &[20, 1], &[3, 4, 5], &[2, 9, 8]] {
        check::<f32>(&[3], lengths, 1e-6);
        check::<f64>(&[], lengths, 1e-14);
    }
}

#[test]
fn many_lines_are_shared_among_threads() {
    check::<f64>(&[60], &[64], 1e-14);
    check::<f32>(&[6], &[16, 32], 1e-6);
    // A constant has one frequency, and is large enough for several threads.
    let dims = [512, 256];
    let out: Vec<Complex<f32>> = run(FftType::Fft, &dims, [&dims, &dims], &vec![Complex::new(1f32, 0.0); 512 * 256]);
    for (index, z) in indices(&dims).zip(&out) {
        let expected = if ravel(&index, &dims) == 0 { 131_072.0 } else { 0.0 };
        assert!((z - Complex::new(expected, 0.0)).norm() < 1e-2, "{index:?} {z}");
    }
}

#[test]
fn what_symmetry_makes_zero_is_ignored() {
    let kept = [Complex::new(4f64, 9.0), Complex::new(0.0, 0.0), Complex::new(0.0, -7.0)];
    assert_eq!(run::<_, f64>(FftType::Irfft, &[4], [&[3], &[4]], &kept), [1.0; 4]);
}

#[test]
fn nothing_is_transformed_to_nothing() {
    assert!(run::<f32, Complex<f32>>(FftType::Rfft, &[4], [&[0, 4], &[0, 3]], &[]).is_empty());
}
