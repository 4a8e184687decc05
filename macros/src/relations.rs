//! Rules about names in `#[dims]` patterns: what binds them, and that every result's shape follows from what is bound.

use std::collections::HashMap;

use proc_macro2::Ident;
use syn::{FnArg, ItemFn, Pat, parse_quote};

use crate::check::{attrs, buffers};
use crate::dims::names;
use crate::errors::Errors;
use crate::model::{Arity, Buffer, DimExpr, DimPattern, Options, Param, Presence, Role};
use crate::suggest::{did_you_mean, nearest};
use crate::{messages, types};

/// The binding of a name.
struct Binding<'a> {
    list: bool,
    /// Whether every call has it.
    always: bool,
    /// The parameter that binds it.
    param: &'a Ident,
}

type Bindings<'a> = HashMap<String, Binding<'a>>;

/// Checks every pattern.
pub(crate) fn check(params: &[Param], options: &Options, errors: &mut Errors) {
    let bindings = bind(params, errors);
    for (param, buffer) in buffers(params) {
        for ident in used(buffer) {
            bound(&bindings, param, buffer, ident, errors);
        }
    }
    if options.shape.is_none() {
        result_shapes(params, errors);
    }
}

/// Silences the lint for attributes that patterns use and the function's body need not.
pub(crate) fn allow_unused(function: &mut ItemFn, params: &[Param]) {
    let patterns = || buffers(params).flat_map(|(_, buffer)| buffer.dims.iter().flatten());
    let in_pattern = |ident: &Ident| patterns().flat_map(occurrences).any(|(used, _)| used == ident);
    let idents: Vec<&Ident> = attrs(params).map(|(param, _)| &param.ident).filter(|ident| in_pattern(ident)).collect();
    for input in &mut function.sig.inputs {
        let FnArg::Typed(input) = input else { continue };
        if matches!(&*input.pat, Pat::Ident(pat) if idents.contains(&&pat.ident)) {
            input.attrs.push(parse_quote!(#[allow(unused_variables)]));
        }
    }
}

/// The names that inputs and attributes bind, after checking that each is one kind of thing.
fn bind<'a>(params: &'a [Param], errors: &mut Errors) -> Bindings<'a> {
    let mut bindings = Bindings::new();
    let mut kinds: HashMap<String, bool> = HashMap::new();
    for pattern in buffers(params).flat_map(|(_, buffer)| buffer.dims.iter().flatten()) {
        for (ident, list) in occurrences(pattern) {
            if *kinds.entry(ident.to_string()).or_insert(list) != list {
                errors.push(ident, messages::list_and_dim(ident));
            }
            attribute(params, ident, list, errors);
        }
    }
    for (param, attr) in attrs(params) {
        let always = !matches!(attr.presence, Presence::Optional);
        bindings.insert(param.ident.to_string(), Binding { list: false, always, param: &param.ident });
    }
    for (param, buffer) in buffers(params).filter(|(_, buffer)| buffer.role != Role::Ret) {
        // A variadic argument without members binds nothing: such a call is an error then, not the signature.
        let always = buffer.arity != Arity::Optional;
        for (ident, list) in plain(buffer) {
            let binding = bindings.entry(ident.to_string()).or_insert(Binding { list, always, param: &param.ident });
            if always && !binding.always {
                *binding = Binding { list, always, param: &param.ident };
            }
        }
    }
    bindings
}

/// A name in a pattern that is also an attribute must be the value of that attribute.
fn attribute(params: &[Param], ident: &Ident, list: bool, errors: &mut Errors) {
    for (param, attr) in attrs(params) {
        if param.ident == *ident {
            if list {
                errors.push(ident, messages::list_and_attr(ident));
            } else if !types::is_integer(&attr.ty) {
                errors.push(ident, messages::dim_not_integer(ident, types::text(&attr.ty)));
            }
        } else if *ident == attr.name {
            errors.push(ident, messages::dim_is_renamed_attr(ident, &param.ident));
        }
    }
}

