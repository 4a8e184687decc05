//! The grammar of `#[dims(...)]`:
//!
//! ```text
//! dims    = (pattern ("," pattern)* ","?)?
//! pattern = ".." name? | "_" | sum
//! sum     = product (("+" | "-") product)*
//! product = atom (("*" | "/" | "%") atom)*
//! atom    = integer | name | "(" sum ")"
//! ```

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Lit, Token, token};

use crate::errors::Errors;
use crate::model::{DimExpr, DimOp, DimPattern};
use crate::{entries, messages};

/// A parsed pattern.
pub(crate) struct Parsed {
    pub(crate) patterns: Vec<DimPattern>,
    /// Whether there was no mistake in it.
    pub(crate) whole: bool,
    /// The second of several lists: only a result, where all are bound, may have them.
    pub(crate) second_list: Option<Span>,
}

/// Parses the tokens between the parentheses.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Parsed {
    let mut own = Errors::default();
    let mut patterns = Vec::new();
    let mut lists = Vec::new();
    entries::separated(tokens, &mut own, |input, _| {
        let span = input.span();
        let one = pattern(input)?;
        if matches!(one, DimPattern::Any | DimPattern::List(_)) {
            lists.push(span);
        }
        patterns.push(one);
        Ok(())
    });
    let whole = own.is_empty();
    if let Err(error) = own.finish(()) {
        errors.add(error);
    }
    Parsed { patterns, whole, second_list: lists.get(1).copied() }
}

fn pattern(input: ParseStream<'_>) -> syn::Result<DimPattern> {
    if input.peek(Token![...]) || input.peek(Token![..=]) {
        return Err(input.error(messages::dots()));
    }
    if input.parse::<Option<Token![..]>>()?.is_some() {
        return if input.peek(syn::Ident::peek_any) && !input.peek(Token![_]) {
            Ok(DimPattern::List(name(input)?))
        } else {
            Ok(DimPattern::Any)
        };
    }
    if let Some(wildcard) = input.parse::<Option<Token![_]>>()? {
        if operator(input).is_some() {
            return Err(syn::Error::new_spanned(wildcard, messages::wildcard_in_expression()));
        }
        return Ok(DimPattern::Dim(DimExpr::Wildcard(wildcard.span)));
    }
    expression(input, 0).map(DimPattern::Dim)
}

/// The next binary operator and its precedence.
fn operator(input: ParseStream<'_>) -> Option<(DimOp, u8)> {
    Some(match () {
        () if input.peek(Token![+]) => (DimOp::Add, 1),
        () if input.peek(Token![-]) => (DimOp::Sub, 1),
        () if input.peek(Token![*]) => (DimOp::Mul, 2),
        () if input.peek(Token![/]) => (DimOp::Div, 2),
        () if input.peek(Token![%]) => (DimOp::Rem, 2),
        () => return None,
    })
}

/// Precedence climbing: an expression of operators that bind tighter than `above`, associating to the left.
fn expression(input: ParseStream<'_>, above: u8) -> syn::Result<DimExpr> {
    let mut left = atom(input)?;
    while let Some((op, precedence)) = operator(input).filter(|(_, precedence)| *precedence > above) {
        input.parse::<proc_macro2::Punct>()?;
        if let Some(equals) = input.parse::<Option<Token![=]>>()? {
            return Err(syn::Error::new_spanned(equals, messages::dim_operator("=")));
        }
        let right = expression(input, precedence)?;
        if let (DimOp::Div | DimOp::Rem, DimExpr::Const(0, span)) = (op, &right) {
            return Err(syn::Error::new(*span, messages::dim_by_zero()));
        }
        left = DimExpr::Binary(op, Box::new(left), Box::new(right));
    }
    let stop = input.is_empty() || input.peek(Token![,]) || operator(input).is_some();
    if stop {
        return Ok(left);
    }
    let next = entries::next(input);
    Err(input.error(if input.peek(Token![.]) {
        messages::dim_method()
    } else if input.peek(token::Paren) || input.peek(Token![::]) {
        messages::dim_path()
    } else if input.cursor().punct().is_some() {
        messages::dim_operator(next.trim_matches('`'))
    } else {
        messages::expected_comma(next)
    }))
}

fn atom(input: ParseStream<'_>) -> syn::Result<DimExpr> {
    if input.peek(token::Paren) {
        let inner;
        syn::parenthesized!(inner in input);
        return expression(&inner, 0);
    }
    // Before literals: the parser of literals would take the sign.
    if input.peek(Token![-]) {
        return Err(input.error(messages::dim_negative()));
    }
    if input.peek(Lit) {
        return literal(&input.parse()?);
    }
    if input.peek(Token![_]) {
        return Err(input.error(messages::wildcard_in_expression()));
    }
    if input.peek(Token![::]) || input.peek(Token![crate]) || input.peek(Token![self]) || input.peek(Token![Self]) {
        return Err(input.error(messages::dim_path()));
    }
    if input.peek(syn::Ident::peek_any) {
        name(input).map(DimExpr::Name)
    } else {
        Err(input.error(messages::expected_dim(entries::next(input))))
    }
}

