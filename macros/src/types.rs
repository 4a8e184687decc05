//! Roles of parameters, read off their types: the table of the names that `oxcall` knows, by last path segment.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::visit_mut::{VisitMut, visit_type_reference_mut};
use syn::{Expr, GenericArgument, Lifetime, Lit, PathArguments, PathSegment, Type, TypeReference};

use crate::messages;
use crate::model::{Arity, Role};
use crate::suggest::nearest;

/// The facts that a parameter's type states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    Buffer(Role, Memory),
    Context,
}

/// The memory access of a buffer type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Memory {
    /// Its elements: host platform only.
    Host,
    /// Its address: any platform.
    Address,
    /// Nothing: a token.
    Nothing,
}

const ARG: Known = Known::Buffer(Role::Arg, Memory::Host);
const RET: Known = Known::Buffer(Role::Ret, Memory::Host);

/// `ArrayView*` and `ArrayViewMut*` are matched by prefix, slices by form.
const TABLE: &[(&str, Known)] = &[
    ("Array", ARG),
    ("AnyArray", ARG),
    ("Scalar", ARG),
    ("Token", Known::Buffer(Role::Arg, Memory::Nothing)),
    ("DeviceArray", Known::Buffer(Role::Arg, Memory::Address)),
    ("Out", RET),
    ("AnyOut", RET),
    ("ScalarOut", RET),
    ("TokenOut", Known::Buffer(Role::Ret, Memory::Nothing)),
    ("DeviceOut", Known::Buffer(Role::Ret, Memory::Address)),
    ("InOut", Known::Buffer(Role::InOut, Memory::Host)),
    ("DeviceInOut", Known::Buffer(Role::InOut, Memory::Address)),
    ("Stream", Known::Context),
    ("Scratch", Known::Context),
    ("ThreadPool", Known::Context),
    ("RunId", Known::Context),
    ("DeviceOrdinal", Known::Context),
    ("Cuda", Known::Context),
    ("CudaDevice", Known::Context),
    ("UserData", Known::Context),
    ("CustomOptions", Known::Context),
    ("Async", Known::Context),
    ("Context", Known::Context),
];

/// Types without an element type.
const UNTYPED: &[&str] = &["AnyArray", "AnyOut", "Token", "TokenOut"];

/// Integer types that a dimension may equal.
const INTEGERS: &[&str] = &["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];

/// Types of values, which need `#[attr]` or a rank-0 buffer around them.
const VALUES: &[&str] = &[
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "f16",
    "bf16",
    "f32",
    "f64",
    "Complex",
    "Complex32",
    "Complex64",
    "String",
    "str",
    "Vec",
    "Dict",
    "Device",
    "IntOrFloat",
    "Pointer",
    "char",
];

/// Removes the invisible groups and parentheses that macros leave around a type.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        ty => ty,
    }
}

/// The last segment of a path type.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match bare(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// The name of the last segment of a path type.
pub(crate) fn name(ty: &Type) -> Option<String> {
    last_segment(ty).map(|segment| segment.ident.to_string())
}

/// The type arguments of a segment.
pub(crate) fn type_args(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let args = match &segment.arguments {
        PathArguments::AngleBracketed(args) => Some(&args.args),
        _ => None,
    };
    args.into_iter().flatten().filter_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// `W` for `W<T>` with `W` as the wrapper's name.
pub(crate) fn inside<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == wrapper)?;
    type_args(segment).next()
}

/// Takes `Option<...>` or `Variadic<...>` off.
pub(crate) fn arity(ty: &Type) -> (Arity, &Type) {
    match (inside(ty, "Option"), inside(ty, "Variadic")) {
        (Some(inner), _) => (Arity::Optional, bare(inner)),
        (_, Some(inner)) => (Arity::Variadic, bare(inner)),
        _ => (Arity::One, bare(ty)),
    }
}

/// The kind of a type without its wrappers, if `oxcall` knows it.
pub(crate) fn known(ty: &Type) -> Option<Known> {
    if let Type::Reference(reference) = bare(ty) {
        return matches!(bare(&reference.elem), Type::Slice(_)).then_some(if reference.mutability.is_some() {
            RET
        } else {
            ARG
        });
    }
    let name = name(ty)?;
    if let Some((_, known)) = TABLE.iter().find(|(known, _)| *known == name) {
        return Some(*known);
    }
    view(&name).map(|(role, _)| Known::Buffer(role, Memory::Host))
}

/// `ArrayView2` and its kin: the role, and the rank where the name has it.
fn view(name: &str) -> Option<(Role, Option<usize>)> {
    let suffix = name.strip_prefix("ArrayView")?;
    let (role, suffix) = match suffix.strip_prefix("Mut") {
        Some(suffix) => (Role::Ret, suffix),
        None => (Role::Arg, suffix),
    };
    match suffix {
        "" | "D" => Some((role, None)),
        "0" | "1" | "2" | "3" | "4" | "5" | "6" => Some((role, suffix.parse().ok())),
        _ => None,
    }
}

