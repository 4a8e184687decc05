//! The fit of a backward operation: whether the operation that `vjp` names computes the vector-Jacobian product of the
//! one that names it.
//!
//! The macro has the compiler run this, so that a mistake is an error of the build. Hosts match the two by the names of
//! their parameters in the same way: `oxcall/_vjp.py` for JAX, `torch/glue/derivatives.py` for torch.

mod message;

use self::message::Message;
use crate::DType;
use crate::descriptor::{Arity, AttrParam, DTypeRule, DimPattern, Handler, Param, Presence, Role};
use crate::names::equal;

/// Refuses a backward operation that does not fit: one that takes no cotangent of a result, one with a parameter that
/// matches nothing of `forward`, or one whose parameters and attributes cannot have the values of their counterparts.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check(forward: &Handler, backward: &Handler) {
    let mut i = 0;
    while i < backward.params.len() {
        let param = &backward.params[i];
        if !matches!(param.role, Role::Ret) {
            check_argument(forward, backward, param);
        }
        if !matches!(param.role, Role::Arg) {
            check_result(forward, backward, param, i);
        }
        i += 1;
    }
    let mut i = 0;
    while i < forward.params.len() {
        let param = &forward.params[i];
        if !matches!(param.role, Role::Arg)
            && is_differentiable(forward, param)
            && !takes_cotangent(forward, backward, param)
        {
            about(forward, backward)
                .text(" takes no cotangent of result ")
                .quoted(&[param.name])
                .text(", so that gradients through it would be zero: add an argument ")
                .quoted(&["d", param.name])
                .text(" (or ")
                .quoted(&["d_", param.name])
                .text(") like it, and leave it unused if no gradient is to flow through ")
                .quoted(&[param.name])
                .panic();
        }
        i += 1;
    }
    let mut i = 0;
    while i < backward.attrs.len() {
        check_attribute(forward, backward, &backward.attrs[i]);
        i += 1;
    }
}

/// An argument is an input, an output, or the cotangent of an output.
#[track_caller]
const fn check_argument(forward: &Handler, backward: &Handler, param: &Param) {
    if let Some(input) = named(forward, param.name, Side::Inputs) {
        check_match(forward, backward, input, param, "argument");
    } else if let Some(output) = named(forward, param.name, Side::Outputs) {
        check_match(forward, backward, output, param, "argument");
    } else if let Some(output) = tangent(forward, backward, param, Side::Outputs) {
        if !is_differentiable(forward, output) {
            about(forward, backward)
                .text(" has an argument ")
                .quoted(&[param.name])
                .text(" for the cotangent of result ")
                .quoted(&[output.name])
                .text(", which has none, as it is not a floating-point number: remove the argument")
                .panic();
        }
        check_match(forward, backward, output, param, "argument");
    } else {
        let message = about(forward, backward)
            .text(" has an argument ")
            .quoted(&[param.name])
            .text(" that matches nothing; expected");
        let message = names(message.text(" an argument of the operation ("), forward, Side::Inputs, "");
        let message = names(message.text("), a result ("), forward, Side::Outputs, "");
        let message = names(message.text("), or the cotangent of a result ("), forward, Side::Outputs, "d").text(")");
        suggestion(message, forward, param.name, &[(Side::Inputs, ""), (Side::Outputs, ""), (Side::Outputs, "d")])
            .panic();
    }
}

/// A result is the cotangent of an input.
#[track_caller]
const fn check_result(forward: &Handler, backward: &Handler, param: &Param, index: usize) {
    let Some(input) = tangent(forward, backward, param, Side::Inputs) else {
        let message = about(forward, backward)
            .text(" has a result ")
            .quoted(&[param.name])
            .text(" that matches nothing; expected the cotangent of an argument of the operation (");
        let message = names(message, forward, Side::Inputs, "d").text(")");
        suggestion(message, forward, param.name, &[(Side::Inputs, "d")]).panic();
    };
    let mut i = 0;
    while i < index {
        let other = &backward.params[i];
        if !matches!(other.role, Role::Arg) && is_tangent(other.name, input.name) {
            about(forward, backward)
                .text(" has two results for the cotangent of argument ")
                .quoted(&[input.name])
                .text(": ")
                .quoted(&[other.name])
                .text(" and ")
                .quoted(&[param.name])
                .text("; remove one")
                .panic();
        }
        i += 1;
    }
    check_match(forward, backward, input, param, "result");
}

