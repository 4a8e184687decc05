//! `#[derive(AttrStruct)]`: an attribute that is a dictionary with known entries.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Expr, Fields, GenericParam, Generics, Lifetime, Path, Type, parse_quote};

use crate::errors::Errors;
use crate::model::{Arity, Presence};
use crate::{derive, messages, types};

/// A field of the struct.
struct Field<'a> {
    ident: &'a Ident,
    name: String,
    /// The type inside `Option`, or the field's.
    ty: &'a Type,
    presence: Presence,
}

/// Parses, checks, and expands.
pub(crate) fn derive(item: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(item)?;
    let mut errors = Errors::default();
    let krate = derive::krate(&input.attrs, &mut errors);
    let frame = lifetime(&input.generics, &mut errors);
    let Data::Struct(data) = &input.data else {
        errors.push(&input.ident, messages::struct_not(derive::kind(&input.data)));
        return errors.finish(TokenStream::new());
    };
    let Fields::Named(named) = &data.fields else {
        errors.push(&input.ident, messages::struct_unnamed());
        return errors.finish(TokenStream::new());
    };
    let mut fields: Vec<Field<'_>> = Vec::new();
    for field in &named.named {
        let args = derive::attr_args(&field.attrs, &["name", "default"], &mut errors);
        let Some(ident) = &field.ident else { continue };
        let field = self::field(ident, &field.ty, args.name.map(|name| name.value()), args.default, &mut errors);
        match fields.iter().find(|other| other.name == field.name) {
            Some(first) => errors.push(ident, messages::duplicate_wire_name(&field.name, first.ident)),
            None => fields.push(field),
        }
    }
    errors.finish(())?;
    Ok(expand(&krate, &input, &frame, &fields))
}

/// The lifetime of what the struct borrows from the call frame.
fn lifetime(generics: &Generics, errors: &mut Errors) -> Lifetime {
    let mut found: Option<&Lifetime> = None;
    for param in &generics.params {
        match param {
            GenericParam::Lifetime(param) if found.is_none() => found = Some(&param.lifetime),
            param => errors.push(param, messages::struct_generic()),
        }
    }
    found.cloned().unwrap_or_else(|| parse_quote!('f))
}

fn field<'a>(
    ident: &'a Ident,
    ty: &'a Type,
    name: Option<String>,
    default: Option<(Ident, Expr)>,
    errors: &mut Errors,
) -> Field<'a> {
    let (arity, inner) = types::arity(ty);
    let presence = match (default, arity) {
        (Some((_, default)), Arity::Optional) => {
            errors.push(default, messages::default_on_option(types::text(inner)));
            Presence::Optional
        }
        (Some((_, default)), _) => Presence::Default(default),
        (None, Arity::Optional) => Presence::Optional,
        (None, _) => Presence::Required,
    };
    if arity == Arity::Variadic {
        errors.push(ty, messages::variadic_attr());
    }
    match inner {
        Type::Reference(reference) if reference.mutability.is_some() => errors.push(ty, messages::mutable_attr()),
        Type::Ptr(pointer) => errors.push(ty, messages::pointer_attr(types::text(&pointer.elem))),
        _ => {}
    }
    if let Some(lifetime) = types::static_lifetime(ty) {
        errors.push(lifetime, messages::static_field());
    }
    let name = name.unwrap_or_else(|| ident.unraw().to_string());
    Field { ident, name, ty: inner, presence }
}

