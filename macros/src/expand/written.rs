//! Derivatives of pointwise functions that the user writes: `#[pointwise(vjp = path)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Path;

use super::at;
use super::derivatives::Node;
use super::pointwise::{attrs, lifetimes, map_ident, traits, variables};
use crate::pointwise::Pointwise;

/// The function of a rule, and the type of it as a value.
fn written(pointwise: &Pointwise, is_vjp: bool) -> Option<(&Path, Ident)> {
    let path = if is_vjp { &pointwise.options.vjp } else { &pointwise.options.jvp };
    let name = if is_vjp { "__WrittenVjp" } else { "__WrittenJvp" };
    path.as_ref().map(|path| (path, Ident::new(name, Span::mixed_site())))
}

/// The written functions as values: of the operands, of the cotangents or tangents, and of the attributes.
pub(super) fn maps(pointwise: &Pointwise, private: &TokenStream, nodes: &[Node]) -> TokenStream {
    let (root, lifetimes) = (map_ident(&nodes[0]), lifetimes(pointwise));
    let [of_maps, of_numbers] = traits(pointwise, private);
    let rules = nodes[0].rules.into_iter().flat_map(|[jvp, vjp]| [(jvp, false), (vjp, true)]);
    let maps = rules.filter_map(|(node, is_vjp)| {
        let ((path, name), node) = (written(pointwise, is_vjp)?, &nodes[node]);
        let (taken, given) = (node.inputs.len(), node.outputs.len());
        let (inputs, results) = (variables("x", taken), variables("y", given));
        let values = variables("attr", attrs(pointwise).count());
        let is_tuple = if is_vjp { given > 1 } else { pointwise.tuple.is_some() };
        // A mistake in its parameters or results is one of this path.
        let span = at(path);
        let pattern = if is_tuple { quote_spanned!(span=> (#(#results,)*)) } else { tokens!(#(#results)*) };
        let call = quote_spanned!(span=> let #pattern = #path(#(#inputs,)* #(#values),*););
        Some(tokens! {
            #[derive(::core::clone::Clone, ::core::marker::Copy)]
            struct #name #lifetimes(#root #lifetimes);

            impl #lifetimes #of_maps<#taken, #given> for #name #lifetimes {
                fn call<T: #of_numbers>(self, [#(#inputs),*]: [T; #taken]) -> [T; #given] {
                    let #root(#(#values),*) = self.0;
                    #call
                    [#(#results),*]
                }
            }
        })
    });
    tokens!(#(#maps)*)
}

/// What a derivative of the function computes, by the written function, or as the transpose of the other one that is
/// written; `None` if neither is.
pub(super) fn body(
    pointwise: &Pointwise,
    private: &TokenStream,
    of_maps: &TokenStream,
    is_vjp: bool,
    primals: &TokenStream,
    moved: &TokenStream,
) -> Option<TokenStream> {
    let function = |name: Ident| tokens!(|numbers| #of_maps::call(#name(self.0), numbers));
    if let Some((_, name)) = written(pointwise, is_vjp) {
        let function = function(name);
        return Some(tokens!(#private::pointwise::written(#function, #function, #primals, #moved, self.1)));
    }
    let function = function(written(pointwise, !is_vjp)?.1);
    Some(tokens!(#private::pointwise::transposed(#function, #primals, #moved, self.1)))
}
