//! Errors of decoding for which the frame is read again, out of line.

use crate::buffer::{BufferRef, BufferSpec, Mismatch};
use crate::descriptor::{Arity, DTypeRule, Handler, Param, Role};
use crate::explain::{self, operand_name, parameters};
use crate::frame::{Frame, overlap};
use crate::{Error, names, shape};

/// A buffer that does not fit its parameter's type.
#[cold]
pub fn mismatch(frame: Frame<'_>, handler: &'static Handler, role: Role, index: usize, code: (u16, usize)) -> Error {
    let buffer = frame.sound_buffers(role).get(index).copied().unwrap_or(BufferRef::EMPTY);
    let name = operand_name(handler, role, index);
    let got = names::describe_dtype(buffer.dtype_code());
    let text = match Mismatch::from_code(code) {
        Mismatch::DType(expected) => {
            let why = match operand_param(handler, role, index).map(|param| param.dtype) {
                Some(DTypeRule::Var(var)) => {
                    let param = &handler.type_params[var];
                    format!(" ({} is {expected} in this call)", param.name)
                }
                _ => String::new(),
            };
            format!("expected dtype {expected}, got {got}{why}")
        }
        Mismatch::UnknownDType => format!("its dtype is {got}"),
        Mismatch::Rank(rank) => {
            format!("expected rank {rank}, got rank {} (shape {:?})", buffer.dims().len(), buffer.dims())
        }
        Mismatch::Alignment(bytes) => format!("its memory is not aligned to {bytes} bytes"),
        Mismatch::BoolByte(at, byte) => format!("element {at} is the byte {byte}; a pred is 0 or 1"),
        Mismatch::NotAliased => {
            "its argument and result must be the same memory: call it with input_output_aliases".to_owned()
        }
        Mismatch::ShapesDiffer => "its argument and its result have different shapes".to_owned(),
    };
    Error::invalid_argument(format!("{}: {name}: {text}", handler.name))
}

/// The checks that an operand has to pass before it gets its parameter's type.
pub struct Guarded {
    /// Its place.
    pub operand: (Role, usize),
    /// The demands of the type.
    pub spec: BufferSpec,
    /// The argument whose memory it may be, for the result of an `InOut`.
    pub shares: Option<usize>,
}

/// The error of the operand that has another dtype, shares memory, or is not aligned. Arguments come before results.
#[cold]
#[inline(never)]
pub fn guard(frame: Frame<'_>, handler: &'static Handler, operands: &[Guarded]) -> Error {
    let buffer = |(role, index): (Role, usize)| frame.operands(role).get(index).unwrap_or(BufferRef::EMPTY);
    let differs = |operand: (Role, usize), why: Mismatch| mismatch(frame, handler, operand.0, operand.1, why.to_code());
    for (i, Guarded { operand, spec, shares }) in operands.iter().enumerate() {
        let this = buffer(*operand);
        if let Some(dtype) = spec.dtype
            && this.dtype_code() != dtype.code()
        {
            return differs(*operand, Mismatch::DType(dtype));
        }
        for other in operands[..i].iter().filter(|_| operand.0 == Role::Ret) {
            let (place, other) = (other.operand, buffer(other.operand));
            let one_buffer = shares.is_some_and(|arg| place == (Role::Arg, arg)) && other.data() == this.data();
            if !one_buffer && overlap(other.extent(), this.extent()) {
                return explain::overlap(handler, place, operand.1);
            }
        }
    }
    for Guarded { operand, spec, .. } in operands {
        if !buffer(*operand).data().addr().is_multiple_of(spec.align) {
            return differs(*operand, Mismatch::Alignment(spec.align));
        }
    }
    Error::internal(format!("{}: the checks of operands contradict each other; please report it", handler.name))
}

/// A dtype for which the operation is not compiled.
#[cold]
pub fn dispatch(frame: Frame<'_>, handler: &'static Handler, var: usize, role: Role, index: usize) -> Error {
    let buffer = frame.sound_buffers(role).get(index).copied().unwrap_or(BufferRef::EMPTY);
    let param = &handler.type_params[var];
    let list = param.dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
    let expected = if param.dtypes.len() == 1 { list } else { format!("one of {list}") };
    Error::invalid_argument(format!(
        "{}: {}: expected dtype {expected}, got {}",
        handler.name,
        operand_name(handler, role, index),
        names::describe_dtype(buffer.dtype_code())
    ))
}

/// Dimensions that do not follow the patterns: the interpreter finds out which.
#[cold]
pub fn dims(frame: Frame<'_>, handler: &'static Handler, attrs: &[(&'static str, i64)]) -> Error {
    for role in [Role::Arg, Role::Ret] {
        let given = frame.sound_buffers(role).len();
        if given < parameters(handler, role).count() {
            // A description that is unsound stands where the fast path only compared dimensions.
            if let Err(error) = frame.operands(role).read(handler, role, given) {
                return error;
            }
        }
    }
    match check_dims(handler, &frame.sound_buffers(Role::Arg), &frame.sound_buffers(Role::Ret), attrs) {
        Err(error) => error,
        Ok(()) => {
            Error::internal(format!("{}: the shape checks contradict each other; please report it", handler.name))
        }
    }
}

/// Operands of which one is unsound or has not the dimensions of an earlier one: `like` names it for each argument and
/// then each result.
#[cold]
#[inline(never)]
pub fn operands(
    frame: Frame<'_>,
    handler: &'static Handler,
    like: &[Option<(Role, usize)>],
    attrs: &[(&'static str, i64)],
) -> Error {
    let args = parameters(handler, Role::Arg).count();
    for (i, like) in like.iter().enumerate() {
        let (role, index) = if i < args { (Role::Arg, i) } else { (Role::Ret, i - args) };
        match (frame.operands(role).get(index), like) {
            (Ok(_), None) => {}
            (Err(error), None) => return explain::buffer(handler, role, index, error),
            (Ok(buffer), Some((role, first)))
                if frame.operands(*role).get(*first).is_ok_and(|first| first.dims() == buffer.dims()) => {}
            (_, Some(_)) => break,
        }
    }
    dims(frame, handler, attrs)
}

/// Checks dimensions by the interpreter alone, for operations with optional or variadic parameters.
pub fn check_dims(
    handler: &'static Handler,
    args: &[BufferRef<'_>],
    rets: &[BufferRef<'_>],
    attrs: &[(&'static str, i64)],
) -> crate::Result<()> {
    shape::check(handler, args, rets, attrs)
}

fn operand_param(handler: &Handler, role: Role, index: usize) -> Option<&'static Param> {
    let mut chosen = None;
    for (i, param) in parameters(handler, role).enumerate() {
        if i == index || param.arity == Arity::Variadic {
            chosen = Some(param);
            break;
        }
    }
    chosen
}
