//! Collects every mistake of an item before any is reported, and what is emitted in place of a rejected function.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, ItemFn, parse_quote};

use crate::{attrs, signature};

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

/// What a rejected item becomes: its errors, and the item without helper attributes, so that code that uses it gets
/// no errors of its own. With `declare_op`, also the type that the macro would have made.
pub(crate) fn rejected(error: syn::Error, item: TokenStream, declare_op: bool) -> TokenStream {
    let errors = error.into_compile_error();
    let Ok(mut function) = syn::parse2::<ItemFn>(item.clone()) else {
        return quote!(#errors #item);
    };
    let mut method = false;
    for input in &mut function.sig.inputs {
        match input {
            FnArg::Receiver(_) => method = true,
            FnArg::Typed(input) => input.attrs.retain(attrs::is_builtin),
        }
    }
    function.attrs.retain(|attr| !signature::is_ours(attr));
    if function.sig.asyncness.take().is_some() {
        // Without `async` the body may not compile; with it, lifetimes could no longer be left out.
        function.block = parse_quote!({ ::core::unimplemented!() });
        function.attrs.push(parse_quote!(#[allow(unused)]));
    }
    let op = (declare_op && !method).then(|| {
        let (vis, ident) = (&function.vis, &function.sig.ident);
        quote!(#[doc(hidden)] #[allow(non_camel_case_types, dead_code)] #vis struct #ident {})
    });
    quote!(#errors #function #op)
}