/// Whether a parameter of the backward operation can have the values of its counterpart.
#[track_caller]
const fn check_match(forward: &Handler, backward: &Handler, counterpart: &Param, param: &Param, kind: &str) {
    let message = about(forward, backward).text(": ").text(kind).text(" ").quoted(&[param.name]);
    // An argument that may be absent takes one that never is.
    let optional = matches!((counterpart.arity, param.arity), (Arity::One, Arity::Optional))
        && !matches!(param.role, Role::Ret | Role::InOut);
    if !optional && counterpart.arity as u8 != param.arity as u8 {
        message
            .text(" ")
            .text(occurs(param.arity))
            .text(", but ")
            .quoted(&[counterpart.name])
            .text(", which it belongs to, ")
            .text(occurs(counterpart.arity))
            .text("; declare both alike")
            .panic();
    }
    if !shares_dtype(forward, counterpart, backward, param) {
        message
            .text(" has no dtype in common with ")
            .quoted(&[counterpart.name])
            .text(", which it belongs to; declare both alike")
            .panic();
    }
    if let (Some(expected), Some(given)) = (rank(counterpart), rank(param))
        && expected != given
    {
        message
            .text(" has ")
            .number(given)
            .text(" dimensions, but ")
            .quoted(&[counterpart.name])
            .text(", which it belongs to, has ")
            .number(expected)
            .text("; declare both alike")
            .panic();
    }
}

/// Attributes of one name have one value: that of the call, or the default if it gives none.
#[track_caller]
const fn check_attribute(forward: &Handler, backward: &Handler, attr: &AttrParam) {
    let Some(own) = attribute(forward, attr.name) else {
        if matches!(attr.presence, Presence::Required) && !forward.extra_attrs {
            about(forward, backward)
                .text(" requires the attribute ")
                .quoted(&[attr.name])
                .text(", which the operation does not have: add it there, or give it a default")
                .panic();
        }
        return;
    };
    let fits = match (own.presence, attr.presence) {
        (Presence::Required, _)
        | (Presence::Optional, Presence::Optional)
        | (Presence::Default(_), Presence::Required) => true,
        (Presence::Default(own), Presence::Default(other)) => equal(own, other),
        _ => false,
    };
    if !fits {
        let message = about(forward, backward)
            .text(" would have another value of the attribute ")
            .quoted(&[attr.name])
            .text(" than the operation where a call gives none: it ");
        let message = presence(message, attr.presence).text(", and the operation's ");
        presence(message, own.presence).text("; declare both alike").panic();
    }
}

/// Parameters of the forward operation.
#[derive(Clone, Copy)]
enum Side {
    Inputs,
    Outputs,
}

const fn is_on(param: &Param, side: Side) -> bool {
    match side {
        Side::Inputs => !matches!(param.role, Role::Ret),
        Side::Outputs => !matches!(param.role, Role::Arg),
    }
}

/// The parameter of a name.
const fn named<'a>(forward: &'a Handler, name: &str, side: Side) -> Option<&'a Param> {
    let mut i = 0;
    while i < forward.params.len() {
        let param = &forward.params[i];
        if is_on(param, side) && equal(param.name, name) {
            return Some(param);
        }
        i += 1;
    }
    None
}

/// The parameter whose cotangent a backward operation's parameter is.
#[track_caller]
const fn tangent<'a>(forward: &'a Handler, backward: &Handler, param: &Param, side: Side) -> Option<&'a Param> {
    let mut found: Option<&Param> = None;
    let mut i = 0;
    while i < forward.params.len() {
        let candidate = &forward.params[i];
        if is_on(candidate, side) && is_tangent(param.name, candidate.name) {
            if let Some(other) = found {
                about(forward, backward)
                    .text(" has a parameter ")
                    .quoted(&[param.name])
                    .text(" that is the cotangent of ")
                    .quoted(&[other.name])
                    .text(" or of ")
                    .quoted(&[candidate.name])
                    .text("; rename one of these")
                    .panic();
            }
            found = Some(candidate);
        }
        i += 1;
    }
    found
}

/// Whether a name is `dx` or `d_x`, where `x` is the other name.
const fn is_tangent(name: &str, of: &str) -> bool {
    equal_parts(name, &["d", of]) || equal_parts(name, &["d_", of])
}