/// The static rank of a buffer type, where its tokens show it.
pub(crate) fn rank(ty: &Type) -> Option<usize> {
    let segment = last_segment(ty)?;
    let name = segment.ident.to_string();
    match name.as_str() {
        "Scalar" | "ScalarOut" => return Some(0),
        _ => {}
    }
    if let Some((_, Some(rank))) = view(&name) {
        return Some(rank);
    }
    let dimension = last_segment(type_args(segment).nth(1)?)?;
    let name = dimension.ident.to_string();
    if let Some(digits) = name.strip_prefix("Ix").filter(|_| view(&segment.ident.to_string()).is_some()) {
        return digits.parse().ok();
    }
    match (&dimension.arguments, name.as_str()) {
        (PathArguments::AngleBracketed(args), "Rank") => match args.args.first()? {
            GenericArgument::Const(Expr::Lit(expr)) => match &expr.lit {
                Lit::Int(rank) => rank.base10_parse().ok(),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The element type of a buffer type; `Err` where one is missing.
pub(crate) fn element(ty: &Type) -> Result<Option<&Type>, String> {
    match bare(ty) {
        Type::Reference(reference) => match bare(&reference.elem) {
            Type::Slice(slice) => Ok(Some(bare(&slice.elem))),
            _ => Ok(None),
        },
        ty => {
            let Some(segment) = last_segment(ty) else { return Ok(None) };
            let name = segment.ident.to_string();
            match type_args(segment).next() {
                Some(element) if !UNTYPED.contains(&name.as_str()) => Ok(Some(bare(element))),
                None if known(ty).is_some() && !UNTYPED.contains(&name.as_str()) => Err(messages::no_element(name)),
                _ => Ok(None),
            }
        }
    }
}

/// The index of the type parameter that a type is.
pub(crate) fn variable(ty: &Type, type_params: &[Ident]) -> Option<usize> {
    match bare(ty) {
        Type::Path(path) => type_params.iter().position(|param| path.path.is_ident(param)),
        _ => None,
    }
}

/// Whether one of the type parameters occurs anywhere in a type.
pub(crate) fn mentions<'a>(ty: &Type, type_params: &'a [Ident]) -> Option<&'a Ident> {
    fn any(tokens: proc_macro2::TokenStream, ident: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(found) => found == *ident,
            proc_macro2::TokenTree::Group(group) => any(group.stream(), ident),
            _ => false,
        })
    }
    type_params.iter().find(|param| any(ty.to_token_stream(), param))
}

/// Whether a type is a token, which has no dimensions.
pub(crate) fn is_token(ty: &Type) -> bool {
    matches!(known(ty), Some(Known::Buffer(_, Memory::Nothing)))
}

/// Whether a type is an integer type by name.
pub(crate) fn is_integer(ty: &Type) -> bool {
    name(ty).is_some_and(|name| INTEGERS.contains(&name.as_str()))
}

/// `'static` where a borrow of the call belongs: on the type, on a reference, or inside `Option` and `Variadic`.
pub(crate) fn static_lifetime(ty: &Type) -> Option<&Lifetime> {
    let is_static = |lifetime: &&Lifetime| lifetime.ident == "static";
    match arity(ty).1 {
        Type::Reference(reference) => reference.lifetime.as_ref().filter(is_static),
        ty => match &last_segment(ty)?.arguments {
            PathArguments::AngleBracketed(args) => args.args.iter().find_map(|arg| match arg {
                GenericArgument::Lifetime(lifetime) => Some(lifetime).filter(is_static),
                _ => None,
            }),
            _ => None,
        },
    }
}

/// The message about a type that is neither in the table nor has a helper attribute.
pub(crate) fn unknown(ty: &Type, type_params: &[Ident]) -> String {
    let shown = text(ty);
    let inner = arity(ty).1;
    if let Type::Reference(reference) = inner {
        if known(&reference.elem).is_some() {
            return messages::buffer_by_reference(shown, text(&reference.elem));
        }
        if let Type::Array(array) = bare(&reference.elem) {
            return messages::array_reference(shown, text(&array.elem));
        }
    }
    let value = match inner {
        Type::Reference(reference) => bare(&reference.elem),
        ty => ty,
    };
    if variable(value, type_params).is_some() {
        return messages::bare_variable(shown);
    }
    let Some(name) = name(value) else { return messages::unknown_type(shown, "") };
    if let Some(item) = last_segment(value).filter(|segment| segment.ident == "Vec").and_then(|s| type_args(s).next()) {
        return match known(item) {
            Some(_) => messages::vec_of_buffers(shown, text(item)),
            None => messages::vec_value(shown, text(item)),
        };
    }
    if VALUES.contains(&name.as_str()) {
        return messages::bare_value(shown);
    }
    if let Some(rank) = name.strip_prefix("Array").or(name.strip_prefix("ArcArray")).filter(|rank| is_rank(rank)) {
        return messages::owned_array(shown, format!("ArrayView{rank}"), format!("ArrayViewMut{rank}"));
    }
    if matches!(inner, Type::Reference(_)) {
        return messages::unknown_reference(shown);
    }
    let names = TABLE.iter().map(|(name, _)| *name).chain(["ArrayView2", "ArrayViewMut2", "Variadic"]);
    match nearest(&name, names) {
        Some(meant) => messages::unknown_type(shown, format!("; did you mean `{meant}`?")),
        None => messages::unknown_type(shown, ""),
    }
}

