//! The traits of an operation, and the checks that the operations of its rules fit.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::Path;
use syn::ext::IdentExt;

use super::at;
use super::descriptor::option;
use crate::model::{Options, Rule, Vmap};

/// The value of `Handler::traits`.
pub(super) fn traits(private: &TokenStream, options: &Options) -> TokenStream {
    let name = |path: Option<&Path>| option(path.map(|path| tokens!(<#path as #private::Op>::NAME)));
    let [vjp, jvp, fwd, transpose] =
        [Rule::Vjp, Rule::Jvp, Rule::Fwd, Rule::Transpose].map(|rule| name(options.rule(rule)));
    let method = option(match &options.vmap {
        Some(Vmap::Method(method)) => Some(tokens!(#method)),
        _ => None,
    });
    let vmap_op = name(options.vmap_op());
    let text = |ident: &syn::Ident| Literal::string(&ident.unraw().to_string());
    let batch = option(options.batch.as_ref().map(text).map(|name| tokens!(#name)));
    let nondiff = options.nondiff.iter().map(text);
    let autocast = option(options.autocast.as_ref().map(text).map(|policy| tokens!(#policy)));
    let Options { side_effect, command_buffer, broadcast, recorded, .. } = *options;
    let recorded = Ident::new(&format!("{recorded:?}"), Span::call_site());
    tokens! {
        #private::Traits {
            command_buffer: #command_buffer,
            side_effect: #side_effect,
            batch: #batch,
            vmap: #method,
            vmap_op: #vmap_op,
            vjp: #vjp,
            jvp: #jvp,
            fwd: #fwd,
            transpose: #transpose,
            nondiff: &[#(#nondiff),*],
            autocast: #autocast,
            broadcast: #broadcast,
            recorded: #private::Recorded::#recorded,
        }
    }
}

/// Constants whose values the compiler can compute only if the operations fit.
pub(super) fn checks(private: &TokenStream, options: &Options) -> TokenStream {
    let handler = |path: &Path| tokens!(<#path as #private::Op>::HANDLER);
    let fwd = option(options.rule(Rule::Fwd).map(handler));
    let mut checks = TokenStream::new();
    let mut check = |path: &Path, check: TokenStream| {
        let span = at(path);
        checks.extend(quote_spanned!(span=> const _: () = #check;));
    };
    for (rule, path) in &options.rules {
        let (span, other) = (at(path), handler(path));
        let call = match rule {
            Rule::Vjp => quote_spanned!(span=> #private::check_vjp(&__HANDLER, #fwd, #other)),
            Rule::Jvp => quote_spanned!(span=> #private::check_jvp(&__HANDLER, #fwd, #other)),
            Rule::Fwd => quote_spanned!(span=> #private::check_fwd(&__HANDLER, #other)),
            Rule::Transpose => quote_spanned!(span=> #private::check_transpose(&__HANDLER, #other)),
        };
        check(path, call);
    }
    if let Some(path) = options.vmap_op() {
        let (span, other) = (at(path), handler(path));
        check(path, quote_spanned!(span=> #private::check_vmap(&__HANDLER, #other)));
    }
    let own = [
        options.nondiff.first().map(|name| (name, tokens!(check_nondiff))),
        options.autocast.as_ref().map(|policy| (policy, tokens!(check_autocast))),
    ];
    for (option, check) in own.into_iter().flatten() {
        let span = at(option);
        checks.extend(quote_spanned!(span=> const _: () = #private::#check(&__HANDLER);));
    }
    checks
}
