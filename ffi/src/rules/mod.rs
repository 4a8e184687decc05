//! The fit of the operations that the options `vjp`, `jvp`, `fwd`, `transpose` and `vmap` name: whether each has the
//! parameters that its rule gives values to, and gives all that the rule needs. `autocast` has the dtypes that an
//! operation needs for a policy of autocast.
//!
//! The macro has the compiler run this, so that a mistake is an error of the build. Hosts match operations by the names
//! of their parameters in the same way: `oxcall/_pairing.py` for JAX, `torch/glue/rules.py` for torch.

mod autocast;
mod message;
mod sides;

pub use self::autocast::check_autocast;
use self::message::Message;
use self::sides::{Found, Rule, Side, Source, derivative, is_differentiable, is_inexact, is_nondiff, shares_dtype};
use crate::descriptor::{Arity, AttrParam, DimPattern, Handler, Param, Presence, Role};
use crate::names::equal;

/// The parameters that a rule requires of the operation it names.
struct Wanted {
    /// The arguments that it may have.
    arguments: &'static [Source],
    /// The results that it may have.
    results: &'static [Source],
    /// The arguments that it must have.
    taken: Option<Source>,
    /// The results that it must have.
    given: Option<Source>,
    /// How many dimensions more than its counterpart each parameter has.
    more_dims: usize,
}

/// Refuses a backward operation that does not fit: one that takes no cotangent of a result or gives none of an
/// argument, one with a parameter that matches nothing, or one whose parameters and attributes cannot have the values
/// of their counterparts. Residuals are what `fwd` gives beside the results.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check_vjp(op: &Handler, fwd: Option<&Handler>, vjp: &Handler) {
    let wanted = Wanted {
        arguments: &[(Side::Inputs, ""), (Side::Outputs, ""), (Side::Residuals, ""), (Side::Outputs, "d")],
        results: &[(Side::Inputs, "d")],
        taken: Some((Side::Outputs, "d")),
        given: Some((Side::Inputs, "d")),
        more_dims: 0,
    };
    check(Rule { op, fwd, other: vjp, option: "vjp" }, &wanted);
}

/// Refuses an operation that does not fit as the derivative in forward mode: as [`check_vjp`], for tangents.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check_jvp(op: &Handler, fwd: Option<&Handler>, jvp: &Handler) {
    let wanted = Wanted {
        arguments: &[(Side::Inputs, ""), (Side::Outputs, ""), (Side::Residuals, ""), (Side::Inputs, "t")],
        results: &[(Side::Outputs, "t")],
        taken: Some((Side::Inputs, "t")),
        given: Some((Side::Outputs, "t")),
        more_dims: 0,
    };
    check(Rule { op, fwd, other: jvp, option: "jvp" }, &wanted);
}

/// Refuses an operation that does not fit as the transpose: one that takes no cotangent of a result, or takes the value
/// of an argument whose cotangent it gives.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check_transpose(op: &Handler, transpose: &Handler) {
    let wanted = Wanted {
        arguments: &[(Side::Inputs, ""), (Side::Outputs, "d")],
        results: &[(Side::Inputs, "d")],
        taken: Some((Side::Outputs, "d")),
        given: None,
        more_dims: 0,
    };
    let rule = Rule { op, fwd: None, other: transpose, option: "transpose" };
    check(rule, &wanted);
    let mut i = 0;
    while i < transpose.params.len() {
        let param = &transpose.params[i];
        if !matches!(param.role, Role::Ret)
            && let Some(Found { param: input, is_derivative: false, .. }) = rule.find(param.name, wanted.arguments)
            && has(rule, input, (Side::Inputs, "d"), wanted.results, Role::Arg)
        {
            rule.message()
                .text(" takes argument ")
                .quoted(&[input.name])
                .text(", in which the operation is linear, since it also gives the cotangent: its value is not known where ")
                .text("a linear map is transposed; remove the argument, or declare a ")
                .quoted(&["vjp"])
                .panic();
        }
        i += 1;
    }
}

