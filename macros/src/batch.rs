//! Rules about batches: the options `batch`, `vmap` and `nondiff`, and `#[sum]`.

use proc_macro2::Ident;

use crate::check::buffers;
use crate::errors::Errors;
use crate::model::{Arity, Buffer, DimPattern, Options, Param, Role, Vmap};
use crate::relations::fixed_rank;
use crate::suggest::{did_you_mean, nearest};
use crate::{messages, types};

/// The methods of `vmap` that add a dimension to every parameter, or to every result.
const AT_ONCE: &[&str] = &["expand_dims", "broadcast_all", "legacy_vectorized"];

/// Checks what the options say about the parameters.
pub(crate) fn check(params: &[Param], options: &Options, errors: &mut Errors) {
    nondiff(params, options, errors);
    match &options.batch {
        Some(name) => batch(params, options, name, errors),
        None => {
            for (_, buffer) in buffers(params) {
                if let Some(name) = &buffer.sum {
                    errors.push(name, messages::sum_without_batch(name));
                }
            }
        }
    }
    if let Some(Vmap::Method(method)) = &options.vmap {
        let written = method.value();
        if AT_ONCE.contains(&&*written) {
            if options.batch.is_some() {
                errors.push(method, messages::vmap_beside_batch(&written));
            } else {
                at_once(params, options, &written, errors);
            }
        }
    }
}

fn nondiff(params: &[Param], options: &Options, errors: &mut Errors) {
    for name in &options.nondiff {
        if !buffers(params).any(|(param, _)| param.ident == *name) {
            let all: Vec<String> = buffers(params).map(|(param, _)| param.ident.to_string()).collect();
            let meant = did_you_mean(nearest(&name.to_string(), all.iter().map(String::as_str)));
            errors.push(name, messages::nondiff_unknown(name, meant, all.join("`, `")));
        }
    }
}

fn batch(params: &[Param], options: &Options, name: &Ident, errors: &mut Errors) {
    let inputs = || buffers(params).filter(|(_, buffer)| buffer.role != Role::Ret);
    if !inputs().any(|(_, buffer)| buffer.arity == Arity::One && occurrences(buffer, name) > 0) {
        let mut lists: Vec<String> = inputs().flat_map(|(_, buffer)| lists(buffer)).map(Ident::to_string).collect();
        lists.sort();
        lists.dedup();
        let meant = did_you_mean(nearest(&name.to_string(), lists.iter().map(String::as_str)));
        let all = match lists.as_slice() {
            [] => "no argument that every call has binds a list of dimensions".to_owned(),
            lists => format!("arguments have `..{}`", lists.join("`, `..")),
        };
        errors.push(name, messages::batch_unknown(name, meant, all));
        return;
    }
    let first = inputs().find(|(_, buffer)| buffer.arity == Arity::One).map(|(_, buffer)| buffer);
    for (param, buffer) in buffers(params) {
        // Without dimensions, a result has the shape of the first argument.
        let scalar = types::rank(&buffer.ty) == Some(0) || types::is_token(&buffer.ty);
        let by_default = buffer.role == Role::Ret && buffer.dims.is_none() && !scalar;
        if by_default && options.shape.is_some() {
            errors.push_at(param.span, messages::batch_shape(&param.ident));
            continue;
        }
        let count = occurrences(first.filter(|_| by_default).unwrap_or(buffer), name);
        if count > 1 {
            errors.push_at(param.span, messages::batch_twice(name, &param.ident));
        }
        match (&buffer.sum, buffer.role) {
            (Some(sum), _) if sum != name => errors.push(sum, messages::sum_other(sum, name)),
            (Some(sum), _) if count > 0 => errors.push(sum, messages::sum_of_batch(&param.ident, name)),
            (None, Role::Ret) if count == 0 => {
                errors.push_at(param.span, messages::batch_result(&param.ident, name));
            }
            (None, Role::InOut) if count == 0 => {
                errors.push_at(param.span, messages::batch_inout(&param.ident, name));
            }
            _ => {}
        }
    }
}

/// Every parameter that gets a dimension more can have it.
fn at_once(params: &[Param], options: &Options, method: &str, errors: &mut Errors) {
    for (param, buffer) in buffers(params) {
        // This method leaves arguments alone that are not batched.
        let stays = method == "legacy_vectorized" && buffer.role == Role::Arg;
        let rank = types::rank(&buffer.ty).or_else(|| buffer.dims.as_ref().and_then(|dims| fixed_rank(dims)));
        let by_function = buffer.role == Role::Ret && options.shape.is_some() && types::rank(&buffer.ty).is_none();
        if let Some(rank) = rank.filter(|_| !stays && !by_function && !types::is_token(&buffer.ty)) {
            let dims = if rank == 1 { "1 dimension".to_owned() } else { format!("{rank} dimensions") };
            errors.push_at(param.span, messages::vmap_rank(method, &param.ident, dims));
        }
    }
}

fn lists(buffer: &Buffer) -> impl Iterator<Item = &Ident> {
    buffer.dims.iter().flatten().filter_map(|dim| match dim {
        DimPattern::List(name) => Some(name),
        _ => None,
    })
}

fn occurrences(buffer: &Buffer, name: &Ident) -> usize {
    lists(buffer).filter(|list| *list == name).count()
}
