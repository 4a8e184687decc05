//! Type parameters and the element types they stand for: `T = [f32, f64]`, `T = floats`, `T = [floats, i32]`.

use proc_macro2::{Ident, Span};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Path, Token, Type, bracketed, parse_quote_spanned};

use crate::errors::Errors;
use crate::model::TypeParam;
use crate::suggest::{did_you_mean, nearest};
use crate::{entries, messages, types};

/// The named sets, by the names of their elements.
const SETS: &[(&str, &[&str])] = &[
    ("floats", &["f16", "bf16", "f32", "f64"]),
    ("ints", &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]),
    ("signed", &["i8", "i16", "i32", "i64"]),
    ("unsigned", &["u8", "u16", "u32", "u64"]),
    ("complex", &["c64", "c128"]),
    ("numbers", &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "c128"]),
];

/// Rust types that are not element types, and what to list instead.
const NOT_ELEMENTS: &[(&str, &str)] = &[
    ("usize", "u64"),
    ("isize", "i64"),
    ("u128", "u64"),
    ("i128", "i64"),
    ("char", "u8"),
    ("str", "u8"),
    ("String", "u8"),
];

/// One member of a list.
pub(crate) enum Member {
    Set(Span, &'static [&'static str]),
    Type(Box<Type>),
}

/// A list as written, with its key.
pub(crate) struct List {
    pub(crate) key: Ident,
    pub(crate) members: Vec<Member>,
}

