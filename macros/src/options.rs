//! The options of `#[custom_call(...)]`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{ItemFn, LitStr, Path, Token, parse_quote};

use crate::errors::Errors;
use crate::generics::{self, List};
use crate::model::{Options, Recorded, Rule, Vmap};
use crate::suggest::{did_you_mean, nearest};
use crate::{entries, messages, names};

/// All options but the lists of type parameters.
const OPTIONS: &[&str] = &[
    "name",
    "platform",
    "batch",
    "vmap",
    "vjp",
    "jvp",
    "fwd",
    "transpose",
    "nondiff",
    "autocast",
    "instantiate",
    "prepare",
    "initialize",
    "shape",
    "namespace",
    "schema",
    "legacy",
    "side_effect",
    "command_buffer",
    "crate",
];

/// The values of `vmap`: the `vmap_method`s of `jax.ffi.ffi_call`.
const VMAP: &[&str] = &["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"];

/// The policies of `autocast`.
const AUTOCAST: &[&str] = &["f32", "lowest"];

/// The options that name an operation for a rule of differentiation.
const RULES: &[(&str, Rule)] =
    &[("vjp", Rule::Vjp), ("jvp", Rule::Jvp), ("fwd", Rule::Fwd), ("transpose", Rule::Transpose)];

/// The platform of host handlers.
pub(crate) const HOST: &str = "Host";

/// The options, and the lists of type parameters as written.
pub(crate) struct Parsed {
    pub(crate) options: Options,
    pub(crate) lists: Vec<List>,
}

/// Parses the attribute's arguments; what a mistake leaves out has its default.
pub(crate) fn parse(args: TokenStream, function: &ItemFn, errors: &mut Errors) -> Parsed {
    let ident = &function.sig.ident;
    let mut options = Options {
        name: LitStr::new(&ident.unraw().to_string(), ident.span()),
        platform: LitStr::new(HOST, ident.span()),
        krate: parse_quote!(::oxcall),
        stages: Vec::new(),
        shape: None,
        batch: None,
        vmap: None,
        rules: Vec::new(),
        nondiff: Vec::new(),
        autocast: None,
        namespace: None,
        schema: None,
        legacy: false,
        side_effect: false,
        command_buffer: false,
        broadcast: false,
        recorded: Recorded::Never,
    };
    let mut lists: Vec<List> = Vec::new();
    let type_params = generics::idents(&function.sig.generics);
    entries::parse(args, "an option of `#[custom_call]`", errors, |key, input, errors| {
        if type_params.contains(key) {
            let parsed = generics::parse(key, input, errors);
            let refused = || List { key: key.clone(), members: Vec::new() };
            let (list, result) = parsed.map_or_else(|error| (refused(), Err(error)), |list| (list, Ok(())));
            lists.push(list);
            return result;
        }
        match key.to_string().as_str() {
            "name" => {
                let name = entries::string(key, input)?;
                options.name = errors.ok(names::checked("target", name)).unwrap_or_else(|| options.name.clone());
            }
            "platform" => {
                let platform = entries::string(key, input)?;
                options.platform = errors.ok(platform_name(platform)).unwrap_or_else(|| options.platform.clone());
            }
            "batch" => options.batch = Some(entries::ident(key, input)?),
            "vmap" => options.vmap = Some(vmap(key, input)?),
            "nondiff" => options.nondiff = entries::idents(key, input)?,
            "autocast" => options.autocast = Some(autocast(key, input)?),
            "shape" => options.shape = Some(entries::path(key, input)?),
            "namespace" => options.namespace = Some(torch_namespace(entries::string(key, input)?)?),
            "schema" => options.schema = Some(entries::string(key, input)?),
            "crate" => options.krate = entries::path(key, input)?,
            "legacy" => options.legacy = entries::flag(key, input).map(|()| true)?,
            "side_effect" => options.side_effect = entries::flag(key, input).map(|()| true)?,
            "command_buffer" => options.command_buffer = entries::flag(key, input).map(|()| true)?,
            "batch_partitionable" => return Err(syn::Error::new_spanned(key, messages::batch_partitionable())),
            "execute" => return Err(syn::Error::new_spanned(key, messages::execute_option())),
            name => {
                if let Some((_, rule)) = RULES.iter().find(|(rule, _)| *rule == name) {
                    options.rules.push((*rule, entries::path(key, input)?));
                } else if let Some((_, stage)) = names::STAGES.iter().find(|(stage, _)| *stage == name) {
                    options.stages.push((*stage, entries::path(key, input)?));
                } else {
                    return Err(unknown(key, &type_params));
                }
            }
        }
        Ok(())
    });
    for (option, rule) in RULES {
        check_other(ident, option, options.rule(*rule), errors);
    }
    check_other(ident, "vmap", options.vmap_op(), errors);
    check_together(&options, errors);
    options.stages.sort_by_key(|(stage, _)| *stage);
    options.stages.dedup_by_key(|(stage, _)| *stage);
    options.rules.sort_by_key(|(rule, _)| *rule);
    options.rules.dedup_by_key(|(rule, _)| *rule);
    Parsed { options, lists }
}

