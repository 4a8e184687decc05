//! `#[stage(...)]`: functions of the stages before execute.

use proc_macro2::TokenStream;
use syn::{ItemFn, Path, Type, parse_quote};

use crate::errors::Errors;
use crate::model::{ParamKind, Stage, StageFn};
use crate::params::{self, Params};
use crate::signature::{self, Returned};
use crate::{check, entries, messages, names, types};

/// Parses and checks; the error holds every mistake.
pub(crate) fn parse(args: TokenStream, item: TokenStream) -> syn::Result<StageFn> {
    let mut errors = Errors::default();
    let mut function = signature::function("stage", item)?;
    signature::check("stage", &function, &mut errors);
    let (stage, krate) = arguments(args, &function, &mut errors);
    for param in &function.sig.generics.params {
        if !matches!(param, syn::GenericParam::Lifetime(_)) {
            errors.push(param, messages::generic_stage());
        }
    }
    let returned = state(&function, &mut errors);
    let params = params::parse(&mut function, &[], &mut errors);
    rules(stage, &params, &mut errors);
    errors.finish(())?;
    match (stage, returned) {
        (Some(stage), Some((state, fallible))) => {
            Ok(StageFn { stage, krate, function, params: params.list, state, fallible })
        }
        // Both are reported where they are missing, so `finish` has returned.
        _ => Err(syn::Error::new_spanned(&function.sig.ident, messages::stage_wants_name())),
    }
}

fn arguments(args: TokenStream, function: &ItemFn, errors: &mut Errors) -> (Option<Stage>, Path) {
    let mut stage: Option<Stage> = None;
    let mut krate: Path = parse_quote!(::oxcall);
    let mut named_one = false;
    entries::parse(args, "a stage", errors, |key, input, errors| {
        if *key == "crate" {
            krate = entries::path(key, input)?;
            return Ok(());
        }
        if named_one {
            errors.push(key, messages::two_stages());
        }
        named_one = true;
        stage = Some(names::stage_named(key)?);
        entries::flag(key, input)
    });
    if !named_one && errors.is_empty() {
        errors.push(&function.sig.ident, messages::stage_wants_name());
    }
    (stage, krate)
}

/// The state's type, and whether the function may fail.
fn state(function: &ItemFn, errors: &mut Errors) -> Option<(Type, bool)> {
    let (ty, fallible) = match signature::returned(&function.sig.output) {
        Returned::Plain(ty) => (ty, false),
        Returned::Result(Some(ty)) if !signature::is_unit(ty) => (ty, true),
        Returned::Unit | Returned::Result(_) => {
            match &function.sig.output {
                syn::ReturnType::Default => errors.push(&function.sig.ident, messages::stage_returns_nothing()),
                syn::ReturnType::Type(_, ty) => errors.push(ty, messages::stage_returns_nothing()),
            }
            return None;
        }
    };
    match ty {
        Type::ImplTrait(_) | Type::Reference(_) | Type::TraitObject(_) | Type::Never(_) => {
            errors.push(ty, messages::stage_returns_unnamed(types::text(ty)));
            None
        }
        ty => Some((ty.clone(), fallible)),
    }
}

fn rules(stage: Option<Stage>, params: &Params, errors: &mut Errors) {
    check::attributes(&params.list, errors);
    check::states(&params.list, errors);
    for param in &params.list {
        match &param.kind {
            ParamKind::Buffer(buffer) => {
                errors.push(&param.ty, messages::buffer_in_stage(&param.ident, types::text(&buffer.ty)));
            }
            ParamKind::State { stage: of, .. } if stage.is_some_and(|stage| stage <= *of) => {
                let own = stage.map(names::stage).unwrap_or_default();
                errors.push_at(param.span, messages::later_state(&param.ident, names::stage(*of), own));
            }
            _ => {}
        }
    }
}