/// Parses the value of `T = ...`.
pub(crate) fn parse(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<List> {
    entries::equals(key, input, messages::wants_list(key))?;
    let mut list = List { key: key.clone(), members: Vec::new() };
    if input.peek(syn::token::Bracket) {
        let content;
        let bracket = bracketed!(content in input);
        let mut own = Errors::default();
        entries::separated(content.parse()?, &mut own, |input, own| {
            let ty: Type = input.parse()?;
            list.members.extend(own.ok(member(key, ty, true)));
            Ok(())
        });
        if let Err(error) = own.finish(()) {
            errors.add(error);
        } else if list.members.is_empty() {
            errors.push_at(bracket.span.join(), messages::empty_list(key));
        }
        return Ok(list);
    }
    let value = input.fork();
    match value.parse::<Ident>() {
        Ok(_) if !value.peek(Token![<]) && !value.peek(Token![::]) => {
            list.members.push(member(key, input.parse()?, false)?);
            Ok(list)
        }
        _ => match input.parse::<Type>() {
            Ok(ty) => Err(syn::Error::new_spanned(&ty, messages::type_without_list(key, types::text(&ty)))),
            Err(error) => Err(syn::Error::new(error.span(), messages::wants_list(key))),
        },
    }
}

fn member(key: &Ident, ty: Type, listed: bool) -> syn::Result<Member> {
    let ident = match types::bare(&ty) {
        Type::Path(path) => path.path.get_ident().cloned(),
        Type::Infer(_) | Type::Reference(_) | Type::Slice(_) | Type::Array(_) | Type::Tuple(_) => {
            return Err(syn::Error::new_spanned(&ty, messages::not_an_element(types::text(&ty), "f32")));
        }
        _ => None,
    };
    let Some(ident) = ident else { return Ok(Member::Type(Box::new(ty))) };
    let written = ident.to_string();
    if let Some((_, elements)) = SETS.iter().find(|(set, _)| *set == written) {
        return Ok(Member::Set(ident.span(), elements));
    }
    if let Some((_, instead)) = NOT_ELEMENTS.iter().find(|(name, _)| *name == written) {
        return Err(syn::Error::new_spanned(ident, messages::not_an_element(written, instead)));
    }
    let element = SETS.iter().any(|(_, elements)| elements.contains(&&*written)) || written == "bool";
    let sets = || SETS.iter().map(|(set, _)| *set);
    let lower = written.starts_with(|c: char| c.is_lowercase());
    match nearest(&written, sets()) {
        Some(meant) if lower && !element => {
            Err(syn::Error::new_spanned(ident, messages::unknown_set(written, did_you_mean(Some(meant)))))
        }
        None if lower && !element && !listed => Err(syn::Error::new_spanned(ident, messages::unknown_set(written, ""))),
        _ if listed => Ok(Member::Type(Box::new(ty))),
        _ => Err(syn::Error::new_spanned(&ident, messages::type_without_list(key, &written))),
    }
}

/// The Rust type of a set's element, as a path that nothing in the user's scope can shadow.
fn element(name: &str, krate: &Path, span: Span) -> Type {
    let ident = Ident::new(name, span);
    match name {
        "f16" | "bf16" => parse_quote_spanned!(span=> #krate::__private::half::#ident),
        "c64" => parse_quote_spanned!(span=> #krate::__private::num_complex::Complex<::core::primitive::f32>),
        "c128" => parse_quote_spanned!(span=> #krate::__private::num_complex::Complex<::core::primitive::f64>),
        _ => parse_quote_spanned!(span=> ::core::primitive::#ident),
    }
}

/// The names of the type parameters.
pub(crate) fn idents(generics: &Generics) -> Vec<Ident> {
    generics.type_params().map(|param| param.ident.clone()).collect()
}

/// Refuses parameters that have no dtype: constants, and types without a list.
pub(crate) fn check(generics: &Generics, lists: &[List], errors: &mut Errors) {
    for param in &generics.params {
        match param {
            GenericParam::Const(param) => errors.push(param, messages::const_generic(&param.ident)),
            GenericParam::Type(param) if !lists.iter().any(|list| list.key == param.ident) => {
                errors.push(&param.ident, messages::generic_without_list(&param.ident));
            }
            GenericParam::Type(_) | GenericParam::Lifetime(_) => {}
        }
    }
}

/// The lists in the order of the type parameters, sets expanded.
pub(crate) fn resolve(generics: &Generics, lists: Vec<List>, krate: &Path, errors: &mut Errors) -> Vec<TypeParam> {
    let mut params = Vec::new();
    for ident in idents(generics) {
        let Some(list) = lists.iter().find(|list| list.key == ident) else { continue };
        let mut elements: Vec<(String, Type)> = Vec::new();
        for member in &list.members {
            let (span, members) = match member {
                Member::Type(ty) => (ty.span(), vec![(key(ty), ty.as_ref().clone())]),
                Member::Set(span, names) => {
                    (*span, names.iter().map(|name| (set_key(name), element(name, krate, *span))).collect())
                }
            };
            let twice = members.iter().find(|(key, _)| elements.iter().any(|(other, _)| other == key));
            match twice {
                Some((key, _)) => errors.push_at(span, messages::duplicate_element(key, &ident)),
                None => elements.extend(members),
            }
        }
        params.push(TypeParam { ident, elements: elements.into_iter().map(|(_, ty)| ty).collect() });
    }
    params
}

/// The common form of all spellings of an element type.
fn key(ty: &Type) -> String {
    let Some(segment) = types::last_segment(ty) else { return types::text(ty) };
    let args: Vec<String> = types::type_args(segment).map(key).collect();
    match (segment.ident.to_string().as_str(), args.is_empty()) {
        ("Complex32", _) => set_key("c64"),
        ("Complex64", _) => set_key("c128"),
        (name, true) => name.to_owned(),
        (name, false) => format!("{name}<{}>", args.join(", ")),
    }
}

fn set_key(name: &str) -> String {
    match name {
        "c64" => "Complex<f32>".to_owned(),
        "c128" => "Complex<f64>".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quote::{ToTokens, quote};
    use syn::parse::Parser;
    use syn::parse_quote;

    use super::*;

    fn list(value: proc_macro2::TokenStream) -> Result<Vec<String>, Vec<String>> {
        let mut errors = Errors::default();
        let texts = |error: syn::Error| error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>();
        let mut own = Errors::default();
        let parser = |input: ParseStream<'_>| parse(&parse_quote!(T), input, &mut own);
        let parsed = parser.parse2(quote!(= #value)).map_err(texts)?;
        own.finish(()).map_err(texts)?;
        let generics = parse_quote!(<T>);
        let params = resolve(&generics, vec![parsed], &parse_quote!(::oxcall), &mut errors);
        let shown = params[0].elements.iter().map(|ty| ty.to_token_stream().to_string().replace(' ', "")).collect();
        errors.finish(shown).map_err(texts)
    }

    #[test]
    fn sets_expand_to_absolute_paths() {
        assert_eq!(
            list(quote!(floats)).unwrap(),
            [
                "::oxcall::__private::half::f16",
                "::oxcall::__private::half::bf16",
                "::core::primitive::f32",
                "::core::primitive::f64"
            ]
        );
        assert_eq!(list(quote!(numbers)).unwrap().len(), 14);
        assert_eq!(list(quote!([floats, i32, my::I4])).unwrap()[4..], ["i32", "my::I4"]);
        assert_eq!(list(quote!([f32, half::bf16, Complex<f32>])).unwrap().len(), 3);
    }

    #[test]
    fn mistakes_in_lists() {
        for (value, parts) in [
            (quote!(flaots), &["unknown set `flaots`; did you mean `floats`?"] as &[&str]),
            (quote!(everything), &["unknown set"]),
            (quote!(f32), &["T = [f32]"]),
            (quote!(half::f16), &["T = [half::f16]"]),
            (quote!("floats"), &["T = [f32, f64]"]),
            (quote!([]), &["empty"]),
            (quote!([f32, f32]), &["`f32` twice"]),
            (quote!([floats, half::bf16]), &["`bf16` twice"]),
            (quote!([complex, num_complex::Complex<f64>]), &["twice"]),
            (quote!([complex, Complex32]), &["twice"]),
            (quote!([usize, flots, &str]), &["`usize`", "`flots`", "`&str`"]),
        ] {
            let text = value.to_string();
            let errors = list(value).expect_err(&text);
            assert_eq!(errors.len(), parts.len(), "{text}: {errors:?}");
            for (error, part) in errors.iter().zip(parts) {
                assert!(error.contains(part), "{text}: {error}");
            }
        }
    }
}