/// Refuses a forward operation that does not fit: it takes the arguments of the operation and gives its results, and
/// residuals beside them.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check_fwd(op: &Handler, fwd: &Handler) {
    let rule = Rule { op, fwd: Some(fwd), other: fwd, option: "fwd" };
    let wanted = Wanted {
        arguments: &[(Side::Inputs, "")],
        results: &[(Side::Outputs, ""), (Side::Residuals, "")],
        taken: Some((Side::Inputs, "")),
        given: Some((Side::Outputs, "")),
        more_dims: 0,
    };
    check(rule, &wanted);
    let mut has_residual = false;
    let mut i = 0;
    while i < fwd.params.len() {
        let param = &fwd.params[i];
        if rule.is_on(param, Side::Residuals) {
            has_residual = true;
            if rule.find(param.name, &[(Side::Inputs, "")]).is_some() {
                rule.message()
                    .text(" has the residual ")
                    .quoted(&[param.name])
                    .text(", which is also the name of an argument; rename one of the two")
                    .panic();
            }
            if !matches!(param.arity, Arity::One) {
                rule.message()
                    .text(" has the residual ")
                    .quoted(&[param.name])
                    .text(", which ")
                    .text(occurs(param.arity))
                    .text("; declare one that occurs once")
                    .panic();
            }
        }
        i += 1;
    }
    if !has_residual {
        rule.message().text(" gives no residual: add a result that the derivative uses, or remove `fwd`").panic();
    }
}

/// Refuses an operation that does not fit as the operation on batches: it has the same parameters, each with one
/// dimension more.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check_vmap(op: &Handler, vmap: &Handler) {
    let wanted = Wanted {
        arguments: &[(Side::Inputs, "")],
        results: &[(Side::Outputs, "")],
        taken: Some((Side::Inputs, "")),
        given: Some((Side::Outputs, "")),
        more_dims: 1,
    };
    check(Rule { op, fwd: None, other: vmap, option: "vmap" }, &wanted);
}

/// Refuses `nondiff` for a parameter without derivatives, for which it says nothing.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
#[track_caller]
pub const fn check_nondiff(op: &Handler) {
    let mut i = 0;
    while i < op.params.len() {
        let param = &op.params[i];
        if is_nondiff(op, param) && !is_inexact(op, param) {
            Message::new()
                .text("operation ")
                .quoted(&[op.name])
                .text(": `nondiff` lists ")
                .quoted(&[param.name])
                .text(", which has no derivative, as it is not a floating-point number: remove it there")
                .panic();
        }
        i += 1;
    }
}

#[track_caller]
const fn check(rule: Rule<'_>, wanted: &Wanted) {
    let mut i = 0;
    while i < rule.other.params.len() {
        let param = &rule.other.params[i];
        if !matches!(param.role, Role::Ret) {
            check_parameter(rule, wanted, param, "argument", wanted.arguments);
        }
        if !matches!(param.role, Role::Arg) {
            check_parameter(rule, wanted, param, "result", wanted.results);
            check_once(rule, param, i, wanted.results);
        }
        i += 1;
    }
    if let Some(source) = wanted.taken {
        check_complete(rule, source, wanted.arguments, Role::Ret);
    }
    if let Some(source) = wanted.given {
        check_complete(rule, source, wanted.results, Role::Arg);
    }
    let mut i = 0;
    while i < rule.other.attrs.len() {
        check_attribute(rule, &rule.other.attrs[i]);
        i += 1;
    }
}

/// A parameter has a counterpart, and can have its values.
#[track_caller]
const fn check_parameter(rule: Rule<'_>, wanted: &Wanted, param: &Param, kind: &str, sources: &[Source]) {
    let Some(found) = rule.find(param.name, sources) else {
        let message = rule.message().text(": ").text(kind).text(" ").quoted(&[param.name]);
        let message = message.text(" matches nothing; expected");
        rule.accepted(message, param.name, sources).panic();
    };
    if found.is_derivative && !is_differentiable(found.handler, found.param) {
        let message = rule.message().text(" has the ").text(kind).text(" ").quoted(&[param.name]).text(" for ");
        let (_, prefix) = sources[sources.len() - 1];
        let message = message.text("the ").text(derivative(prefix)).text(" of ").quoted(&[found.param.name]);
        if is_nondiff(found.handler, found.param) {
            message.text(", which `nondiff` lists; remove one of the two").panic();
        }
        message.text(", which has none, as it is not a floating-point number; remove it").panic();
    }
    check_match(rule, found, param, kind, wanted.more_dims);
}

