//! Functions of floats that are operations of generated code for most operands. Blocks call the function in Rust, whose
//! loop makes the same distinction, where a lane has another one.

use oxcall_hlo::{BinaryOp, ElementType, UnaryOp};
use oxcall_jit::{Binary, Compare};

use super::{Record, constant, float, in_double};
use crate::math::elementary::Angles;
use crate::math::lane::Lane;
use crate::math::single;
use crate::math::traced::Generated;

/// The forms of a function: of usual operands, and the mask of lanes that have others.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    pub(crate) usual: Record,
    pub(crate) others: Record,
}

/// The function of one float for `op`.
pub(crate) fn unary(op: UnaryOp, wide: ElementType) -> Option<Guard> {
    let usual: Record = match op {
        UnaryOp::Sine => |b, [x, ..]| in_double(b, [x], |[x]| single::sin_in_double::<Generated, _>(x)),
        UnaryOp::Cosine => |b, [x, ..]| in_double(b, [x], |[x]| single::cos_in_double::<Generated, _>(x)),
        _ => return None,
    };
    let others: Record = |b, [x, ..]| {
        let size = float::<u32>(b, x, Lane::magnitude);
        b.not(b.compare(Compare::LessOrEqual, size, constant(b, f32::EASY_ANGLES)))
    };
    (wide == ElementType::F32).then_some(Guard { usual, others })
}

/// The function of two floats for `op`.
pub(crate) fn binary(op: BinaryOp, wide: ElementType) -> Option<Guard> {
    let usual: Record = |b, [x, y, _]| in_double(b, [x, y], |[x, y]| single::power_in_double::<Generated, _>(x, y));
    // As `single::is_power_easy`.
    let others: Record = |b, [x, y, _]| {
        let is_positive = b.compare(Compare::Less, constant(b, 0.0), x);
        let is_finite = b.compare(Compare::Less, x, constant(b, f32::INFINITY));
        let is_small = b.compare(Compare::Less, float::<u32>(b, y, Lane::magnitude), constant(b, 1e30));
        b.not(b.binary(Binary::And, b.binary(Binary::And, is_positive, is_finite), is_small))
    };
    (op == BinaryOp::Power && wide == ElementType::F32).then_some(Guard { usual, others })
}
