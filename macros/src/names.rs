//! Names that leave Rust: of targets, platforms, attributes and stages.

use proc_macro2::Ident;
use syn::LitStr;

use crate::messages;
use crate::model::Stage;
use crate::suggest::{did_you_mean, nearest};

/// Refuses names that XLA's text formats and our own separators would not carry: printable ASCII without spaces,
/// quotes, backslashes and `#` is what every layer passes on unchanged. `what` is the kind of name.
pub(crate) fn checked(what: &str, name: LitStr) -> syn::Result<LitStr> {
    let text = name.value();
    if text.is_empty() {
        return Err(syn::Error::new_spanned(name, messages::empty_name(what)));
    }
    match text.chars().find(|c| !c.is_ascii_graphic() || matches!(c, '#' | '"' | '\\')) {
        Some(bad) => Err(syn::Error::new_spanned(name, messages::bad_name(what, format!("{bad:?}")))),
        None => Ok(name),
    }
}

/// The stages before execute, in the order in which XLA runs them.
pub(crate) const STAGES: &[(&str, Stage)] =
    &[("instantiate", Stage::Instantiate), ("prepare", Stage::Prepare), ("initialize", Stage::Initialize)];

/// XLA's name of a stage.
pub(crate) fn stage(stage: Stage) -> &'static str {
    STAGES.iter().find(|(_, known)| *known == stage).map_or("execute", |(name, _)| name)
}

/// The stage with a name.
pub(crate) fn stage_named(ident: &Ident) -> syn::Result<Stage> {
    let written = ident.to_string();
    if let Some((_, stage)) = STAGES.iter().find(|(name, _)| *name == written) {
        return Ok(*stage);
    }
    let message = match written.as_str() {
        "execute" => messages::execute_stage(),
        _ => messages::unknown_stage(&written, did_you_mean(nearest(&written, STAGES.iter().map(|(name, _)| *name)))),
    };
    Err(syn::Error::new_spanned(ident, message))
}

/// `Variant` or `HTTPServer` as `variant`, `http_server`.
pub(crate) fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (i, &c) in chars.iter().enumerate() {
        if c.is_uppercase() && i > 0 {
            let after_lower = chars[i - 1].is_lowercase() || chars[i - 1].is_ascii_digit();
            let before_lower = chars[i - 1].is_uppercase() && chars.get(i + 1).is_some_and(|next| next.is_lowercase());
            if after_lower || before_lower {
                snake.push('_');
            }
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    #[test]
    fn snake_case_splits_words() {
        for (camel, snake) in [
            ("Fast", "fast"),
            ("VeryFast", "very_fast"),
            ("HTTPServer", "http_server"),
            ("Top2Only", "top2_only"),
            ("F16", "f16"),
            ("already_snake", "already_snake"),
            ("A", "a"),
        ] {
            assert_eq!(snake_case(camel), snake);
        }
    }

    #[test]
    fn names_are_printable() {
        let check = |text| checked("target", LitStr::new(text, Span::call_site())).is_ok();
        for good in ["rms_norm", "my.ns::op-1@2", "a/b", "x+y"] {
            assert!(check(good), "{good}");
        }
        for bad in ["", " ", "a b", "a\0", "a#b", "a\"b", "\u{e9}", "a\n"] {
            assert!(!check(bad), "{bad}");
        }
    }
}
