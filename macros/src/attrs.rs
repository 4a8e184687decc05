//! Helper attributes: `#[attr(...)]`, `#[dims(...)]`, `#[sum(...)]`, `#[state(...)]`, `#[arg]`, `#[ret]`, `#[inout]`,
//! `#[ctx]`.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, LitStr, Meta};

use crate::errors::Errors;
use crate::model::Stage;
use crate::suggest::{did_you_mean, nearest};
use crate::{dims, entries, messages, names};

/// The helper attributes of parameters.
const HELPERS: &[&str] = &["attr", "dims", "sum", "state", "arg", "ret", "inout", "ctx"];

/// Attributes that the compiler itself allows on a parameter.
const BUILTIN: &[&str] = &["cfg", "cfg_attr", "allow", "expect", "warn", "deny", "forbid", "doc"];

/// Whether an attribute is left to the compiler.
pub(crate) fn is_builtin(attr: &Attribute) -> bool {
    BUILTIN.iter().any(|name| attr.path().is_ident(name))
}

/// A parameter's helper attributes.
#[derive(Default)]
pub(crate) struct Helpers {
    /// The attribute that forces a role, and the role.
    pub(crate) role: Option<(Ident, Forced)>,
    /// `#[dims(...)]`, and the attribute for messages.
    pub(crate) dims: Option<(Attribute, dims::Parsed)>,
    /// `#[sum(b)]`: the name.
    pub(crate) sum: Option<Ident>,
    /// Whether there was another attribute, which may have been meant to force a role.
    pub(crate) unknown: bool,
}

/// A role that an attribute forces.
pub(crate) enum Forced {
    Arg,
    Ret,
    InOut,
    Context,
    Attr(Box<AttrArgs>),
    /// `None` where the stage was wrong.
    State(Option<Stage>),
}

/// The arguments of `#[attr(...)]`.
#[derive(Default)]
pub(crate) struct AttrArgs {
    pub(crate) name: Option<LitStr>,
    pub(crate) default: Option<(Ident, Expr)>,
    pub(crate) rest: Option<Ident>,
}

/// Removes the helper attributes from a parameter's attributes, and returns what they say.
pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Helpers {
    let mut helpers = Helpers::default();
    for attr in attrs.extract_if(.., |attr| !is_builtin(attr)) {
        if let Err(error) = helper(&mut helpers, &attr, errors) {
            errors.add(error);
        }
    }
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")) {
        errors.push(attr, messages::cfg_on_parameter());
    }
    helpers
}

fn helper(helpers: &mut Helpers, attr: &Attribute, errors: &mut Errors) -> syn::Result<()> {
    let known = attr.path().get_ident().filter(|name| HELPERS.iter().any(|helper| *name == helper));
    let Some(name) = known.cloned() else {
        helpers.unknown = true;
        let written = path_text(attr);
        let meant = nearest(&written, HELPERS.iter().copied());
        return Err(syn::Error::new_spanned(attr.path(), messages::unknown_helper(written, did_you_mean(meant))));
    };
    let forced = match name.to_string().as_str() {
        "dims" => {
            let tokens = match &attr.meta {
                Meta::List(list) => list.tokens.clone(),
                _ => return Err(syn::Error::new_spanned(attr, messages::dims_without_list())),
            };
            if helpers.dims.is_some() {
                errors.push(attr, messages::helper_twice("dims"));
            } else {
                helpers.dims = Some((attr.clone(), dims::parse(tokens, errors)));
            }
            return Ok(());
        }
        "sum" => {
            let name = match &attr.meta {
                Meta::List(list) => list.parse_args_with(Ident::parse_any).ok(),
                _ => None,
            };
            let name = name.ok_or_else(|| syn::Error::new_spanned(attr, messages::sum_wants_name()))?;
            if helpers.sum.replace(name).is_some() {
                errors.push(attr, messages::helper_twice("sum"));
            }
            return Ok(());
        }
        "attr" => Forced::Attr(Box::new(attr_args(attr, &["name", "default", "rest"], errors)?)),
        "state" => Forced::State(state_stage(attr, errors)),
        "arg" => Forced::Arg,
        "ret" => Forced::Ret,
        "inout" => Forced::InOut,
        _ => Forced::Context,
    };
    if !matches!(forced, Forced::Attr(_) | Forced::State(_)) && !matches!(attr.meta, Meta::Path(_)) {
        errors.push(attr, messages::helper_with_arguments(&name));
    }
    match &helpers.role {
        Some((first, _)) if *first == name => errors.push(attr, messages::helper_twice(&name)),
        Some((first, _)) => errors.push(attr, messages::two_roles(first, &name)),
        None => helpers.role = Some((name, forced)),
    }
    Ok(())
}

/// The arguments of an `#[attr(...)]`; only `allowed` make sense where it stands.
pub(crate) fn attr_args(attr: &Attribute, allowed: &[&str], errors: &mut Errors) -> syn::Result<AttrArgs> {
    let mut args = AttrArgs::default();
    let Some(tokens) = list(attr)? else { return Ok(args) };
    entries::parse(tokens, "an argument of `#[attr]`", errors, |key, input, errors| {
        match key.to_string().as_str() {
            name if !allowed.contains(&name) => {
                let meant = did_you_mean(nearest(name, allowed.iter().copied()));
                return Err(syn::Error::new_spanned(
                    key,
                    messages::unknown_attr_key(name, meant, allowed.join("`, `")),
                ));
            }
            "name" => {
                let name = entries::string(key, input)?;
                if let Some(name) = errors.ok(names::checked("attribute", name)) {
                    args.name = Some(name);
                }
            }
            "default" => {
                entries::equals(key, input, messages::default_without_value())?;
                args.default = Some((key.clone(), input.parse()?));
            }
            _ => {
                entries::flag(key, input)?;
                args.rest = Some(key.clone());
            }
        }
        Ok(())
    });
    if let (Some(_), Some((default, _))) = (&args.rest, &args.default) {
        errors.push(default, messages::default_with_rest());
    }
    if let (Some(_), Some(name)) = (&args.rest, &args.name) {
        errors.push(name, messages::name_with_rest());
    }
    Ok(args)
}

fn state_stage(attr: &Attribute, errors: &mut Errors) -> Option<Stage> {
    let tokens = errors.ok(list(attr))?;
    match tokens {
        None => Some(Stage::Instantiate),
        Some(tokens) if tokens.is_empty() => Some(Stage::Instantiate),
        Some(tokens) => errors.ok(syn::parse2::<Ident>(tokens.clone()).map_or_else(
            |_| Err(syn::Error::new(tokens.span(), messages::state_wants_stage())),
            |ident| names::stage_named(&ident),
        )),
    }
}

/// The tokens between the parentheses; `None` for a bare `#[attr]`.
pub(crate) fn list(attr: &Attribute) -> syn::Result<Option<TokenStream>> {
    match &attr.meta {
        Meta::Path(_) => Ok(None),
        Meta::List(list) if matches!(list.delimiter, syn::MacroDelimiter::Paren(_)) => Ok(Some(list.tokens.clone())),
        _ => Err(syn::Error::new_spanned(attr, messages::helper_wants_parentheses(path_text(attr)))),
    }
}

fn path_text(attr: &Attribute) -> String {
    let segments: Vec<String> = attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    segments.join("::")
}