/// The macro for functions of another kind that an option names, whose parameters would be mistakes here.
pub(crate) fn other_macro(args: &TokenStream) -> Option<(Span, &'static str)> {
    let mut starts = true;
    args.clone().into_iter().find_map(|token| {
        let was_start =
            std::mem::replace(&mut starts, matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ','));
        let TokenTree::Ident(key) = token else { return None };
        let other = ["pointwise", "rowwise"].into_iter().find(|name| was_start && key == name)?;
        Some((key.span(), other))
    })
}

fn unknown(key: &Ident, type_params: &[Ident]) -> syn::Error {
    let written = key.to_string();
    let message = if written.starts_with(|c: char| c.is_uppercase()) && nearest(&written, names()).is_none() {
        messages::no_such_generic(&written, generic_names(type_params))
    } else {
        messages::unknown_option(&written, did_you_mean(nearest(&written, names())), OPTIONS.join("`, `"))
    };
    syn::Error::new_spanned(key, message)
}

fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().copied()
}

fn generic_names(type_params: &[Ident]) -> String {
    match type_params {
        [] => "it has none".to_owned(),
        params => format!("it has `{}`", params.iter().map(Ident::to_string).collect::<Vec<_>>().join("`, `")),
    }
}

/// `= "method"` or `= path`
fn vmap(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vmap> {
    if input.peek(Token![=]) && !input.peek2(LitStr) {
        let path = entries::path(key, input)?;
        // Quotes were forgotten.
        if path.get_ident().is_some_and(|name| VMAP.iter().any(|method| name == method)) {
            return Err(syn::Error::new_spanned(path, messages::wants_string(key)));
        }
        return Ok(Vmap::Op(path));
    }
    let method = entries::string(key, input)?;
    let written = method.value();
    if VMAP.contains(&&*written) {
        Ok(Vmap::Method(method))
    } else {
        let meant = did_you_mean(nearest(&written, VMAP.iter().copied()));
        let list = VMAP.join("\", \"");
        Err(syn::Error::new_spanned(method, messages::bad_vmap(written, meant, list)))
    }
}

/// `= policy`
fn autocast(key: &Ident, input: ParseStream<'_>) -> syn::Result<Ident> {
    let unknown = |written: &str| {
        let meant = did_you_mean(nearest(written, AUTOCAST.iter().copied()));
        messages::unknown_autocast(written, meant)
    };
    if input.peek(Token![=]) && input.peek2(LitStr) {
        let written = entries::string(key, input)?;
        return Err(syn::Error::new_spanned(&written, unknown(&format!("\"{}\"", written.value()))));
    }
    let policy = entries::ident(key, input)?;
    let written = policy.to_string();
    if AUTOCAST.contains(&&*written) { Ok(policy) } else { Err(syn::Error::new_spanned(&policy, unknown(&written))) }
}

fn torch_namespace(namespace: LitStr) -> syn::Result<LitStr> {
    let written = namespace.value();
    let word = written.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if word && written.starts_with(|c: char| !c.is_ascii_digit()) {
        Ok(namespace)
    } else {
        Err(syn::Error::new_spanned(namespace, messages::bad_namespace(written)))
    }
}

fn platform_name(platform: LitStr) -> syn::Result<LitStr> {
    let platform = names::checked("platform", platform)?;
    let written = platform.value();
    let spelling = match written.to_ascii_lowercase().as_str() {
        "host" | "cpu" => HOST,
        "cuda" => "CUDA",
        "rocm" => "ROCM",
        "gpu" => "CUDA` or `ROCM",
        _ => &written,
    };
    if spelling == written {
        Ok(platform)
    } else {
        Err(syn::Error::new_spanned(&platform, messages::platform_spelling(&written, spelling)))
    }
}

/// An operation that is its own rule would recurse without end. Only a linear one may be its own transpose.
fn check_other(ident: &Ident, option: &str, other: Option<&Path>, errors: &mut Errors) {
    let Some(path) = other.filter(|_| option != "transpose") else { return };
    let segments: Vec<&Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
    let itself = match segments.as_slice() {
        [one] => *one == ident,
        [first, one] => *first == "self" && *one == ident,
        _ => false,
    };
    if itself && path.leading_colon.is_none() {
        errors.push(path, messages::names_itself(ident, option));
    }
}

/// A linear operation is its own derivative; residuals are of use only to a derivative.
fn check_together(options: &Options, errors: &mut Errors) {
    let rule = |rule| options.rule(rule);
    if rule(Rule::Transpose).is_some() {
        for (option, other) in &RULES[..3] {
            if let Some(path) = rule(*other) {
                errors.push(path, messages::transpose_with(option));
            }
        }
    }
    if let Some(path) = rule(Rule::Fwd).filter(|_| rule(Rule::Vjp).is_none() && rule(Rule::Jvp).is_none()) {
        errors.push(path, messages::fwd_alone());
    }
    if let Some(name) = options.nondiff.first().filter(|_| options.rules.is_empty()) {
        errors.push(name, messages::nondiff_alone());
    }
}
