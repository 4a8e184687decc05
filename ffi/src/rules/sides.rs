//! The parameters of an operation as the operations of its rules name them.

use super::message::{self, Message};
use crate::DType;
use crate::descriptor::{DTypeRule, Handler, Param, Role};
use crate::names::equal;

/// An operation that an option of another one names.
#[derive(Clone, Copy)]
pub(super) struct Rule<'a> {
    /// The operation that has the option.
    pub(super) op: &'a Handler,
    /// The forward operation with residuals that it names as well.
    pub(super) fwd: Option<&'a Handler>,
    /// The operation that the option names.
    pub(super) other: &'a Handler,
    /// The option.
    pub(super) option: &'static str,
}

/// Parameters of the operation that has the option.
#[derive(Clone, Copy)]
pub(super) enum Side {
    /// Its arguments.
    Inputs,
    /// Its results.
    Outputs,
    /// What its forward operation gives beside these.
    Residuals,
}

/// What a parameter may be called: like those of a side, behind `d` (or `d_`) for cotangents, `t` (or `t_`) for
/// tangents.
pub(super) type Source = (Side, &'static str);

/// The counterpart of a parameter.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) handler: &'a Handler,
    pub(super) param: &'a Param,
    /// Whether the parameter is its cotangent or tangent rather than its value.
    pub(super) is_derivative: bool,
}

impl<'a> Rule<'a> {
    /// The operation whose parameters a side lists.
    pub(super) const fn handler(self, side: Side) -> &'a Handler {
        match (side, self.fwd) {
            (Side::Residuals, Some(fwd)) => fwd,
            _ => self.op,
        }
    }

    /// Whether a parameter of that operation is on the side.
    pub(super) const fn is_on(self, param: &Param, side: Side) -> bool {
        match side {
            Side::Inputs => !matches!(param.role, Role::Ret),
            Side::Outputs => !matches!(param.role, Role::Arg),
            Side::Residuals => {
                self.fwd.is_some() && !matches!(param.role, Role::Arg) && !has_result(self.op, param.name)
            }
        }
    }

    /// The counterpart of a name, from the first source that has it.
    #[track_caller]
    pub(super) const fn find(self, name: &str, sources: &[Source]) -> Option<Found<'a>> {
        let mut s = 0;
        while s < sources.len() {
            let (side, prefix) = sources[s];
            let handler = self.handler(side);
            let mut found: Option<Found<'a>> = None;
            let mut i = 0;
            while i < handler.params.len() {
                let param = &handler.params[i];
                if self.is_on(param, side) && is_named(name, prefix, param.name) {
                    if let Some(other) = found {
                        self.message()
                            .text(" has a parameter ")
                            .quoted(&[name])
                            .text(" that is the ")
                            .text(derivative(prefix))
                            .text(" of ")
                            .quoted(&[other.param.name])
                            .text(" or of ")
                            .quoted(&[param.name])
                            .text("; rename one of these")
                            .panic();
                    }
                    found = Some(Found { handler, param, is_derivative: !prefix.is_empty() });
                }
                i += 1;
            }
            if found.is_some() {
                return found;
            }
            s += 1;
        }
        None
    }

    /// The beginning of a message.
    pub(super) const fn message(self) -> Message {
        Message::new()
            .text("operation ")
            .quoted(&[self.op.name])
            .text(": its ")
            .text(self.option)
            .text(" operation ")
            .quoted(&[self.other.name])
    }

    /// The names that a parameter may have, and the nearest of them if one is near.
    pub(super) const fn accepted(self, mut message: Message, name: &str, sources: &[Source]) -> Message {
        let mut s = 0;
        while s < sources.len() {
            let (side, prefix) = sources[s];
            if !matches!(side, Side::Residuals) || self.fwd.is_some() {
                let last = s + 1 == sources.len() || (s + 2 == sources.len() && self.fwd.is_none());
                message = message.text(match (s, last) {
                    (0, _) => " ",
                    (_, true) => ", or ",
                    (_, false) => ", ",
                });
                if !prefix.is_empty() {
                    message = message.text("the ").text(derivative(prefix)).text(" of ");
                }
                message = message.text(match side {
                    Side::Inputs => "an argument of the operation (",
                    Side::Outputs => "a result (",
                    Side::Residuals => "a residual (",
                });
                message = self.names(message, side, prefix).text(")");
            }
            s += 1;
        }
        self.suggestion(message, name, sources)
    }

    /// The names of a side's parameters behind a prefix.
    const fn names(self, mut message: Message, side: Side, prefix: &str) -> Message {
        let handler = self.handler(side);
        let mut is_first = true;
        let mut i = 0;
        while i < handler.params.len() {
            let param = &handler.params[i];
            if self.is_on(param, side) {
                message = message.text(if is_first { "" } else { ", " }).quoted(&[prefix, param.name]);
                is_first = false;
            }
            i += 1;
        }
        message
    }

    const fn suggestion(self, message: Message, name: &str, sources: &[Source]) -> Message {
        let mut nearest: Option<(&str, &str)> = None;
        let mut least = message::limit(name) + 1;
        let mut s = 0;
        while s < sources.len() {
            let (side, prefix) = sources[s];
            let handler = self.handler(side);
            let mut i = 0;
            while i < handler.params.len() {
                let param = &handler.params[i];
                let distance = message::edits(name, &[prefix, param.name]);
                if self.is_on(param, side) && distance < least {
                    least = distance;
                    nearest = Some((prefix, param.name));
                }
                i += 1;
            }
            s += 1;
        }
        match nearest {
            Some((prefix, name)) => message.text("; did you mean ").quoted(&[prefix, name]).text("?"),
            None => message,
        }
    }
}

