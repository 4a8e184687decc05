//! `#[derive(AttrEnum)]`: an attribute that is one of a few names.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields, LitStr, Path};

use crate::errors::Errors;
use crate::names::snake_case;
use crate::{derive, messages};

/// Parses, checks, and expands.
pub(crate) fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let mut errors = Errors::default();
    let krate = derive::krate(&input.attrs, &mut errors);
    if !input.generics.params.is_empty() {
        errors.push(&input.generics, messages::enum_generic());
    }
    let Data::Enum(data) = &input.data else {
        errors.push(&input.ident, messages::enum_not(derive::kind(&input.data)));
        return errors.finish(TokenStream::new());
    };
    if data.variants.is_empty() {
        errors.push(&input.ident, messages::enum_empty());
    }
    let mut variants: Vec<(String, &Ident)> = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            errors.push(&variant.fields, messages::enum_data(&variant.ident));
        }
        let args = derive::attr_args(&variant.attrs, &["name"], &mut errors);
        let name = args.name.as_ref().map_or_else(|| snake_case(&variant.ident.unraw().to_string()), LitStr::value);
        match variants.iter().find(|(other, _)| *other == name) {
            Some((_, first)) => errors.push(&variant.ident, messages::duplicate_wire_name(&name, first)),
            None => variants.push((name, &variant.ident)),
        }
    }
    errors.finish(())?;
    Ok(expand(&krate, &input.ident, &variants))
}

fn expand(krate: &Path, ident: &Ident, variants: &[(String, &Ident)]) -> TokenStream {
    let entries = variants.iter().map(|(name, variant)| quote!((#name, #ident::#variant as ::core::primitive::i64)));
    // The index is that of a variant, so the last arm may stand for all others.
    let patterns =
        (0..variants.len()).map(|index| if index + 1 == variants.len() { quote!(_) } else { quote!(#index) });
    let idents = variants.iter().map(|(_, variant)| variant);
    quote! {
        #[automatically_derived]
        impl<'f> #krate::__private::FromAttr<'f> for #ident {
            const TYPE: #krate::__private::AttrType = #krate::__private::AttrType::Enum(&[#(#entries),*]);

            fn from_attr(
                attr: #krate::__private::Attr<'f>,
            ) -> ::core::result::Result<Self, #krate::__private::AttrError> {
                let #krate::__private::AttrType::Enum(variants) = <Self as #krate::__private::FromAttr<'f>>::TYPE else {
                    ::core::unreachable!()
                };
                ::core::result::Result::Ok(match #krate::__private::enum_attr(attr, variants)? {
                    #(#patterns => #ident::#idents,)*
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn mistakes(item: TokenStream, parts: &[&str]) {
        let found: Vec<String> = match derive(item) {
            Ok(_) => Vec::new(),
            Err(error) => error.into_iter().map(|error| error.to_string()).collect(),
        };
        assert_eq!(found.len(), parts.len(), "{found:#?}");
        for (found, part) in found.iter().zip(parts) {
            assert!(found.contains(part), "expected {part:?} in {found:?}");
        }
    }

    #[test]
    fn names_and_values() {
        let tokens = derive(quote! {
            #[attr(crate = my::oxcall)]
            enum Mode { VeryFast, #[attr(name = "ieee")] Precise = 7 }
        });
        let text = tokens.unwrap().to_string().replace(' ', "");
        assert!(text.contains(r#"[("very_fast",Mode::VeryFastas::core::primitive::i64),("ieee",Mode::Preciseas::core::primitive::i64)]"#), "{text}");
        assert!(
            text.contains("my::oxcall::__private::FromAttr")
                && !text.contains("::oxcall::__private::FromAttr<'f>for::")
        );
        assert!(text.contains("0usize=>Mode::VeryFast,_=>Mode::Precise"), "{text}");
    }

    #[test]
    fn mistakes_of_enums() {
        mistakes(
            quote!(
                struct S {
                    x: i32,
                }
            ),
            &["not for a struct"],
        );
        mistakes(quote!(union U { x: i32 }), &["not for a union"]);
        mistakes(
            quote!(
                enum E<T> {
                    A(T),
                    B { x: i32 },
                }
            ),
            &["generic", "`A` has data", "`B` has data"],
        );
        mistakes(
            quote!(
                enum E {}
            ),
            &["no variants"],
        );
        mistakes(
            quote!(
                enum E {
                    Fast,
                    #[attr(name = "fast")]
                    Quick,
                }
            ),
            &["`fast` is already the name of `Fast`"],
        );
        mistakes(
            quote!(
                enum E {
                    #[attr(name = "")]
                    A,
                    #[attr(nam = "b")]
                    B,
                }
            ),
            &["empty", "did you mean `name`"],
        );
        mistakes(
            quote!(
                #[attr(name = "x")]
                enum E {
                    A,
                }
            ),
            &["takes only `crate = path`"],
        );
        mistakes(
            quote!(
                enum E {
                    #[attr(default)]
                    A,
                }
            ),
            &["unknown argument `default`"],
        );
    }
}