fn name(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.parse().map_err(|error| syn::Error::new(error.span(), messages::expected_dim(entries::next(input))))
}

fn literal(literal: &Lit) -> syn::Result<DimExpr> {
    let Lit::Int(int) = literal else {
        return Err(syn::Error::new_spanned(literal, messages::dim_literal()));
    };
    if !int.suffix().is_empty() {
        return Err(syn::Error::new_spanned(int, messages::dim_suffix(int.base10_digits())));
    }
    match int.base10_parse() {
        Ok(value) => Ok(DimExpr::Const(value, int.span())),
        Err(_) => Err(syn::Error::new_spanned(int, messages::dim_too_large(int))),
    }
}

/// Every name in an expression.
pub(crate) fn names<'a>(expr: &'a DimExpr, out: &mut Vec<&'a Ident>) {
    match expr {
        DimExpr::Wildcard(_) | DimExpr::Const(..) => {}
        DimExpr::Name(ident) => out.push(ident),
        DimExpr::Binary(_, left, right) => {
            names(left, out);
            names(right, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn show(expr: &DimExpr) -> String {
        match expr {
            DimExpr::Wildcard(_) => "_".to_owned(),
            DimExpr::Const(value, _) => value.to_string(),
            DimExpr::Name(ident) => ident.to_string(),
            DimExpr::Binary(op, left, right) => format!("({op:?} {} {})", show(left), show(right)),
        }
    }

    fn patterns(tokens: TokenStream) -> Result<Vec<String>, Vec<String>> {
        let mut errors = Errors::default();
        let parsed = parse(tokens, &mut errors);
        let shown = parsed.patterns.iter().map(|pattern| match pattern {
            DimPattern::Any => "..".to_owned(),
            DimPattern::List(name) => format!("..{name}"),
            DimPattern::Dim(expr) => show(expr),
        });
        let shown = shown.collect();
        errors.finish(shown).map_err(|error| error.into_iter().map(|error| error.to_string()).collect())
    }

    #[test]
    fn precedence_and_parentheses() {
        for (tokens, expected) in [
            (quote!(a + b * c), "(Add a (Mul b c))"),
            (quote!((a + b) * c), "(Mul (Add a b) c)"),
            (quote!(a - b - c), "(Sub (Sub a b) c)"),
            (quote!(a - (b - c)), "(Sub a (Sub b c))"),
            (quote!(a / b % 2 + 1), "(Add (Rem (Div a b) 2) 1)"),
            (quote!(2 * n + 1), "(Add (Mul 2 n) 1)"),
            (quote!((n)), "n"),
        ] {
            assert_eq!(patterns(tokens).unwrap(), [expected]);
        }
    }

    #[test]
    fn lists_wildcards_and_commas() {
        assert_eq!(patterns(quote!()).unwrap(), Vec::<String>::new());
        assert_eq!(patterns(quote!(..b, n, h * w, 4, _,)).unwrap(), ["..b", "n", "(Mul h w)", "4", "_"]);
        assert_eq!(patterns(quote!(n, ..)).unwrap(), ["n", ".."]);
    }

    #[test]
    fn each_mistake_is_reported_with_what_to_write() {
        for (tokens, part) in [
            (quote!(...), "`..`"),
            (quote!(-1), "negative"),
            (quote!(n - -1), "negative"),
            (quote!(1.5), "integer"),
            (quote!("n"), "integer"),
            (quote!(4usize), "`4`"),
            (quote!(99999999999999999999), "too large"),
            (quote!(n.max(1)), "method"),
            (quote!(f(n)), "path"),
            (quote!(a::N), "path"),
            (quote!(Self::N), "path"),
            (quote!(n << 1), "`<`"),
            (quote!(n ^ 2), "`^`"),
            (quote!(n / 0), "zero"),
            (quote!(_ * 2), "`_`"),
            (quote!(2 * _), "`_`"),
            (quote!(n m), "comma"),
            (quote!(n+), "dimension"),
            (quote!(&n), "dimension"),
            (quote!(struct), "dimension"),
        ] {
            let text = tokens.to_string();
            let errors = patterns(tokens).expect_err(&text);
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
            assert!(errors[0].contains(part), "{text}: {errors:?}");
        }
    }

    #[test]
    fn all_mistakes_of_a_list() {
        assert_eq!(patterns(quote!(-1, n, 1.5, ..a, ...)).unwrap_err().len(), 3);
    }
}
