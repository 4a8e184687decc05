//! Through real call frames: what is factored is multiplied again.

mod factorizations;
mod generic;
mod spectra;
mod systems;

use oxcall::element::Plain;
use oxcall::ndarray::{ArrayD, IxDyn};
use oxcall::registry::registry;
use oxcall::testing::{Call, Outputs};

use crate::scalar::{Real, Scalar};

/// An element type of the tests.
trait Number: Scalar + Plain {}

impl<T: Scalar + Plain> Number for T {}

/// What jaxlib 0.10.2 registers for its CPU, and 0.12.0.1 as well.
const JAXLIB: &str = include_str!("jaxlib-0.10.2.txt");

#[test]
fn targets_are_those_of_jaxlib() {
    let mut names: Vec<&str> = registry().handlers().iter().map(|handler| handler.name).collect();
    names.retain(|name| name.ends_with("_ffi"));
    names.sort_unstable();
    assert_eq!(names, JAXLIB.lines().collect::<Vec<_>>());
    assert_eq!(names.len(), 61);
}

/// Numbers without a pattern, with both parts in -1..1.
fn numbers<T: Number>(count: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::Part::of((state >> 40) as f64 / f64::from(1 << 23) - 1.0)
    };
    (0..count).map(|_| T::new(next(), next())).collect()
}

/// An array whose memory is `data`.
fn array<T: Number>(dims: &[usize], data: &[T]) -> ArrayD<T> {
    ArrayD::from_shape_vec(IxDyn(dims), data.to_vec()).unwrap()
}

/// The memory of a result.
fn result<T: oxcall::Element>(outputs: &Outputs, index: usize) -> Vec<T> {
    outputs.get::<T>(index).iter().copied().collect()
}

/// The product of column-major matrices, `m` by `k` and `k` by the rest.
fn product<T: Number>(a: &[T], b: &[T], m: usize, k: usize) -> Vec<T> {
    let n = b.len() / k.max(1);
    let element = |i: usize, j: usize| (0..k).map(|l| a[l * m + i] * b[j * k + l]).sum();
    (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// The adjoint of a column-major matrix of `m` rows.
fn adjoint<T: Number>(a: &[T], m: usize) -> Vec<T> {
    (0..m).flat_map(|i| a.iter().skip(i).step_by(m)).map(|&x| Scalar::conj(x)).collect()
}

/// The elements for which `keep(row, column)` is true, zeros elsewhere.
fn part<T: Number>(a: &[T], m: usize, keep: impl Fn(usize, usize) -> bool) -> Vec<T> {
    let at = |(index, &x): (usize, &T)| if keep(index % m, index / m) { x } else { T::zero() };
    a.iter().enumerate().map(at).collect()
}

fn identity<T: Number>(n: usize) -> Vec<T> {
    part(&vec![T::one(); n * n], n, |i, j| i == j)
}

/// Asserts that matrices are equal up to rounding, `slack` times the precision of the type.
fn assert_near<T: Number>(found: &[T], expected: &[T], slack: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = |x: &T| -> f64 { num_traits::ToPrimitive::to_f64(&x.modulus()).unwrap() };
    let scale = expected.iter().map(size).fold(1.0, f64::max);
    let tolerance = slack * num_traits::ToPrimitive::to_f64(&<T::Part as num_traits::Float>::epsilon()).unwrap();
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = size(&(*found - *expected)) / scale;
        assert!(error <= tolerance, "{what}: element {index} is {found:?}, expected {expected:?}");
    }
}

/// Asserts that `q`, of `m` rows, has orthonormal columns.
fn assert_orthonormal<T: Number>(q: &[T], m: usize, slack: f64, what: &str) {
    assert_near(&product(&adjoint(q, m), q, q.len() / m, m), &identity(q.len() / m), slack, what);
}

/// Runs a call whose first operand has shape `[batch, rows, cols]`.
fn run(call: Call) -> Outputs {
    call.run().unwrap_or_else(|error| panic!("{error}"))
}

/// A hermitian positive definite matrix.
fn definite<T: Number>(n: usize, seed: u64) -> Vec<T> {
    let a = numbers::<T>(n * n, seed);
    let mut square = product(&a, &adjoint(&a, n), n, n);
    (0..n).for_each(|i| square[i * n + i] = T::real((square[i * n + i] + T::one()).re()));
    square
}