/// What a prefix makes of a value.
pub(super) const fn derivative(prefix: &str) -> &'static str {
    if equal(prefix, "t") { "tangent" } else { "cotangent" }
}

/// Whether a name is that of a value behind a prefix: `dx` or `d_x`.
const fn is_named(name: &str, prefix: &str, value: &str) -> bool {
    let (name, prefix, value) = (name.as_bytes(), prefix.as_bytes(), value.as_bytes());
    let joined = prefix.len() + value.len();
    let underscores = name.len().wrapping_sub(joined);
    if underscores > 1 || (prefix.is_empty() && underscores != 0) {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        let expected = if i < prefix.len() {
            prefix[i]
        } else if i < prefix.len() + underscores {
            b'_'
        } else {
            value[i - prefix.len() - underscores]
        };
        if name[i] != expected {
            return false;
        }
        i += 1;
    }
    true
}

const fn has_result(handler: &Handler, name: &str) -> bool {
    let mut i = 0;
    while i < handler.params.len() {
        if !matches!(handler.params[i].role, Role::Arg) && equal(handler.params[i].name, name) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether derivatives flow through a parameter: some dtype of it has them, and `nondiff` does not list it.
pub(super) const fn is_differentiable(handler: &Handler, param: &Param) -> bool {
    !is_nondiff(handler, param) && is_inexact(handler, param)
}

/// Whether `nondiff` lists a parameter.
pub(super) const fn is_nondiff(handler: &Handler, param: &Param) -> bool {
    let mut i = 0;
    while i < handler.traits.nondiff.len() {
        if equal(handler.traits.nondiff[i], param.name) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether some dtype of a parameter has cotangents.
pub(super) const fn is_inexact(handler: &Handler, param: &Param) -> bool {
    let mut i = 0;
    while i < DType::ALL.len() {
        if DType::ALL[i].is_inexact() && takes(handler, param, DType::ALL[i]) {
            return true;
        }
        i += 1;
    }
    false
}

pub(super) const fn shares_dtype(first: &Handler, a: &Param, second: &Handler, b: &Param) -> bool {
    let mut i = 0;
    while i < DType::ALL.len() {
        if takes(first, a, DType::ALL[i]) && takes(second, b, DType::ALL[i]) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether a parameter takes a dtype.
pub(super) const fn takes(handler: &Handler, param: &Param, dtype: DType) -> bool {
    match param.dtype {
        DTypeRule::Any => true,
        DTypeRule::One(one) => one as u8 == dtype as u8,
        DTypeRule::Var(index) => {
            let dtypes = handler.type_params[index].dtypes;
            let mut i = 0;
            while i < dtypes.len() {
                if dtypes[i] as u8 == dtype as u8 {
                    return true;
                }
                i += 1;
            }
            false
        }
    }
}
