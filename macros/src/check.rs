//! Rules across parameters and options.

use std::collections::BTreeMap;

use syn::ItemFn;

use crate::errors::Errors;
use crate::model::{Arity, Attr, Buffer, Options, Param, ParamKind, Role, Stage, TypeParam};
use crate::options::HOST;
use crate::params::Params;
use crate::types::{self, Known, Memory};
use crate::{messages, names};

/// The buffers among parameters.
pub(crate) fn buffers(params: &[Param]) -> impl Iterator<Item = (&Param, &Buffer)> {
    params.iter().filter_map(|param| match &param.kind {
        ParamKind::Buffer(buffer) => Some((param, buffer)),
        _ => None,
    })
}

/// The attributes among parameters.
pub(crate) fn attrs(params: &[Param]) -> impl Iterator<Item = (&Param, &Attr)> {
    params.iter().filter_map(|param| match &param.kind {
        ParamKind::Attr(attr) => Some((param, attr)),
        _ => None,
    })
}

/// All rules of an execute function. `future`: whether it returns one; `None` where its return type is wrong.
pub(crate) fn custom_call(
    function: &ItemFn,
    options: &Options,
    type_params: &[TypeParam],
    params: &Params,
    future: Option<bool>,
    errors: &mut Errors,
) {
    order(&params.list, errors);
    attributes(&params.list, errors);
    states(&params.list, errors);
    declared_states(&params.list, options, errors);
    platform(&params.list, options, errors);
    legacy(options, errors);
    if future == Some(false) {
        asynchronous(&params.list, errors);
    }
    if params.whole && future.is_some() {
        results(function, &params.list, options, errors);
    }
    if params.whole {
        dispatch(type_params, &params.list, errors);
    }
}

/// Optional parameters after those that are always there, one variadic after all: among the arguments, and among the
/// results. An `InOut` is in both sequences.
fn order(params: &[Param], errors: &mut Errors) {
    for sequence in [Role::Arg, Role::Ret] {
        let mut last: Option<(&Param, Arity)> = None;
        for (param, buffer) in buffers(params).filter(|(_, buffer)| [sequence, Role::InOut].contains(&buffer.role)) {
            let kind = if sequence == Role::Arg { "argument" } else { "result" };
            let (at, message) = match (last, buffer.arity) {
                (Some((first, Arity::Variadic)), Arity::Variadic) => {
                    (param, messages::two_variadics(kind, &first.ident, &param.ident))
                }
                (Some((first, Arity::Variadic)), _) => {
                    (first, messages::variadic_not_last(kind, &first.ident, &param.ident))
                }
                (Some((first, Arity::Optional)), Arity::One) => {
                    (first, messages::optional_not_trailing(kind, &first.ident, &param.ident))
                }
                _ => {
                    last = Some((param, buffer.arity));
                    continue;
                }
            };
            errors.push(&at.ty, message);
            break;
        }
    }
}

/// One parameter an attribute, one for the rest.
pub(crate) fn attributes(params: &[Param], errors: &mut Errors) {
    let mut names: BTreeMap<&str, &Param> = BTreeMap::new();
    for (param, attr) in attrs(params) {
        if let Some(first) = names.insert(&attr.name, param) {
            errors.push_at(param.span, messages::duplicate_attr(&attr.name, &first.ident));
        }
    }
    let rest = params.iter().filter(|param| matches!(param.kind, ParamKind::AttrRest));
    for param in rest.skip(1) {
        errors.push_at(param.span, messages::two_rests());
    }
}

/// At most one state a stage.
pub(crate) fn states(params: &[Param], errors: &mut Errors) {
    let mut seen: BTreeMap<Stage, &Param> = BTreeMap::new();
    for param in params {
        if let ParamKind::State { stage, .. } = &param.kind
            && let Some(first) = seen.insert(*stage, param)
        {
            errors.push_at(param.span, messages::two_states(names::stage(*stage), &first.ident));
        }
    }
}

fn declared_states(params: &[Param], options: &Options, errors: &mut Errors) {
    for param in params {
        if let ParamKind::State { stage, .. } = &param.kind
            && !options.stages.iter().any(|(declared, _)| declared == stage)
        {
            errors.push_at(param.span, messages::undeclared_stage(&param.ident, names::stage(*stage)));
        }
    }
}

/// Memory of other platforms is not the host's to read.
fn platform(params: &[Param], options: &Options, errors: &mut Errors) {
    if options.platform.value() == HOST {
        return;
    }
    for (param, buffer) in buffers(params) {
        if let Some(Known::Buffer(role, Memory::Host)) = types::known(&buffer.ty) {
            let instead = match role {
                Role::Arg => "DeviceArray",
                Role::Ret => "DeviceOut",
                Role::InOut => "DeviceInOut",
            };
            errors.push(&param.ty, messages::host_memory(types::text(&buffer.ty), options.platform.value(), instead));
        }
    }
}

/// Legacy targets have no stages.
fn legacy(options: &Options, errors: &mut Errors) {
    if let Some((stage, path)) = options.stages.first().filter(|_| options.legacy) {
        errors.push(path, messages::legacy_stages(names::stage(*stage)));
    }
}

/// A promise that no future leaves the function with could not be awaited.
fn asynchronous(params: &[Param], errors: &mut Errors) {
    for param in params.iter().filter(|param| matches!(param.kind, ParamKind::Context)) {
        if types::name(&param.ty).is_some_and(|name| name == "Async") {
            errors.push(&param.ty, messages::async_without_future());
        }
    }
}

/// A call without results is dead code to XLA.
fn results(function: &ItemFn, params: &[Param], options: &Options, errors: &mut Errors) {
    let any = buffers(params).any(|(_, buffer)| buffer.role != Role::Arg);
    if !any && !options.side_effect {
        errors.push(&function.sig.ident, messages::no_results());
    }
}

/// Every type parameter follows from a buffer. Where it is absent, any element type will do.
fn dispatch(type_params: &[TypeParam], params: &[Param], errors: &mut Errors) {
    for (index, type_param) in type_params.iter().enumerate() {
        if !buffers(params).any(|(_, buffer)| buffer.var == Some(index)) {
            errors.push(&type_param.ident, messages::undispatched(&type_param.ident));
        }
    }
}
