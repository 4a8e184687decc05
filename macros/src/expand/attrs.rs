//! Attribute parameters.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};

use super::at;
use super::concrete::{concrete, inferred};
use crate::model::{Attr, Param, ParamKind, Presence, TypeParam};

/// The attribute parameters of a function, in the order of the signature.
pub(super) fn named(params: &[Param]) -> impl Iterator<Item = (&Param, &Attr)> {
    params.iter().filter_map(|param| match &param.kind {
        ParamKind::Attr(attr) => Some((param, attr)),
        _ => None,
    })
}

/// `AttrParam` values.
pub(super) fn descriptors(private: &TokenStream, params: &[Param], type_params: &[TypeParam]) -> Vec<TokenStream> {
    named(params)
        .map(|(_, attr)| {
            let name = &attr.name;
            let ty = match attr.var {
                Some(var) => tokens!(#private::AttrType::Var(#var)),
                None => {
                    let ty = concrete(&attr.ty, type_params);
                    quote_spanned!(at(&attr.ty)=> <#ty as #private::FromAttr<'static>>::TYPE)
                }
            };
            let presence = match &attr.presence {
                Presence::Required => tokens!(Required),
                Presence::Optional => tokens!(Optional),
                Presence::Default(expr) => {
                    let text = source_text(expr);
                    tokens!(Default(#text))
                }
            };
            tokens!(#private::AttrParam { name: #name, ty: #ty, presence: #private::Presence::#presence })
        })
        .collect()
}

/// The source text of an expression, without the spaces that printing tokens puts between them.
fn source_text(expr: &syn::Expr) -> String {
    let mut text = String::new();
    for part in expr.to_token_stream().to_string().split(' ') {
        // Two words need their space, and so do a comma and what follows.
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let spaced = (word(text.chars().last()) && word(part.chars().next())) || text.ends_with(',');
        if spaced {
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}

/// An array with the place of each attribute of the signature in the list `all`.
pub(super) fn positions(private: &TokenStream, params: &[Param], all: &TokenStream) -> TokenStream {
    let names: Vec<_> = named(params).map(|(_, attr)| attr.name.clone()).collect();
    let count = names.len();
    tokens!(#private::positions::<#count>(#all, &[#(#names),*]))
}

/// The value of the signature's attribute `index`: converted, or what its absence means.
///
/// `positions` is what [`positions`] made.
pub(super) fn value(
    private: &TokenStream,
    attr: &Attr,
    index: usize,
    handler: &TokenStream,
    positions: &TokenStream,
) -> TokenStream {
    let name = &attr.name;
    let span = at(&attr.ty);
    let ty = inferred(&attr.ty);
    let converted = quote_spanned! {span=>
        match <#ty as #private::FromAttr<'_>>::from_attr(attr) {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => {
                #private::cold();
                return ::core::result::Result::Err(#private::attribute(#handler, #name, error));
            }
        }
    };
    let position = tokens!(#positions[#index]);
    let (some, none) = match &attr.presence {
        Presence::Required => {
            return quote_spanned! {span=>
                match <#ty as #private::FromAttr<'_>>::from_attr(attrs.required(#position)) {
                    ::core::result::Result::Ok(value) => value,
                    ::core::result::Result::Err(error) => {
                        #private::cold();
                        let given = attrs.get(#position).is_some();
                        return ::core::result::Result::Err(
                            #private::required_attribute(#handler, #name, given, error));
                    }
                }
            };
        }
        Presence::Optional => {
            (tokens!(::core::option::Option::Some(#converted)), tokens!(::core::option::Option::None))
        }
        Presence::Default(expr) => (converted, tokens!({ let default: #ty = #expr; default })),
    };
    tokens! {
        match attrs.get(#position) {
            ::core::option::Option::Some(attr) => #some,
            ::core::option::Option::None => #none,
        }
    }
}