const fn equal_parts(name: &str, parts: &[&str; 2]) -> bool {
    let (name, first, second) = (name.as_bytes(), parts[0].as_bytes(), parts[1].as_bytes());
    if name.len() != first.len() + second.len() {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        let expected = if i < first.len() { first[i] } else { second[i - first.len()] };
        if name[i] != expected {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether an argument is the cotangent of an output.
const fn takes_cotangent(forward: &Handler, backward: &Handler, output: &Param) -> bool {
    let mut i = 0;
    while i < backward.params.len() {
        let param = &backward.params[i];
        // An input or an output that is called `dy` itself comes first.
        let is_primal =
            named(forward, param.name, Side::Inputs).is_some() || named(forward, param.name, Side::Outputs).is_some();
        if !matches!(param.role, Role::Ret) && !is_primal && is_tangent(param.name, output.name) {
            return true;
        }
        i += 1;
    }
    false
}

const fn attribute<'a>(handler: &'a Handler, name: &str) -> Option<&'a AttrParam> {
    let mut i = 0;
    while i < handler.attrs.len() {
        if equal(handler.attrs[i].name, name) {
            return Some(&handler.attrs[i]);
        }
        i += 1;
    }
    None
}

/// Whether some dtype of a parameter has cotangents.
const fn is_differentiable(handler: &Handler, param: &Param) -> bool {
    let mut i = 0;
    while i < DType::ALL.len() {
        if DType::ALL[i].is_inexact() && takes(handler, param, DType::ALL[i]) {
            return true;
        }
        i += 1;
    }
    false
}

const fn shares_dtype(forward: &Handler, a: &Param, backward: &Handler, b: &Param) -> bool {
    let mut i = 0;
    while i < DType::ALL.len() {
        if takes(forward, a, DType::ALL[i]) && takes(backward, b, DType::ALL[i]) {
            return true;
        }
        i += 1;
    }
    false
}

const fn takes(handler: &Handler, param: &Param, dtype: DType) -> bool {
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

/// The rank of a parameter, where it is static.
const fn rank(param: &Param) -> Option<usize> {
    let Some(dims) = param.dims else { return param.rank };
    let mut i = 0;
    while i < dims.len() {
        if !matches!(dims[i], DimPattern::Dim(_)) {
            return param.rank;
        }
        i += 1;
    }
    Some(dims.len())
}

/// The beginning of a message.
const fn about(forward: &Handler, backward: &Handler) -> Message {
    Message::new().text("operation ").quoted(&[forward.name]).text(": its vjp operation ").quoted(&[backward.name])
}

/// The names of parameters behind a prefix.
const fn names(mut message: Message, forward: &Handler, side: Side, prefix: &str) -> Message {
    let mut is_first = true;
    let mut i = 0;
    while i < forward.params.len() {
        let param = &forward.params[i];
        if is_on(param, side) {
            message = message.text(if is_first { "" } else { ", " }).quoted(&[prefix, param.name]);
            is_first = false;
        }
        i += 1;
    }
    message
}

/// The nearest of the names that would have matched, if one is near.
const fn suggestion(message: Message, forward: &Handler, name: &str, accepted: &[(Side, &str)]) -> Message {
    let mut nearest: Option<(&str, &str)> = None;
    let mut least = message::limit(name) + 1;
    let mut a = 0;
    while a < accepted.len() {
        let (side, prefix) = accepted[a];
        let mut i = 0;
        while i < forward.params.len() {
            let param = &forward.params[i];
            let distance = message::edits(name, &[prefix, param.name]);
            if is_on(param, side) && distance < least {
                least = distance;
                nearest = Some((prefix, param.name));
            }
            i += 1;
        }
        a += 1;
    }
    match nearest {
        Some((prefix, name)) => message.text("; did you mean ").quoted(&[prefix, name]).text("?"),
        None => message,
    }
}

const fn occurs(arity: Arity) -> &'static str {
    match arity {
        Arity::One => "occurs once",
        Arity::Optional => "is optional",
        Arity::Variadic => "is variadic",
    }
}

const fn presence(message: Message, presence: Presence) -> Message {
    match presence {
        Presence::Required => message.text("is required"),
        Presence::Optional => message.text("is optional"),
        Presence::Default(text) => message.text("has the default ").quoted(&[text]),
    }
}

#[cfg(test)]
mod tests;
