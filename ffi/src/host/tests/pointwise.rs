//! Expressions of pointwise functions and of functions of rows, as hosts receive them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::descriptor::{HOST, Handler, Op, Recorded};
use crate::pointwise::Scalar;
use crate::prelude::{Array, DType, Out, PerRow, Real, Row, custom_call, pointwise, rowwise};

#[pointwise(crate = crate)]
fn told_ramp<T: Real>(x: T, #[attr(default = 1.0)] beta: f64) -> T {
    (x * beta).exp().ln_1p() / beta
}

#[pointwise(crate = crate, derivatives = 1)]
fn told_panic<T: Real>(x: T, #[attr] beta: f64) -> T {
    assert!(beta > 0.0);
    x * beta
}

#[rowwise(crate = crate)]
fn told_spread(x: Row, scale: PerRow, #[attr(default = 2.0)] power: f64) -> Row {
    x.powf(power) * scale / x.stop_gradient().sum() + x.max()
}

static CALLS: AtomicU64 = AtomicU64::new(0);

#[custom_call(crate = crate)]
fn told_nothing(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    CALLS.fetch_add(1, Relaxed);
    y.copy_from_slice(&x);
}

/// A registration as that of a host.
fn registered(version: HostVersion, name: &str) -> Registration {
    let handlers = crate::registry::registry().handlers();
    let is_wanted = |handler: &&&Handler| handler.name == name && handler.platform == HOST;
    let handler = handlers.iter().find(is_wanted).unwrap();
    let platform = format!("{version:?}");
    // SAFETY: the macros make handlers.
    unsafe { register_handler(version, Source::Linked, name, &platform, &handler.bundle(), 0) }.unwrap();
    find_handler(name, &platform).unwrap()
}

fn beta(value: impl Into<AttrValue>) -> Vec<(String, AttrValue)> {
    vec![("beta".to_owned(), value.into())]
}

/// As a host of the newest version.
fn trace(name: &str, attrs: &[(String, AttrValue)], dtype: DType, counts: [usize; 2]) -> Option<Expression> {
    let registration = registered(HostVersion::default(), name);
    // SAFETY: the macros make handlers.
    unsafe { super::trace(&registration, attrs, dtype, &vec![true; counts[0]], &vec![true; counts[1]]) }
}

#[pointwise(crate = crate, derivatives = 0)]
fn told_products<T: Real>(x: T, y: T) -> (T, T) {
    (x * y, x + y)
}

#[test]
fn operands_are_broadcast_or_refused() {
    use crate::ndarray::{arr1, arr2};
    let call = crate::testing::call::<told_products>;
    let column = arr2(&[[1.0f32], [2.0]]);
    let outputs = call().arg(column.clone()).arg(arr1(&[3.0f32, 4.0, 5.0])).run().unwrap();
    assert_eq!(outputs.get::<f32>(0).as_slice().unwrap(), [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]);
    assert_eq!(outputs.get::<f32>(1).as_slice().unwrap(), [4.0, 5.0, 6.0, 5.0, 6.0, 7.0]);
    let error = call().arg(arr2(&[[1.0f32, 2.0]])).arg(arr1(&[3.0f32, 4.0, 5.0])).run().unwrap_err();
    assert!(error.message().contains("argument `x` [1, 2], argument `y` [3] cannot be broadcast to one"), "{error}");
}

#[test]
fn functions_and_their_derivatives_tell_what_they_compute() {
    let x = 0.7;
    let at = |name, operands: &[f64]| {
        let expression = trace(name, &beta(2.0f64), DType::F32, [operands.len(), 1]).unwrap();
        expression.evaluate(&operands.iter().map(|&x| Scalar(x)).collect::<Vec<_>>())[0].0
    };
    let slope = 1.0 / (1.0 + f64::exp(-2.0 * x));
    for (name, operands, expected) in [
        ("told_ramp", vec![x], f64::exp(2.0 * x).ln_1p() / 2.0),
        ("told_ramp_vjp", vec![x, 3.0], 3.0 * slope),
        ("told_ramp_jvp", vec![x, 3.0], 3.0 * slope),
        ("told_ramp_vjp_jvp", vec![x, 3.0, 1.0, 0.0], 6.0 * slope * (1.0 - slope)),
    ] {
        let found = at(name, &operands);
        assert!((found - expected).abs() < 1e-14, "{name}: {found}, expected {expected}");
    }
}

