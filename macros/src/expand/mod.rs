//! Token output for checked items.
//!
//! All paths are absolute, below the support crate's `__private`. Tokens carry the macro's hygiene, also where they
//! point at the user's code: so lints of the user's crate (`unsafe_code`, say) do not see them.

/// `quote!` with the hygiene of `macro_rules`: the expansion's variables and the user's never meet. Items do, so
/// theirs begin with two underscores.
macro_rules! tokens {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!(::proc_macro2::Span::mixed_site()=> $($tokens)*)
    };
}

mod attrs;
mod buffers;
mod concrete;
mod derivatives;
mod descriptor;
mod dims;
mod dispatch;
mod pointwise;
mod recorded;
mod rejected;
mod rowwise;
mod rules;
mod stage;
mod written;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Attribute, ItemFn, Path};

pub(crate) use self::pointwise::pointwise;
pub(crate) use self::rejected::rejected;
pub(crate) use self::rowwise::rowwise;
pub(crate) use self::stage::stage;
use crate::model::{CustomCall, ParamKind};

/// The expansion of `#[custom_call]`: the user's function as it is, a type of the same name that stands for the
/// operation, and in an anonymous constant the handler and its registration.
pub(crate) fn custom_call(call: &CustomCall) -> TokenStream {
    let function = &call.function;
    let private = private(&call.options.krate);
    let name = &function.sig.ident;
    let marker = marker(function, "The operation that the function of this name defines.");
    let cfgs = cfgs(function);
    let handler = descriptor::handler(call);
    let run = dispatch::run(call);
    let outlives = dispatch::outlives_frame(call);
    let checks = buffers::platform_checks(call);
    let stages = call.options.stages.iter().map(|(stage, path)| {
        let entry = stage::entry_ident(*stage);
        tokens! {
            unsafe extern "C" fn #entry(
                frame: *mut #private::sys::XLA_FFI_CallFrame,
            ) -> *mut #private::sys::XLA_FFI_Error {
                unsafe { #private::stage::<#path>(frame, &__HANDLER) }
            }
        }
    });
    let panic_abort = panic_abort();
    tokens! {
        // A handler has as many parameters as the operation has operands and attributes.
        #[allow(clippy::too_many_arguments)]
        #function

        #marker

        #(#cfgs)*
        const _: () = {
            #panic_abort
            #handler
            #(#stages)*
            #checks

            unsafe extern "C" fn __execute(
                frame: *mut #private::sys::XLA_FFI_CallFrame,
            ) -> *mut #private::sys::XLA_FFI_Error {
                unsafe { #private::execute::<#name>(frame) }
            }

            unsafe impl #private::Execute for #name {
                const HANDLER: &'static #private::Handler = &__HANDLER;
                const OUTLIVES_FRAME: bool = #outlives;

                #[inline(always)]
                fn run(frame: &#private::Frame<'_>) -> #private::Result<()> {
                    #run
                }
            }

            #private::inventory::submit! { #private::Entry(&__HANDLER) }
        };
    }
}

/// The path of what expansions refer to.
fn private(krate: &Path) -> TokenStream {
    tokens!(#krate::__private)
}

/// A span that points at the user's tokens and has the macro's hygiene.
fn at(tokens: &impl ToTokens) -> Span {
    let span = tokens.to_token_stream().into_iter().next().map_or_else(Span::mixed_site, |token| token.span());
    Span::mixed_site().located_at(span)
}

/// The type that stands for an operation or a stage function, in the type namespace beside the function.
fn marker(function: &ItemFn, doc: &str) -> TokenStream {
    let (name, vis) = (&function.sig.ident, &function.vis);
    let docs = function.attrs.iter().filter(|attr| attr.path().is_ident("doc"));
    let cfgs = cfgs(function);
    tokens! {
        #(#cfgs)*
        #[doc = #doc]
        #[doc = ""]
        #(#docs)*
        #[allow(non_camel_case_types, dead_code)]
        #vis struct #name {}
    }
}

/// The conditions under which the function exists, which its handler shares.
fn cfgs(function: &ItemFn) -> Vec<&Attribute> {
    function.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect()
}

/// A handler must be able to turn a panic into an error.
fn panic_abort() -> TokenStream {
    tokens! {
        #[cfg(panic = "abort")]
        ::core::compile_error!(
            "custom calls need `panic = \"unwind\"`: with `panic = \"abort\"` a panic in a handler would end the whole \
             Python process instead of becoming an exception; remove `panic = \"abort\"` from the profile"
        );
    }
}

/// The values of `#[ctx]` and `#[state]` parameters.
fn context_param(
    private: &TokenStream,
    param: &crate::model::Param,
    handler: &TokenStream,
    state: impl Fn(crate::model::Stage, &syn::Type) -> TokenStream,
) -> Option<TokenStream> {
    let ident = &param.ident;
    let name = ident.to_string();
    let span = at(&param.ty);
    match &param.kind {
        ParamKind::Context => Some(quote_spanned!(span=> let #ident = #private::context(frame, #handler, #name)?;)),
        ParamKind::State { stage, ty } => {
            let state = state(*stage, ty);
            Some(quote_spanned!(span=> let #ident = #private::#state(frame, #handler, #name)?;))
        }
        _ => None,
    }
}