/// Every name in a pattern, and whether it is a list's.
fn occurrences(pattern: &DimPattern) -> Vec<(&Ident, bool)> {
    match pattern {
        DimPattern::Any => Vec::new(),
        DimPattern::List(ident) => vec![(ident, true)],
        DimPattern::Dim(expr) => {
            let mut idents = Vec::new();
            names(expr, &mut idents);
            idents.into_iter().map(|ident| (ident, false)).collect()
        }
    }
}

/// The names that stand alone in a buffer's pattern, and whether each is a list's.
fn plain(buffer: &Buffer) -> impl Iterator<Item = (&Ident, bool)> {
    buffer.dims.iter().flatten().filter_map(|pattern| match pattern {
        DimPattern::List(ident) => Some((ident, true)),
        DimPattern::Dim(DimExpr::Name(ident)) => Some((ident, false)),
        _ => None,
    })
}

/// The names that a pattern only uses: all of a result's, those inside expressions of an input.
fn used(buffer: &Buffer) -> Vec<&Ident> {
    let mut all: Vec<&Ident> = Vec::new();
    for pattern in buffer.dims.iter().flatten() {
        match pattern {
            DimPattern::Dim(DimExpr::Name(_)) | DimPattern::List(_) if buffer.role != Role::Ret => {}
            pattern => all.extend(occurrences(pattern).into_iter().map(|(ident, _)| ident)),
        }
    }
    let mut once: Vec<&Ident> = Vec::new();
    for ident in all {
        if !once.contains(&ident) {
            once.push(ident);
        }
    }
    once
}

fn bound(bindings: &Bindings<'_>, param: &Param, buffer: &Buffer, ident: &Ident, errors: &mut Errors) {
    let own = || buffer.role != Role::Ret && plain(buffer).any(|(name, _)| name == ident);
    match bindings.get(&ident.to_string()) {
        Some(binding) if binding.always || own() => {}
        Some(binding) => errors.push(ident, messages::bound_sometimes(ident, binding.param)),
        None => {
            let role = if buffer.role == Role::Ret { "result" } else { "argument" };
            let mut known: Vec<&str> = bindings.keys().map(String::as_str).collect();
            known.sort_unstable();
            let meant = did_you_mean(nearest(&ident.to_string(), known.iter().copied()));
            errors.push(ident, messages::unbound(ident, role, &param.ident, meant, list_of(bindings)));
        }
    }
}

/// "`..b` and `n`" in a stable order, for messages.
fn list_of(bindings: &Bindings<'_>) -> String {
    let dots = |list| if list { ".." } else { "" };
    let mut names: Vec<String> =
        bindings.iter().map(|(name, binding)| format!("`{}{name}`", dots(binding.list))).collect();
    names.sort_unstable();
    if names.is_empty() { "nothing is bound here".to_owned() } else { format!("bound here: {}", names.join(", ")) }
}

/// Without a shape function, a result's pattern, or else the shape of the first argument, is its shape.
fn result_shapes(params: &[Param], errors: &mut Errors) {
    // Optional arguments follow all others, so this is argument 0 unless a call can have none.
    let first = buffers(params).find(|(_, buffer)| buffer.role != Role::Ret && buffer.arity != Arity::Optional);
    for (param, buffer) in buffers(params).filter(|(_, buffer)| buffer.role == Role::Ret) {
        // Where a pattern leaves something open, with `..` or `_`, the caller gives the shape.
        if buffer.dims.is_some() {
            continue;
        }
        let rank = types::rank(&buffer.ty);
        if types::is_token(&buffer.ty) || rank == Some(0) {
            continue;
        }
        match first {
            Some((argument, default)) if !types::is_token(&default.ty) => {
                let given = default.dims.as_ref().map_or_else(|| types::rank(&default.ty), |dims| fixed_rank(dims));
                if let (Some(rank), Some(given)) = (rank, given)
                    && rank != given
                {
                    let message = messages::default_rank(&param.ident, rank, &argument.ident, given);
                    errors.push_at(param.span, message);
                }
            }
            _ => errors.push_at(param.span, messages::no_shape(&param.ident)),
        }
    }
}

/// The rank of a pattern without lists.
pub(crate) fn fixed_rank(patterns: &[DimPattern]) -> Option<usize> {
    let fixed = patterns.iter().all(|pattern| matches!(pattern, DimPattern::Dim(_)));
    fixed.then_some(patterns.len())
}
