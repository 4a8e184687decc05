//! Errors of decoding, made out of line. They name the operation and the parameter, and say what was expected and what
//! came.

use crate::Error;
use crate::attr::{AttrError, AttrList};
use crate::buffer::BufferError;
use crate::descriptor::{Arity, Handler, Param, Role};

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

/// A wrong number of arguments or results; `None` for a frame with malformed lists.
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

/// A result that shares memory with another buffer.
#[cold]
pub(crate) fn overlap(handler: &'static Handler, other: (Role, usize), result: usize) -> Error {
    Error::invalid_argument(format!(
        "{}: {} and {} share memory, which the operation does not declare: make them one InOut parameter, or call \
         without the input_output_aliases entry",
        handler.name,
        operand_name(handler, Role::Ret, result),
        operand_name(handler, other.0, other.1)
    ))
}

/// A malformed attribute list.
#[cold]
pub(crate) fn malformed_attrs(handler: &'static Handler) -> Error {
    Error::internal(format!("{}: the host's list of attributes is malformed", handler.name))
}

/// Puts attributes in the order of the operation's list.
#[cold]
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

/// A required attribute that does not convert, or is absent although the operation's list was complete: two stages
/// disagree about it.
#[cold]
pub fn required_attribute(handler: &'static Handler, name: &'static str, given: bool, error: AttrError) -> Error {
    if given {
        return attribute(handler, name, error);
    }
    Error::invalid_argument(format!("{}: attribute `{name}` is missing", handler.name))
}

/// A context that the host does not have.
#[cold]
pub(crate) fn context(handler: &'static Handler, parameter: &'static str, error: Error) -> Error {
    error.context(format_args!("{}: parameter `{parameter}`", handler.name))
}
