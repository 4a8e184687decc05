//! The mistakes of an item, all collected before any is reported.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors {
    all: Option<syn::Error>,
}

impl Errors {
    /// Records a mistake that the tokens `at` make.
    pub(crate) fn push(&mut self, at: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(at, message));
    }

    /// Records a mistake at a span.
    pub(crate) fn push_at(&mut self, span: Span, message: impl Display) {
        self.add(syn::Error::new(span, message));
    }

    /// Records an error that parsing returned.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.all {
            Some(all) => all.combine(error),
            None => self.all = Some(error),
        }
    }

    /// The value, or `None` with the error recorded.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    /// `value` if nothing was recorded, else all errors as one.
    pub(crate) fn finish<T>(self, value: T) -> syn::Result<T> {
        match self.all {
            Some(all) => Err(all),
            None => Ok(value),
        }
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_none()
    }
}

/// The messages of a mistaken item; none of a right one.
#[cfg(test)]
pub(crate) fn messages_of<T>(parsed: syn::Result<T>) -> Vec<String> {
    parsed.err().into_iter().flatten().map(|error| error.to_string()).collect()
}
