//! `#[rowwise]`: from tokens to a checked [`Rowwise`].

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, FnArg, GenericParam, ItemFn, Pat, ReturnType, Type};

use crate::bodies::{self, Form};
use crate::errors::Errors;
use crate::pointwise::{Options, check_names, options};
use crate::types::{self, Known};
use crate::{attrs, captures, messages, signature};

/// A checked function of rows.
pub(crate) struct Rowwise {
    /// The function, without helper attributes.
    pub(crate) function: ItemFn,
    pub(crate) options: Options,
    /// The parameters, in their order.
    pub(crate) params: Vec<Param>,
    /// The results, and whether they are a tuple.
    pub(crate) results: Vec<Kind>,
    pub(crate) is_tuple: bool,
}

/// A parameter.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) kind: ParamKind,
}

pub(crate) enum ParamKind {
    Operand(Kind),
    /// An attribute, with its `#[attr]` and its type.
    Attr(Box<(Attribute, Type)>),
}

/// The part of an array that the function sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Row,
    PerRow,
}

impl Kind {
    /// The kind that a type names.
    fn of(ty: &Type) -> Option<Kind> {
        match types::name(ty)?.as_str() {
            "Row" => Some(Kind::Row),
            "PerRow" => Some(Kind::PerRow),
            _ => None,
        }
    }
}

impl Rowwise {
    /// The operands.
    pub(crate) fn operands(&self) -> impl Iterator<Item = (&Ident, Kind)> {
        self.params.iter().filter_map(|param| match param.kind {
            ParamKind::Operand(kind) => Some((&param.ident, kind)),
            ParamKind::Attr(..) => None,
        })
    }

    /// The attributes, with their `#[attr]` and type.
    pub(crate) fn attrs(&self) -> impl Iterator<Item = (&Ident, &Attribute, &Type)> {
        self.params.iter().filter_map(|param| match &param.kind {
            ParamKind::Attr(attr) => Some((&param.ident, &attr.0, &attr.1)),
            ParamKind::Operand(_) => None,
        })
    }

    /// The number of results, where they are a tuple.
    pub(crate) fn tuple(&self) -> Option<usize> {
        self.is_tuple.then_some(self.results.len())
    }
}

/// Parses and checks; the error holds every mistake.
pub(crate) fn parse(args: TokenStream, item: TokenStream) -> syn::Result<Rowwise> {
    let mut errors = Errors::default();
    let mut function = signature::function("rowwise", item)?;
    signature::check("rowwise", &function, &mut errors);
    let options = options("rowwise", args, &function, &mut errors);
    for param in &function.sig.generics.params {
        if !matches!(param, GenericParam::Lifetime(_)) {
            errors.push(param, messages::rowwise_generic());
        }
    }
    let mut params = Vec::new();
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(input) = input {
            params.extend(param(input, &mut errors));
        }
    }
    let (results, is_tuple) = results(&function.sig.output, &mut errors);
    let operands = params.iter().filter(|param: &&Param| matches!(param.kind, ParamKind::Operand(_)));
    let operands: Vec<Ident> = operands.map(|param| param.ident.clone()).collect();
    let has_row = params.iter().any(|param| matches!(param.kind, ParamKind::Operand(Kind::Row)));
    if !has_row && errors.is_empty() {
        errors.push(&function.sig.ident, messages::rowwise_no_row());
    }
    let idents: Vec<&Ident> = params.iter().map(|param| &param.ident).collect();
    check_names(&idents, &operands, is_tuple.then_some(results.len()), &mut errors);
    let attrs = params.iter().filter_map(|param: &Param| match &param.kind {
        ParamKind::Attr(attr) => Some((&param.ident, &attr.1)),
        ParamKind::Operand(_) => None,
    });
    captures::check(&function, &mut errors);
    bodies::check(&function.block, &operands, attrs, Form::Rows, &mut errors);
    errors.finish(())?;
    Ok(Rowwise { function, options, params, results, is_tuple })
}

fn param(input: &mut syn::PatType, errors: &mut Errors) -> Option<Param> {
    let helpers: Vec<Attribute> = input.attrs.extract_if(.., |attr| !attrs::is_builtin(attr)).collect();
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")) {
        errors.push(attr, messages::cfg_on_parameter());
    }
    let ident = match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
        pat => {
            errors.push(pat, messages::pattern());
            return None;
        }
    };
    for attr in helpers.iter().filter(|attr| !attr.path().is_ident("attr")) {
        errors.push(attr, messages::rowwise_helper());
    }
    let attr = helpers.into_iter().find(|attr| attr.path().is_ident("attr"));
    let ty = &*input.ty;
    if let Some(lifetime) = attr.as_ref().and_then(|_| types::static_lifetime(ty)) {
        errors.push(lifetime, messages::static_lifetime());
        return None;
    }
    let text = types::text(ty);
    let kind = match (attr, Kind::of(ty)) {
        (Some(_), Some(_)) => {
            errors.push(ty, messages::rowwise_attr(text));
            return None;
        }
        (Some(attr), None) => ParamKind::Attr(Box::new((attr, ty.clone()))),
        (None, Some(kind)) if is_plain(ty, errors) => ParamKind::Operand(kind),
        (None, Some(_)) => return None,
        (None, None) => {
            let message = match types::known(types::arity(ty).1) {
                Some(Known::Buffer(..)) => messages::rowwise_array(text),
                Some(Known::Context) => messages::rowwise_context(text),
                None => messages::rowwise_value(text),
            };
            errors.push(ty, message);
            return None;
        }
    };
    Some(Param { ident, kind })
}

