//! The dtypes that a policy of `torch.autocast` needs.

use super::message::Message;
use super::sides::takes;
use crate::DType;
use crate::descriptor::{DTypeRule, Handler, Param, Role};
use crate::names::equal;

/// The dtypes that `torch.autocast` may lower to.
const LOWER: &[DType] = &[DType::BF16, DType::F16];

/// Refuses `autocast` for an operation that does not take the dtypes to which arguments would be cast, or that updates
/// what would be cast.
///
/// An argument whose dtype is fixed is left alone, unless it is the dtype of the policy. `glue/autocast.py` chooses the
/// arguments in the same way.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check_autocast(op: &Handler) {
    let Some(policy) = op.traits.autocast else { return };
    let targets = if equal(policy, "lowest") { LOWER } else { &[DType::F32] };
    let mut casts = false;
    let mut i = 0;
    while i < op.params.len() {
        let param = &op.params[i];
        let is_open = !matches!(param.dtype, DTypeRule::One(_)) && has_cast_dtype(op, param);
        if is_open && matches!(param.role, Role::InOut) {
            message(op, policy)
                .text(" would cast ")
                .quoted(&[param.name])
                .text(
                    ", and the update would be lost with the copy: give it one dtype, or take an argument and a result",
                )
                .panic();
        }
        if matches!(param.role, Role::Arg) {
            let missing = missing(op, param, targets);
            if is_open && let Some(dtype) = missing {
                message(op, policy)
                    .text(" casts argument ")
                    .quoted(&[param.name])
                    .text(" to ")
                    .quoted(&[dtype.name()])
                    .text(", which is none of its dtypes; add it to the list of its type parameter")
                    .panic();
            }
            casts |= missing.is_none();
        }
        i += 1;
    }
    if !casts {
        let message =
            message(op, policy).text(" casts no argument: expected one that takes ").quoted(&[targets[0].name()]);
        let message = if targets.len() > 1 { message.text(" and ").quoted(&[targets[1].name()]) } else { message };
        message.text("; declare its element type as a type parameter: ").quoted(&["T = floats"]).panic();
    }
}

const fn message(op: &Handler, policy: &str) -> Message {
    Message::new().text("operation ").quoted(&[op.name]).text(": ").quoted(&["autocast = ", policy])
}

/// The first of some dtypes that a parameter does not take.
const fn missing(op: &Handler, param: &Param, dtypes: &[DType]) -> Option<DType> {
    let mut i = 0;
    while i < dtypes.len() {
        if !takes(op, param, dtypes[i]) {
            return Some(dtypes[i]);
        }
        i += 1;
    }
    None
}

/// Whether a parameter takes a dtype that autocast casts: any floating-point one but `f64`.
const fn has_cast_dtype(op: &Handler, param: &Param) -> bool {
    let mut i = 0;
    while i < DType::ALL.len() {
        let dtype = DType::ALL[i];
        let is_cast = dtype.is_inexact() && !matches!(dtype, DType::F64 | DType::C64 | DType::C128);
        if is_cast && takes(op, param, dtype) {
            return true;
        }
        i += 1;
    }
    false
}
