//! A parameter's type with its type parameters and lifetimes filled in, for constants.

use syn::visit_mut::{self, VisitMut};
use syn::{Lifetime, Type, TypePath, TypeReference};

use crate::model::TypeParam;

/// `ty` with each dispatched type parameter replaced by its first element type, and every lifetime by `'static`.
pub(super) fn concrete(ty: &Type, type_params: &[TypeParam]) -> Type {
    let mut ty = ty.clone();
    Concrete { type_params }.visit_type_mut(&mut ty);
    ty
}

/// `ty` with every lifetime replaced by `'static`, for constants where the type parameters are in scope.
pub(super) fn without_lifetimes(ty: &Type) -> Type {
    concrete(ty, &[])
}

/// `ty` with every lifetime left to inference, for expressions.
pub(super) fn inferred(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Inferred.visit_type_mut(&mut ty);
    ty
}

struct Inferred;

impl VisitMut for Inferred {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'_", lifetime.apostrophe);
    }
}

struct Concrete<'a> {
    type_params: &'a [TypeParam],
}

impl VisitMut for Concrete<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(TypePath { qself: None, path, .. }) = ty
            && let Some(ident) = path.get_ident()
            && let Some(param) = self.type_params.iter().find(|param| param.ident == *ident)
            && let Some(element) = param.elements.first()
        {
            *ty = element.clone();
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.apostrophe);
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = Some(Lifetime::new("'static", reference.and_token.span));
        visit_mut::visit_type_reference_mut(self, reference);
    }
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn parameters_and_lifetimes_are_filled_in() {
        let params = [TypeParam { ident: parse_quote!(T), elements: vec![parse_quote!(f32), parse_quote!(f64)] }];
        let check = |ty: Type, expected: Type| {
            assert_eq!(concrete(&ty, &params).to_token_stream().to_string(), expected.to_token_stream().to_string());
        };
        check(parse_quote!(Array<'a, T, Rank<2>>), parse_quote!(Array<'static, f32, Rank<2>>));
        check(parse_quote!(&[T]), parse_quote!(&'static [f32]));
        check(parse_quote!(&'a mut [T]), parse_quote!(&'static mut [f32]));
        check(parse_quote!(Array<Complex<T>>), parse_quote!(Array<Complex<f32>>));
    }
}
