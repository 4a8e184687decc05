//! Errors of decoding, made out of line: they name the operation, the parameter, what is expected and what came.

use crate::attr::{AttrError, AttrList};
use crate::buffer::{BufferError, BufferRef, Mismatch};
use crate::descriptor::{Arity, DTypeRule, Handler, Param, Role};
use crate::frame::Frame;
use crate::{Error, names, shape};

/// "argument" or "result".
fn word(role: Role) -> &'static str {
    if role == Role::Ret { "result" } else { "argument" }
}

/// The parameters that take an argument (or a result), in the order of the operands.
pub(crate) fn parameters(handler: &Handler, role: Role) -> impl Iterator<Item = &'static Param> {
    handler.params.iter().filter(move |param| param.role == role || param.role == Role::InOut)
}

/// How many arguments (or results) there may be: at least, and at most.
pub(crate) fn arity(handler: &Handler, role: Role) -> (usize, Option<usize>) {
    let least = parameters(handler, role).filter(|param| param.arity == Arity::One).count();
    let variadic = parameters(handler, role).any(|param| param.arity == Arity::Variadic);
    (least, (!variadic).then(|| parameters(handler, role).count()))
}

/// "2", "1 to 2", or "at least 1".
pub(crate) fn range((least, most): (usize, Option<usize>)) -> String {
    match most {
        Some(most) if most == least => least.to_string(),
        Some(most) => format!("{least} to {most}"),
        None => format!("at least {least}"),
    }
}

/// "argument `x`", or "argument `xs[2]`" inside a variadic parameter.
pub(crate) fn operand_name(handler: &Handler, role: Role, index: usize) -> String {
    let mut last = None;
    for (i, param) in parameters(handler, role).enumerate() {
        if param.arity == Arity::Variadic {
            return format!("{} `{}[{}]`", word(role), param.name, index.saturating_sub(i));
        }
        if i == index {
            last = Some(param);
            break;
        }
    }
    match last {
        Some(param) => format!("{} `{}`", word(role), param.name),
        None => format!("{} {index}", word(role)),
    }
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

/// A wrong number of arguments or results; `None` for a frame whose lists are nonsense.
#[cold]
pub(crate) fn count(handler: &'static Handler, role: Role, given: Option<usize>) -> Error {
    let Some(given) = given else {
        return Error::internal(format!("{}: the host's list of {}s is malformed", handler.name, word(role)));
    };
    let names: Vec<&str> = parameters(handler, role).map(|param| param.name).collect();
    let expected = range(arity(handler, role));
    let plural = if expected == "1" { "" } else { "s" };
    let list = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    Error::invalid_argument(format!("{}: expected {expected} {}{plural}{list}, got {given}", handler.name, word(role)))
}

/// An unsound buffer description.
#[cold]
pub(crate) fn buffer(handler: &'static Handler, role: Role, index: usize, error: BufferError) -> Error {
    Error::invalid_argument(format!("{}: {}: {}", handler.name, operand_name(handler, role, index), error.message()))
}

/// A buffer that does not fit its parameter's type.
#[cold]
pub fn mismatch(frame: Frame<'_>, handler: &'static Handler, role: Role, index: usize, mismatch: Mismatch) -> Error {
    let buffer = frame.buffers(role).get(index).copied().unwrap_or(BufferRef::EMPTY);
    let name = operand_name(handler, role, index);
    let got = names::describe_dtype(buffer.dtype_code());
    let text = match mismatch {
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

/// A dtype for which the operation is not compiled.
#[cold]
pub fn dispatch(frame: Frame<'_>, handler: &'static Handler, var: usize, role: Role, index: usize) -> Error {
    let buffer = frame.buffers(role).get(index).copied().unwrap_or(BufferRef::EMPTY);
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

/// A result that shares memory with another buffer.
#[cold]
pub fn overlap(handler: &'static Handler, other: (Role, usize), result: usize) -> Error {
    Error::invalid_argument(format!(
        "{}: {} and {} share memory, which the operation does not declare: make them one InOut parameter, or call \
         without the input_output_aliases entry",
        handler.name,
        operand_name(handler, Role::Ret, result),
        operand_name(handler, other.0, other.1)
    ))
}

/// Dimensions that do not follow the patterns: the interpreter finds out which.
#[cold]
pub fn dims(frame: Frame<'_>, handler: &'static Handler, attrs: &[(&'static str, i64)]) -> Error {
    for role in [Role::Arg, Role::Ret] {
        let given = frame.buffers(role).len();
        if given < parameters(handler, role).count() {
            // A description that is unsound stands where the fast path only compared dimensions.
            if let Err(error) = frame.operands(role).read(handler, role, given) {
                return error;
            }
        }
    }
    match check_dims(handler, &frame.buffers(Role::Arg), &frame.buffers(Role::Ret), attrs) {
        Err(error) => error,
        Ok(()) => {
            Error::internal(format!("{}: the shape checks contradict each other; please report it", handler.name))
        }
    }
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

/// An attribute list that is not one.
#[cold]
pub(crate) fn malformed_attrs(handler: &'static Handler) -> Error {
    Error::internal(format!("{}: the host's list of attributes is malformed", handler.name))
}

/// Puts attributes in the order of the operation's list.
#[cold]
#[inline(never)]
pub(crate) fn sort_attributes(
    handler: &'static Handler,
    list: &AttrList<'_>,
    kinds: &mut [u32],
    values: &mut [*const std::ffi::c_void],
) -> crate::Result<()> {
    crate::attr::sort(list, handler.attrs, kinds, values, handler.extra_attrs)
        .map_err(|message| Error::invalid_argument(format!("{}: {message}", handler.name)))
}

/// An attribute's value that does not convert.
#[cold]
pub fn attribute(handler: &'static Handler, name: &'static str, error: AttrError) -> Error {
    Error::invalid_argument(format!("{}: attribute `{name}{}`: {error}", handler.name, error.path()))
}

/// A required attribute that is absent although the operation's list was complete: two stages disagree about it.
#[cold]
pub fn missing_attribute(handler: &'static Handler, name: &'static str) -> Error {
    Error::invalid_argument(format!("{}: attribute `{name}` is missing", handler.name))
}

/// A context that the host does not have.
#[cold]
pub(crate) fn context(handler: &'static Handler, parameter: &'static str, error: Error) -> Error {
    error.context(format_args!("{}: parameter `{parameter}`", handler.name))
}
