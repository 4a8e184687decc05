//! `library! { ops: [crate_a, crate_b] }`: the crates whose operations belong to a library.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Path, Token, bracketed, parse_quote};

use crate::errors::Errors;
use crate::suggest::{did_you_mean, nearest};
use crate::{entries, messages};

/// A checked `library!`.
struct Library {
    krate: Path,
    ops: Vec<Path>,
}

/// Parses, checks, and expands.
pub(crate) fn library(input: TokenStream) -> syn::Result<TokenStream> {
    parse(input).map(|library| expand(&library))
}

fn parse(input: TokenStream) -> syn::Result<Library> {
    let mut errors = Errors::default();
    let mut krate: Path = parse_quote!(::oxcall);
    let mut ops: Option<Vec<Path>> = None;
    entries::parse(input, "`ops: [...]`", &mut errors, |key, input, errors| {
        match key.to_string().as_str() {
            "ops" => {
                ops.get_or_insert_default();
                let listed = input.parse::<Option<Token![:]>>()?.is_some() && input.peek(syn::token::Bracket);
                if !listed {
                    return Err(syn::Error::new_spanned(key, messages::library_wants_list(key)));
                }
                ops = Some(crates(input, errors)?);
            }
            "crate" if input.parse::<Option<Token![:]>>()?.is_some() => {
                krate = input.call(Path::parse_mod_style)?;
            }
            name => {
                let meant = did_you_mean(nearest(name, ["ops", "crate"]));
                return Err(syn::Error::new_spanned(key, messages::library_key(name, meant)));
            }
        }
        Ok(())
    });
    if ops.is_none() && errors.is_empty() {
        errors.push_at(proc_macro2::Span::call_site(), messages::library_wants_ops());
    }
    errors.finish(Library { krate, ops: ops.unwrap_or_default() })
}

fn crates(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Vec<Path>> {
    let content;
    bracketed!(content in input);
    let mut crates: Vec<Path> = Vec::new();
    entries::separated(content.parse()?, errors, |input, errors| {
        let named = input.peek(Ident::peek_any) || input.peek(Token![::]);
        let found = entries::next(input);
        let path = if named {
            input.call(Path::parse_mod_style)?
        } else {
            return Err(input.error(messages::library_crate(found.trim_matches('`'))));
        };
        if path.segments.len() != 1 || ["self", "super", "Self"].iter().any(|word| path.is_ident(word)) {
            errors.push(&path, messages::library_crate(crate::types::text(&path)));
        } else if crates.iter().any(|other| name(other) == name(&path)) {
            errors.push(&path, messages::library_twice(name(&path)));
        } else {
            crates.push(path);
        }
        Ok(())
    });
    Ok(crates)
}

/// The name of the crate that a path names.
fn name(path: &Path) -> String {
    path.segments.last().map(|segment| segment.ident.unraw().to_string()).unwrap_or_default()
}

fn expand(Library { krate, ops }: &Library) -> TokenStream {
    let entries = ops.iter().map(|path| {
        // The crate itself is linked already.
        let (link, name) = if path.is_ident("crate") {
            (None, quote!(::core::env!("CARGO_CRATE_NAME")))
        } else {
            (Some(quote_spanned!(path.span()=> use #path as _;)), name(path).into_token_stream())
        };
        quote! {
            #link
            #krate::__private::inventory::submit! { #krate::registry::NamedCrate { name: #name } }
        }
    });
    quote!(const _: () = { #(#entries)* };)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: TokenStream) -> Result<String, Vec<String>> {
        match library(input) {
            Ok(tokens) => Ok(tokens.to_string()),
            Err(error) => Err(error.into_iter().map(|error| error.to_string()).collect()),
        }
    }

    #[test]
    fn crates_are_linked_and_named() {
        let text = text(quote!(ops: [crate, dep_a, ::dep_b])).unwrap();
        for part in
            ["use dep_a as _ ;", "use :: dep_b as _ ;", "name : \"dep_a\"", "name : \"dep_b\"", "CARGO_CRATE_NAME"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn mistakes_of_libraries() {
        for (input, parts) in [
            (quote!(), &["takes the crates"] as &[&str]),
            (quote!(ops = [a]), &["takes a list"]),
            (quote!(ops: a), &["takes a list"]),
            (quote!(op: [a]), &["did you mean `ops`"]),
            (quote!(ops: ["a", b::c, d, d]), &["name of a crate", "name of a crate", "named twice"]),
            (quote!([a, b]), &["expected `ops: [...]`"]),
        ] {
            let shown = input.to_string();
            let found = text(input).expect_err(&shown);
            assert_eq!(found.len(), parts.len(), "{shown}: {found:#?}");
            for (found, part) in found.iter().zip(parts) {
                assert!(found.contains(part), "expected {part:?} in {found:?}");
            }
        }
    }
}
