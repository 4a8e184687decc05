//! Rules about the function itself, before its parameters are looked at.

use proc_macro2::TokenStream;
use syn::{Attribute, Item, ItemFn, ReturnType, Type};

use crate::errors::Errors;
use crate::{messages, types};

/// Parses the item under `#[macro_name]` as a function.
pub(crate) fn function(macro_name: &str, item: TokenStream) -> syn::Result<ItemFn> {
    let error = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => return Ok(function),
        Err(error) => error,
    };
    if let Ok(syn::TraitItem::Fn(method)) = syn::parse2(item.clone()) {
        return Err(syn::Error::new_spanned(&method.sig.ident, messages::no_body(macro_name)));
    }
    match syn::parse2::<Item>(item) {
        Ok(Item::Fn(_) | Item::Verbatim(_)) | Err(_) => Err(error),
        Ok(other) => {
            let (kind, at) = kind(&other);
            Err(syn::Error::new_spanned(at, messages::not_a_function(macro_name, kind)))
        }
    }
}

/// The kind of an item in words, and the tokens to point at.
fn kind(item: &Item) -> (&'static str, TokenStream) {
    use quote::ToTokens;
    match item {
        Item::Struct(item) => ("a struct", item.ident.to_token_stream()),
        Item::Enum(item) => ("an enum", item.ident.to_token_stream()),
        Item::Union(item) => ("a union", item.ident.to_token_stream()),
        Item::Impl(item) => ("an impl", item.impl_token.to_token_stream()),
        Item::Mod(item) => ("a module", item.ident.to_token_stream()),
        Item::Trait(item) => ("a trait", item.ident.to_token_stream()),
        Item::Static(item) => ("a static", item.ident.to_token_stream()),
        Item::Const(item) => ("a constant", item.ident.to_token_stream()),
        item => ("this item", item.to_token_stream()),
    }
}

/// Checks the qualifiers and the form of the parameter list.
pub(crate) fn check(macro_name: &str, function: &ItemFn, errors: &mut Errors) {
    let sig = &function.sig;
    if let Some(token) = &sig.constness {
        errors.push(token, messages::const_fn());
    }
    if let Some(token) = &sig.asyncness {
        errors.push(token, messages::async_fn());
    }
    if let Some(token) = &sig.unsafety {
        errors.push(token, messages::unsafe_fn());
    }
    if let Some(abi) = &sig.abi {
        errors.push(abi, messages::extern_fn());
    }
    if let Some(variadic) = &sig.variadic {
        errors.push(variadic.dots, messages::c_variadic());
    }
    if let Some(receiver) = sig.receiver() {
        errors.push(receiver, messages::receiver());
    }
    for attr in function.attrs.iter().filter(|attr| is_ours(attr)) {
        let other = attr.path().segments.last().map(|segment| segment.ident.to_string());
        errors.push(attr, messages::two_macros(macro_name, other.unwrap_or_default()));
    }
}

/// Whether an attribute is `#[custom_call]`, `#[pointwise]`, `#[rowwise]` or `#[stage]`.
pub(crate) fn is_ours(attr: &Attribute) -> bool {
    let last = attr.path().segments.last();
    last.is_some_and(|segment| {
        ["custom_call", "pointwise", "rowwise", "stage"].iter().any(|name| segment.ident == name)
    })
}

/// A return type, as far as its tokens show.
pub(crate) enum Returned<'a> {
    Unit,
    /// `Result<...>` with its `Ok` type, where it is written.
    Result(Option<&'a Type>),
    Plain(&'a Type),
}

/// Reads a return type.
pub(crate) fn returned(output: &ReturnType) -> Returned<'_> {
    let ty = match output {
        ReturnType::Default => return Returned::Unit,
        ReturnType::Type(_, ty) => types::bare(ty),
    };
    if is_unit(ty) {
        return Returned::Unit;
    }
    match types::last_segment(ty).filter(|segment| segment.ident == "Result") {
        Some(segment) => Returned::Result(types::type_args(segment).next().map(types::bare)),
        None => Returned::Plain(ty),
    }
}

/// Whether a type is `()`.
pub(crate) fn is_unit(ty: &Type) -> bool {
    matches!(types::bare(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// Checks the return type of an execute function. Yields whether it is a future, `None` after a mistake.
pub(crate) fn check_output(function: &ItemFn, errors: &mut Errors) -> Option<bool> {
    let is_future = |ty: &Type| types::name(ty).is_some_and(|name| name == "Future");
    let wrong = match returned(&function.sig.output) {
        Returned::Unit | Returned::Result(None) => return Some(false),
        Returned::Result(Some(ty)) if is_unit(ty) => return Some(false),
        Returned::Result(Some(ty)) | Returned::Plain(ty) if is_future(ty) => return Some(true),
        Returned::Result(Some(ty)) | Returned::Plain(ty) => ty,
    };
    errors.push(
        wrong,
        match wrong {
            Type::ImplTrait(_) | Type::TraitObject(_) => messages::returns_impl(),
            _ => messages::returns_value(types::text(wrong)),
        },
    );
    None
}
