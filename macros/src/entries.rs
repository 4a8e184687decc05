//! The grammar that all our attributes share: `flag, key = value, ...`. A mistake in one entry does not hide those in
//! the next: the parser skips to the comma and goes on.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Ident, LitStr, Path, Token};

use crate::errors::Errors;
use crate::messages;

/// Parses comma-separated entries; `entry` gets each key, with the input after it. `what` names an entry in messages.
pub(crate) fn parse(
    tokens: TokenStream,
    what: &str,
    errors: &mut Errors,
    mut entry: impl FnMut(&Ident, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    let mut seen: Vec<Ident> = Vec::new();
    separated(tokens, errors, |input, errors| {
        if !input.peek(Ident::peek_any) {
            return Err(input.error(messages::expected_entry(what, next(input))));
        }
        let key = input.call(Ident::parse_any)?;
        if seen.contains(&key) {
            errors.push(&key, messages::given_twice(&key));
        }
        seen.push(key.clone());
        entry(&key, input, errors)
    });
}

/// Calls `one` at the start of each comma-separated item, recording errors and what it leaves before the comma.
pub(crate) fn separated(
    tokens: TokenStream,
    errors: &mut Errors,
    mut one: impl FnMut(ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    let all = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let rest = |input: ParseStream<'_>| {
                if input.is_empty() || input.peek(Token![,]) {
                    Ok(())
                } else {
                    Err(input.error(messages::expected_comma(next(input))))
                }
            };
            if let Err(error) = one(input, errors).and_then(|()| rest(input)) {
                errors.add(error);
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<TokenTree>()?;
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    let parsed = all.parse2(tokens);
    errors.ok(parsed);
}

/// Requires that a flag has no value.
pub(crate) fn flag(key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![=]) || input.peek(syn::token::Paren) {
        Err(syn::Error::new_spanned(key, messages::flag_with_value(key)))
    } else {
        Ok(())
    }
}

/// `= "..."`
pub(crate) fn string(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    equals(key, input, messages::wants_string(key))?;
    if input.peek(LitStr) { input.parse() } else { Err(input.error(messages::wants_string(key))) }
}

/// `= path`
pub(crate) fn path(key: &Ident, input: ParseStream<'_>) -> syn::Result<Path> {
    equals(key, input, messages::wants_path(key))?;
    if input.peek(Ident::peek_any) || input.peek(Token![::]) {
        input.call(Path::parse_mod_style)
    } else {
        Err(input.error(messages::wants_path(key)))
    }
}

/// `= name`
pub(crate) fn ident(key: &Ident, input: ParseStream<'_>) -> syn::Result<Ident> {
    equals(key, input, messages::wants_name(key))?;
    input.call(Ident::parse_any).map_err(|_| input.error(messages::wants_name(key)))
}

/// `= name` or `= [name, name]`
pub(crate) fn idents(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    equals(key, input, messages::wants_names(key))?;
    if !input.peek(syn::token::Bracket) {
        return input
            .call(Ident::parse_any)
            .map(|name| vec![name])
            .map_err(|_| input.error(messages::wants_names(key)));
    }
    let inner;
    syn::bracketed!(inner in input);
    let names = inner.parse_terminated(Ident::parse_any, Token![,])?;
    Ok(names.into_iter().collect())
}

/// `=`, or an error at the key that says what belongs there.
pub(crate) fn equals(key: &Ident, input: ParseStream<'_>, otherwise: String) -> syn::Result<()> {
    match input.parse::<Option<Token![=]>>()? {
        Some(_) if !input.is_empty() => Ok(()),
        _ => Err(syn::Error::new_spanned(key, otherwise)),
    }
}

/// The next token, for messages.
pub(crate) fn next(input: ParseStream<'_>) -> String {
    match input.fork().parse::<TokenTree>() {
        Ok(token) => format!("`{token}`"),
        Err(_) => "the end".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_mistake_does_not_hide_the_next() {
        let mut errors = Errors::default();
        let mut keys = Vec::new();
        parse(quote!(a = 1, b, c = "x" y, 3, a = "z", d), "an option", &mut errors, |key, input, _| {
            keys.push(key.to_string());
            if input.peek(Token![=]) { string(key, input).map(drop) } else { flag(key, input) }
        });
        assert_eq!(keys, ["a", "b", "c", "a", "d"]);
        assert_eq!(errors.finish(()).unwrap_err().into_iter().count(), 4);
    }
}