fn is_rank(suffix: &str) -> bool {
    suffix == "D" || (suffix.len() == 1 && suffix.chars().all(|c| c.is_ascii_digit()))
}

/// A type with one lifetime in the place of all its own; `None` if it borrows nothing.
pub(crate) fn borrowed_for(ty: &Type, lifetime: &Lifetime) -> Option<Type> {
    struct Lifetimes<'a>(&'a Lifetime, bool);
    impl VisitMut for Lifetimes<'_> {
        fn visit_lifetime_mut(&mut self, found: &mut Lifetime) {
            *found = self.0.clone();
            self.1 = true;
        }
        fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
            reference.lifetime.get_or_insert_with(|| self.0.clone());
            self.1 = true;
            visit_type_reference_mut(self, reference);
        }
    }
    let mut ty = ty.clone();
    let mut lifetimes = Lifetimes(lifetime, false);
    lifetimes.visit_type_mut(&mut ty);
    lifetimes.1.then_some(ty)
}

/// A type as a reader would write it: the printed tokens without the spaces around punctuation.
pub(crate) fn text(tokens: impl ToTokens) -> String {
    let mut text = String::new();
    for word in tokens.to_token_stream().to_string().split_whitespace() {
        let glue = text.is_empty()
            || text.ends_with(['<', '&', '[', '(', ':', '*', '\''])
            || word.starts_with(['<', '>', ',', ']', ')', ':', ';']);
        if !glue {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn roles_follow_the_last_segment() {
        let role = |ty: Type| match known(arity(&ty).1) {
            Some(Known::Buffer(role, _)) => Some(role),
            _ => None,
        };
        assert_eq!(role(parse_quote!(Array<T>)), Some(Role::Arg));
        assert_eq!(role(parse_quote!(oxcall::Array<'_, f32, Rank<2>>)), Some(Role::Arg));
        assert_eq!(role(parse_quote!(Option<ArrayView2<'_, f32>>)), Some(Role::Arg));
        assert_eq!(role(parse_quote!(Variadic<'_, ArrayViewMutD<f32>>)), Some(Role::Ret));
        assert_eq!(role(parse_quote!(&[T])), Some(Role::Arg));
        assert_eq!(role(parse_quote!(&mut [T])), Some(Role::Ret));
        assert_eq!(role(parse_quote!(InOut<T>)), Some(Role::InOut));
        assert_eq!(role(parse_quote!(ArrayView7<T>)), None);
        assert_eq!(role(parse_quote!(&T)), None);
        assert_eq!(known(&parse_quote!(ThreadPool<'_>)), Some(Known::Context));
    }

    #[test]
    fn ranks_are_read_off_types() {
        for (ty, expected) in [
            (parse_quote!(Array<f32, Rank<3>>), Some(3)),
            (parse_quote!(Array<'_, f32, oxcall::Rank<0>>), Some(0)),
            (parse_quote!(Array<f32>), None),
            (parse_quote!(Array<f32, Dyn>), None),
            (parse_quote!(ArrayView2<'_, f32>), Some(2)),
            (parse_quote!(ArrayViewMut0<f32>), Some(0)),
            (parse_quote!(ArrayView<f32, Ix3>), Some(3)),
            (parse_quote!(ArrayViewD<f32>), None),
            (parse_quote!(Scalar<f32>), Some(0)),
            (parse_quote!(&[f32]), None),
        ] {
            assert_eq!(rank(&ty), expected, "{}", text(&ty));
        }
    }

    #[test]
    fn elements_and_variables() {
        let params: Vec<Ident> = vec![parse_quote!(T), parse_quote!(U)];
        let var = |ty: Type| element(&ty).unwrap().and_then(|ty| variable(ty, &params));
        assert_eq!(var(parse_quote!(Array<'_, U, Rank<2>>)), Some(1));
        assert_eq!(var(parse_quote!(&mut [T])), Some(0));
        assert_eq!(var(parse_quote!(Array<f32>)), None);
        assert!(element(&parse_quote!(Out)).is_err());
        assert!(element(&parse_quote!(AnyOut)).unwrap().is_none());
        assert_eq!(mentions(&parse_quote!(Vec<Complex<U>>), &params).unwrap(), "U");
    }

    #[test]
    fn vectors_are_told_apart() {
        let message = |ty: Type| unknown(&ty, &[]);
        assert!(message(parse_quote!(Vec<f32>)).contains("an argument as `&[f32]`"));
        assert!(message(parse_quote!(Vec<Array<f32>>)).contains("write `Variadic<Array<f32>>`"));
    }

    #[test]
    fn types_print_as_written() {
        for ty in ["Array<'_, f32, Rank<2>>", "&mut [T]", "Option<a::B<T>>", "[u8; 4]", "(A, B)"] {
            assert_eq!(text(syn::parse_str::<Type>(ty).unwrap()), ty);
        }
    }
}