fn expand(krate: &Path, input: &DeriveInput, frame: &Lifetime, fields: &[Field<'_>]) -> TokenStream {
    let private = quote!(#krate::__private);
    let ident = &input.ident;
    let (_, ty_generics, where_clause) = input.generics.split_for_impl();
    let schema = fields.iter().map(|Field { name, ty, presence, .. }| {
        let presence = match presence {
            Presence::Required => quote!(Required),
            Presence::Optional => quote!(Optional),
            Presence::Default(default) => quote!(Default(::core::stringify!(#default))),
        };
        quote_spanned! {of_field(ty)=>
            #private::AttrParam {
                name: #name,
                ty: <#ty as #private::FromAttr<#frame>>::TYPE,
                presence: #private::Presence::#presence,
            }
        }
    });
    let count = fields.len();
    let values = fields.iter().enumerate().map(|(index, field)| value(&private, frame, index, field));
    let fields_binding = if fields.is_empty() { quote!(_) } else { quote_spanned!(Span::mixed_site()=> fields) };
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl<#frame> #private::FromAttr<#frame> for #ident #ty_generics #where_clause {
            const TYPE: #private::AttrType = #private::AttrType::Struct(&[#(#schema),*]);

            fn from_attr(
                attr: #private::Attr<#frame>,
            ) -> ::core::result::Result<Self, #private::AttrError> {
                let #private::AttrType::Struct(schema) = <Self as #private::FromAttr<#frame>>::TYPE else {
                    ::core::unreachable!()
                };
                let #fields_binding = #private::struct_fields::<#count>(attr, schema)?;
                ::core::result::Result::Ok(Self { #(#values)* })
            }
        }
    }
}

/// Names of the expansion, which no default of the user sees, at the place of a field's type.
fn of_field(ty: &Type) -> Span {
    Span::mixed_site().located_at(ty.span())
}

/// `field: value,`
fn value(private: &TokenStream, frame: &Lifetime, index: usize, field: &Field<'_>) -> TokenStream {
    let Field { ident, name, ty, presence } = field;
    let span = of_field(ty);
    let decode = quote_spanned! {span=>
        <#ty as #private::FromAttr<#frame>>::from_attr(field).map_err(|error| error.in_field(#name))?
    };
    match presence {
        Presence::Required => quote_spanned!(span=> #ident: { let field = fields.required(#index)?; #decode },),
        Presence::Optional => quote_spanned! {span=>
            #ident: match fields.get(#index) {
                ::core::option::Option::Some(field) => ::core::option::Option::Some(#decode),
                ::core::option::Option::None => ::core::option::Option::None,
            },
        },
        Presence::Default(default) => quote_spanned! {span=>
            #ident: match fields.get(#index) {
                ::core::option::Option::Some(field) => #decode,
                ::core::option::Option::None => #default,
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(item: TokenStream) -> Result<String, Vec<String>> {
        match derive(item) {
            Ok(tokens) => Ok(tokens.to_string().replace(' ', "")),
            Err(error) => Err(error.into_iter().map(|error| error.to_string()).collect()),
        }
    }

    #[test]
    fn fields_of_every_presence() {
        let text = text(quote! {
            struct Config<'a> {
                width: f32,
                #[attr(name = "tag")] label: Option<&'a str>,
                #[attr(default = 3)] repeat: i64,
            }
        });
        let text = text.unwrap();
        for part in [
            "impl<'a>::oxcall::__private::FromAttr<'a>forConfig<'a>",
            "name:\"tag\",ty:<&'astras::oxcall::__private::FromAttr<'a>>::TYPE",
            "Presence::Default(::core::stringify!(3))",
            "width:{letfield=fields.required(0usize)?",
            "None=>3,",
            "in_field(\"tag\")",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn mistakes_of_structs() {
        for (item, parts) in [
            (
                quote!(
                    enum E {
                        A,
                    }
                ),
                &["not for an enum"] as &[&str],
            ),
            (quote!(union U { a: f32 }), &["not for a union"]),
            (
                quote!(
                    struct S(f32);
                ),
                &["no names"],
            ),
            (
                quote!(
                    struct S;
                ),
                &["no names"],
            ),
            (
                quote!(
                    struct S<'a, 'b, T> {
                        a: &'a str,
                        b: &'b str,
                        t: T,
                    }
                ),
                &["one lifetime", "one lifetime"],
            ),
            (
                quote!(
                    struct S {
                        a: f32,
                        #[attr(name = "a")]
                        b: f32,
                    }
                ),
                &["already the name of `a`"],
            ),
            (
                quote!(
                    struct S {
                        #[attr(default = None)]
                        a: Option<f32>,
                    }
                ),
                &["never absent"],
            ),
            (
                quote!(
                    struct S {
                        #[attr(rest)]
                        a: Dict,
                    }
                ),
                &["unknown argument `rest`"],
            ),
            (
                quote!(
                    struct S {
                        a: *const f32,
                        b: &'static str,
                    }
                ),
                &["Pointer<f32>", "'static"],
            ),
            (
                quote!(
                    struct S {
                        #[attr]
                        #[attr(default = 1)]
                        a: f32,
                    }
                ),
                &["twice"],
            ),
        ] {
            let shown = item.to_string();
            let found = text(item).expect_err(&shown);
            assert_eq!(found.len(), parts.len(), "{shown}: {found:#?}");
            for (found, part) in found.iter().zip(parts) {
                assert!(found.contains(part), "expected {part:?} in {found:?}");
            }
        }
    }
}
