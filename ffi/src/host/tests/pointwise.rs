//! Expressions of pointwise functions, as hosts receive them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::descriptor::Op;
use crate::pointwise::Scalar;
use crate::prelude::{Array, DType, Out, Real, custom_call, pointwise};

#[pointwise(crate = crate)]
fn told_ramp<T: Real>(x: T, #[attr(default = 1.0)] beta: f64) -> T {
    (x * beta).exp().ln_1p() / beta
}

#[pointwise(crate = crate, derivatives = 1)]
fn told_panic<T: Real>(x: T, #[attr] beta: f64) -> T {
    assert!(beta > 0.0);
    x * beta
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
    let handler = handlers.iter().find(|handler| handler.name == name).unwrap();
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
    unsafe { trace_pointwise(&registration, attrs, dtype, counts[0], counts[1]) }
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
        for (name, expected) in [("told_ramp", true), ("told_ramp_vjp", true), ("told_nothing", false)] {
            let registration = registered(version, name);
            assert_eq!(registration.is_pointwise, expected, "{name}, {version:?}");
            // SAFETY: the macros make handlers.
            let told = unsafe { trace_pointwise(&registration, &[], DType::F32, 1 + usize::from(name.len() > 12), 1) };
            let has_extensions = version.minor() >= 4;
            assert_eq!(told.is_some(), expected && has_extensions, "{name}, {version:?}");
        }
    }
    // SAFETY: a handler of the macro's, asked by a query without the extension, as XLA does.
    let told = unsafe { metadata(told_ramp::HANDLER.bundle().execute.unwrap(), HostVersion::default()) }.unwrap();
    assert!(told.is_pointwise && told.state_type_id.is_none());
}

/// An empty array on a host that does not ask: nothing happens.
#[test]
fn empty_arrays_remain_calls() {
    let out = crate::testing::call::<told_ramp>().arg(Vec::<f32>::new()).run().unwrap();
    assert!(out.get::<f32>(0).is_empty());
}