/// What a function of rows tells, for rows of one element; what derivatives see as constants has no derivative.
#[test]
fn functions_of_rows_tell_what_they_compute() {
    let (x, scale) = (3.0f64, 5.0);
    let told = |version, name: &str, operands: &[bool], results: &[bool]| {
        // SAFETY: the macros make handlers.
        unsafe { super::trace(&registered(version, name), &[], DType::BF16, operands, results) }
    };
    for (name, rows, operands, expected) in [
        ("told_spread", &[true, false][..], &[x, scale][..], &[x * scale + x][..]),
        ("told_spread_jvp", &[true, false, true, false], &[x, scale, 1.0, 2.0], &[2.0 * scale + 2.0 * x + 1.0]),
        ("told_spread_vjp", &[true, false, true], &[x, scale, 4.0], &[4.0 * (2.0 * scale + 1.0), 4.0 * x]),
    ] {
        let results = &[true, false][..expected.len()];
        let expression = told(HostVersion::default(), name, rows, results).unwrap();
        let found = expression.evaluate(&operands.iter().map(|&x| Scalar(x)).collect::<Vec<_>>());
        for (found, expected) in found.iter().zip(expected) {
            assert!(f64::abs(found.0 - expected) < 1e-12, "{name}: {}, expected {expected}", found.0);
        }
        // Numbers as rows, rows as numbers, and arrays that are not there.
        let others = |operands: &[bool], results: &[bool]| told(HostVersion::default(), name, operands, results);
        assert_eq!(others(&vec![true; rows.len()], results), None, "{name}");
        assert_eq!(others(rows, &vec![false; results.len()]), None, "{name}");
        assert_eq!(others(&rows[1..], results), None, "{name}");
    }
}

#[test]
fn what_cannot_be_told_is_none() {
    let ramp = |attrs: &[(String, AttrValue)], dtype, counts| trace("told_ramp", attrs, dtype, counts).is_some();
    assert!(ramp(&[], DType::BF16, [1, 1]));
    assert!(!ramp(&[], DType::S32, [1, 1]));
    assert!(!ramp(&[], DType::F32, [2, 1]) && !ramp(&[], DType::F32, [1, 2]) && !ramp(&[], DType::F32, [0, 0]));
    assert!(!ramp(&beta("two".to_owned()), DType::F32, [1, 1]));
    assert!(trace("told_panic", &beta(1.0f64), DType::F32, [1, 1]).is_some());
    assert!(trace("told_panic", &beta(-1.0f64), DType::F32, [1, 1]).is_none());
    // A panic leaves no trace.
    assert!(trace("told_panic", &beta(1.0f64), DType::F32, [1, 1]).is_some());
    // Another handler is not even called.
    assert!(trace("told_nothing", &[], DType::F32, [1, 1]).is_none());
    assert_eq!(CALLS.load(Relaxed), 0);
}

#[test]
fn hosts_ask_for_it_by_extensions() {
    for version in HostVersion::ALL {
        for (name, expected, operands) in [
            ("told_ramp", Recorded::Pointwise, &[true][..]),
            ("told_ramp_vjp", Recorded::Pointwise, &[true, true]),
            ("told_spread", Recorded::Rowwise, &[true, false]),
            ("told_nothing", Recorded::Never, &[true]),
        ] {
            let registration = registered(version, name);
            assert_eq!(registration.recorded, expected, "{name}, {version:?}");
            // SAFETY: the macros make handlers.
            let told = unsafe { super::trace(&registration, &[], DType::F32, operands, &[true]) };
            let has_extensions = version.minor() >= 4;
            assert_eq!(told.is_some(), expected != Recorded::Never && has_extensions, "{name}, {version:?}");
        }
    }
    // SAFETY: a handler of the macro's, asked by a query without the extension, as XLA does.
    let told = unsafe { metadata(told_ramp::HANDLER.bundle().execute.unwrap(), HostVersion::default()) }.unwrap();
    assert!(told.recorded == Recorded::Pointwise && told.state_type_id.is_none());
}

/// An empty array on a host that does not ask: nothing happens.
#[test]
fn empty_arrays_remain_calls() {
    let out = crate::testing::call::<told_ramp>().arg(Vec::<f32>::new()).run().unwrap();
    assert!(out.get::<f32>(0).is_empty());
}
