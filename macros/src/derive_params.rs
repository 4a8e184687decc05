//! `#[derive(UserParams)]`: a struct whose fields become attributes of a kernel.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields};

use crate::errors::Errors;
use crate::model::Arity;
use crate::{derive, messages, types};

/// A field of the struct.
struct Field<'a> {
    ident: &'a Ident,
    name: String,
    optional: bool,
}

/// Parses, checks, and expands.
pub(crate) fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let mut errors = Errors::default();
    let krate = derive::krate(&input.attrs, &mut errors);
    let Data::Struct(data) = &input.data else {
        errors.push(&input.ident, messages::params_not(derive::kind(&input.data)));
        return errors.finish(TokenStream::new());
    };
    let Fields::Named(named) = &data.fields else {
        errors.push(&input.ident, messages::params_unnamed());
        return errors.finish(TokenStream::new());
    };
    let mut fields: Vec<Field<'_>> = Vec::new();
    for field in &named.named {
        let args = derive::attr_args(&field.attrs, &["name"], &mut errors);
        let Some(ident) = &field.ident else { continue };
        let name = args.name.map_or_else(|| ident.unraw().to_string(), |name| name.value());
        match fields.iter().find(|other| other.name == name) {
            Some(first) => errors.push(ident, messages::duplicate_wire_name(&name, first.ident)),
            None => fields.push(Field { ident, name, optional: types::arity(&field.ty).0 == Arity::Optional }),
        }
    }
    errors.finish(())?;
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let names = fields.iter().map(|field| &field.name);
    let values = fields.iter().map(|Field { ident, name, optional }| {
        // A type that is none of an attribute is reported at its field.
        let span = Span::mixed_site().located_at(ident.span());
        let value = quote_spanned!(span=> <#krate::host::AttrValue as ::core::convert::From<_>>::from);
        if *optional {
            quote_spanned!(span=> attributes.extend(self.#ident.map(|value| (#name, #value(value))));)
        } else {
            quote_spanned!(span=> attributes.push((#name, #value(self.#ident)));)
        }
    });
    Ok(quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #impl_generics #krate::habana::UserParams for #ident #ty_generics #where_clause {
            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn into_attributes(self) -> #krate::__private::Vec<(&'static str, #krate::host::AttrValue)> {
                #[allow(unused_mut, reason = "a struct may have no fields")]
                let mut attributes = #krate::__private::Vec::new();
                #(#values)*
                attributes
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn fields_become_attributes() {
        let item = quote!(
            struct P {
                k: i64,
                #[attr(name = "bottomK")]
                bottom: bool,
                axis: Option<i64>,
            }
        );
        let text = derive(item).unwrap().to_string();
        for part in ["& [\"k\" , \"bottomK\" , \"axis\"]", "self . bottom", "extend (self . axis . map"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn mistakes() {
        let text = |item| derive(item).unwrap_err().into_iter().map(|e| e.to_string()).collect::<Vec<_>>();
        assert!(
            text(quote!(
                enum E {
                    A,
                }
            ))[0]
                .contains("an enum")
        );
        assert!(
            text(quote!(
                struct S(i64);
            ))[0]
                .contains("named fields")
        );
        assert!(
            text(quote!(
                struct S {
                    a: i64,
                    #[attr(name = "a")]
                    b: i64,
                }
            ))[0]
                .contains("already the name of `a`")
        );
    }
}