/// No other result has the same counterpart.
#[track_caller]
const fn check_once(rule: Rule<'_>, param: &Param, index: usize, sources: &[Source]) {
    let Some(found) = rule.find(param.name, sources) else { return };
    let mut i = 0;
    while i < index {
        let other = &rule.other.params[i];
        if !matches!(other.role, Role::Arg)
            && let Some(first) = rule.find(other.name, sources)
            && equal(first.param.name, found.param.name)
        {
            let (_, prefix) = sources[0];
            rule.message()
                .text(" has two results for the ")
                .text(derivative(prefix))
                .text(" of ")
                .quoted(&[found.param.name])
                .text(": ")
                .quoted(&[other.name])
                .text(" and ")
                .quoted(&[param.name])
                .text("; remove one")
                .panic();
        }
        i += 1;
    }
}

/// Whether some parameter of the other operation is this value; `except` is the role of those that are not asked.
#[track_caller]
const fn has(rule: Rule<'_>, value: &Param, source: Source, sources: &[Source], except: Role) -> bool {
    let (_, prefix) = source;
    let mut i = 0;
    while i < rule.other.params.len() {
        let param = &rule.other.params[i];
        if param.role as u8 != except as u8
            && let Some(found) = rule.find(param.name, sources)
            && found.is_derivative != prefix.is_empty()
            && equal(found.param.name, value.name)
        {
            return true;
        }
        i += 1;
    }
    false
}

/// All values of a source are there: of derivatives, those that have them.
#[track_caller]
const fn check_complete(rule: Rule<'_>, source: Source, sources: &[Source], except: Role) {
    let (side, prefix) = source;
    let handler = rule.handler(side);
    let takes = matches!(except, Role::Ret);
    let mut i = 0;
    while i < handler.params.len() {
        let value = &handler.params[i];
        let needed = rule.is_on(value, side) && (prefix.is_empty() || is_differentiable(handler, value));
        if needed && !has(rule, value, source, sources, except) {
            let message = rule.message().text(if takes { " takes no " } else { " gives no " });
            let message = if prefix.is_empty() { message } else { message.text(derivative(prefix)).text(" of ") };
            let message = message.text(if matches!(side, Side::Inputs) { "argument " } else { "result " });
            let message = message.quoted(&[value.name]);
            let add = if takes { "an argument " } else { "a result " };
            if prefix.is_empty() {
                message.text("; add ").text(add).quoted(&[value.name]).panic();
            }
            message
                .text(", so that derivatives ")
                .text(if matches!(side, Side::Inputs) { "with respect to it" } else { "through it" })
                .text(" would be zero: add ")
                .text(add)
                .quoted(&[prefix, value.name])
                .text(" (or ")
                .quoted(&[prefix, "_", value.name])
                .text("); if they are zero, declare ")
                .quoted(&["nondiff = [", value.name, "]"])
                .panic();
        }
        i += 1;
    }
}

/// Whether a parameter can have the values of its counterpart.
#[track_caller]
const fn check_match(rule: Rule<'_>, found: Found<'_>, param: &Param, kind: &str, more_dims: usize) {
    let Found { handler, param: counterpart, .. } = found;
    let message = rule.message().text(": ").text(kind).text(" ").quoted(&[param.name]);
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
    if !shares_dtype(handler, counterpart, rule.other, param) {
        message
            .text(" has no dtype in common with ")
            .quoted(&[counterpart.name])
            .text(", which it belongs to; declare both alike")
            .panic();
    }
    if let (Some(expected), Some(given)) = (rank(counterpart), rank(param))
        && expected + more_dims != given
    {
        message
            .text(" has ")
            .number(given)
            .text(" dimensions, but ")
            .quoted(&[counterpart.name])
            .text(", which it belongs to, has ")
            .number(expected)
            .text(if more_dims == 0 { "; declare both alike" } else { "; declare one more" })
            .panic();
    }
}

/// Attributes of one name have one value: that of the call, or the default if it gives none.
#[track_caller]
const fn check_attribute(rule: Rule<'_>, attr: &AttrParam) {
    let Some(own) = attribute(rule.op, attr.name) else {
        if matches!(attr.presence, Presence::Required) && !rule.op.extra_attrs {
            rule.message()
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
        let message = rule
            .message()
            .text(" would have another value of the attribute ")
            .quoted(&[attr.name])
            .text(" than the operation where a call gives none: it ");
        let message = presence(message, attr.presence).text(", and the operation's ");
        presence(message, own.presence).text("; declare both alike").panic();
    }
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
