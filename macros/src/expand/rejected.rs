//! The item that stands for a rejected function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, ItemFn, parse_quote};

use crate::{attrs, signature};

/// What a rejected item becomes: its errors, and the item without helper attributes, so that code that uses it gets
/// no errors of its own. With `declare_op`, also the type that the macro would have made. Without `body`,
/// mistakes in it are among the errors.
pub(crate) fn rejected(error: syn::Error, item: TokenStream, declare_op: bool, body: bool) -> TokenStream {
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
    // Without `async` the body may not compile; with it, lifetimes could no longer be left out.
    if function.sig.asyncness.take().is_some() || !body {
        function.block = parse_quote!({ ::core::unimplemented!() });
        function.attrs.push(parse_quote!(#[allow(unused)]));
    }
    let op = (declare_op && !method).then(|| {
        let (vis, ident) = (&function.vis, &function.sig.ident);
        quote!(#[doc(hidden)] #[allow(non_camel_case_types, dead_code)] #vis struct #ident {})
    });
    quote!(#errors #function #op)
}