/// Whether a row or a number of rows has no element type; reports the mistake.
fn is_plain(ty: &Type, errors: &mut Errors) -> bool {
    let segment = types::last_segment(ty);
    let typed = segment.filter(|segment| !segment.arguments.is_none());
    if let Some(segment) = typed {
        errors.push(ty, messages::rowwise_typed(types::text(ty), &segment.ident));
    }
    typed.is_none()
}

/// The results, and whether they are a tuple.
fn results(output: &ReturnType, errors: &mut Errors) -> (Vec<Kind>, bool) {
    let ty = match output {
        ReturnType::Type(_, ty) => types::bare(ty),
        ReturnType::Default => {
            errors.push(output, messages::rowwise_returns_nothing());
            return (Vec::new(), false);
        }
    };
    let (list, is_tuple): (Vec<&Type>, bool) = match ty {
        Type::Tuple(tuple) => (tuple.elems.iter().collect(), true),
        ty => (vec![ty], false),
    };
    let kinds: Option<Vec<Kind>> = list.iter().map(|ty| Kind::of(ty)).collect();
    match kinds.filter(|kinds| !kinds.is_empty()) {
        Some(kinds) => {
            // Every one is looked at, so that every mistake is reported.
            let plain = list.iter().filter(|ty| is_plain(ty, errors)).count();
            if plain == list.len() { (kinds, is_tuple) } else { (Vec::new(), is_tuple) }
        }
        None => {
            errors.push(ty, messages::rowwise_returns(types::text(ty)));
            (Vec::new(), is_tuple)
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::errors::messages_of;

    fn errors(args: TokenStream, item: TokenStream) -> Vec<String> {
        messages_of(parse(args, item))
    }

    #[test]
    fn signatures_are_read() {
        let found = parse(
            quote!(derivatives = 1, name = "scaled"),
            quote! {
                fn f(x: Row, #[attr(default = 1.0)] eps: f64, t: oxcall::rowwise::PerRow) -> (Row, PerRow) { (x, t) }
            },
        )
        .map_err(|error| error.to_string())
        .unwrap();
        let operands: Vec<_> = found.operands().map(|(ident, kind)| (ident.to_string(), kind)).collect();
        assert_eq!(operands, [("x".to_owned(), Kind::Row), ("t".to_owned(), Kind::PerRow)]);
        assert_eq!(
            (found.tuple(), found.options.derivatives, found.options.name.value()),
            (Some(2), 1, "scaled".to_owned())
        );
        assert_eq!((found.results, found.params.len()), (vec![Kind::Row, Kind::PerRow], 3));
    }

    #[test]
    fn every_mistake_is_reported() {
        let found = errors(
            quote!(derivative = 1),
            quote! {
                fn f<T: Real>(x: Array<f32>, beta: f64, pool: ThreadPool, #[attr] a: Row, y: Row, z: Row<T>) -> f32 {
                    for value in y {}
                    if y.max() > 0.0 { y[0] } else { y.iter() }
                }
            },
        );
        let parts = [
            "did you mean `derivatives`",
            "not generic",
            "`Array<f32>`",
            "`f64`",
            "`ThreadPool`",
            "`Row` is a part",
            "`Row<T>`",
            "`f32`",
            "single elements",
            "`if`",
        ];
        assert_eq!(found.len(), parts.len(), "{found:#?}");
        for (error, part) in found.iter().zip(parts) {
            assert!(error.contains(part), "{error}: {part}");
        }
    }

    #[test]
    fn a_function_needs_rows_and_a_result() {
        let no_row = errors(
            quote!(),
            quote!(
                fn f(x: PerRow) -> PerRow {
                    x
                }
            ),
        );
        assert!(no_row[0].contains("operand of rows"), "{no_row:?}");
        let nothing = errors(
            quote!(),
            quote!(
                fn f(x: Row) {}
            ),
        );
        assert!(nothing[0].contains("returns nothing"), "{nothing:?}");
        let elements = errors(
            quote!(),
            quote!(
                fn f(x: Row) -> Row {
                    x.map(|x| x[0])
                }
            ),
        );
        assert_eq!(elements.len(), 1, "{elements:?}");
    }
}
