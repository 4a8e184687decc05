//! `#[pointwise]`: from tokens to a checked [`Pointwise`].

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, GenericParam, ItemFn, LitInt, LitStr, Pat, Path, ReturnType, Type, parse_quote};

use crate::bodies::{self, Form};
use crate::errors::Errors;
use crate::suggest::{did_you_mean, nearest};
use crate::types::{self, Known};
use crate::{attrs, captures, entries, messages, names, signature};

/// How often a function can be differentiated at the most: a tangent has two names, `tx` and `t_x`.
const MOST_DERIVATIVES: u32 = 2;

/// The options, of which functions of rows have the first.
const OPTIONS: &[&str] = &["name", "derivatives", "crate", "vjp", "jvp"];
const OPTIONS_OF_ROWS: usize = 3;

/// The options as given.
pub(crate) struct Options {
    /// The name of the operation.
    pub(crate) name: LitStr,
    /// How often it can be differentiated.
    pub(crate) derivatives: u32,
    /// Where the support code is.
    pub(crate) krate: Path,
    /// Functions that compute its derivatives, which are those of dual numbers otherwise.
    pub(crate) vjp: Option<Path>,
    pub(crate) jvp: Option<Path>,
}

/// A checked function of single elements.
pub(crate) struct Pointwise {
    /// The function, without helper attributes.
    pub(crate) function: ItemFn,
    pub(crate) options: Options,
    /// The type of its numbers.
    pub(crate) real: Ident,
    /// Whether they are numbers of all kinds, `Ring`, or real ones.
    pub(crate) of_rings: bool,
    /// The parameters, in their order.
    pub(crate) params: Vec<Param>,
    /// The number of results, unless it returns one number by itself.
    pub(crate) tuple: Option<usize>,
}

/// A parameter.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) kind: ParamKind,
}

impl Param {
    /// The type, if it is an attribute that borrows.
    pub(crate) fn borrowed(&self) -> Option<&Type> {
        let ParamKind::Attr(attr) = &self.kind else { return None };
        types::borrowed_for(&attr.1, &parse_quote!('_)).map(|_| &attr.1)
    }
}

pub(crate) enum ParamKind {
    /// An operand's element.
    Operand,
    /// An attribute, with its `#[attr]` and its type.
    Attr(Box<(Attribute, Type)>),
}

impl Pointwise {
    /// The operands' names.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Ident> {
        self.params.iter().filter(|param| matches!(param.kind, ParamKind::Operand)).map(|param| &param.ident)
    }
}

/// Parses and checks; the error holds every mistake.
pub(crate) fn parse(args: TokenStream, item: TokenStream) -> syn::Result<Pointwise> {
    let mut errors = Errors::default();
    let mut function = signature::function("pointwise", item)?;
    signature::check("pointwise", &function, &mut errors);
    let options = options("pointwise", args, &function, &mut errors);
    let real = real(&function, &mut errors);
    let Some((real, of_rings)) = real else { return Err(errors.finish(()).expect_err("it was refused")) };
    let mut params = Vec::new();
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(input) = input {
            params.extend(param(input, &real, &mut errors));
        }
    }
    let tuple = results(&function.sig.output, &real, &mut errors);
    if of_rings {
        // Integers and complex numbers are computed by the function itself, which the plan of a program keeps.
        for ty in params.iter().filter_map(|param: &Param| param.borrowed()) {
            errors.push(ty, messages::pointwise_borrowed(types::text(ty), &real));
        }
    }
    let operands: Vec<Ident> = params
        .iter()
        .filter(|param: &&Param| matches!(param.kind, ParamKind::Operand))
        .map(|param| param.ident.clone())
        .collect();
    if operands.is_empty() && errors.is_empty() {
        errors.push(&function.sig.ident, messages::pointwise_no_operand(&real));
    }
    let idents: Vec<&Ident> = params.iter().map(|param| &param.ident).collect();
    check_names(&idents, &operands, tuple, &mut errors);
    let attrs = params.iter().filter_map(|param| match &param.kind {
        ParamKind::Attr(attr) => Some((&param.ident, &attr.1)),
        ParamKind::Operand => None,
    });
    captures::check(&function, &mut errors);
    bodies::check(&function.block, &operands, attrs, Form::Elements, &mut errors);
    errors.finish(())?;
    Ok(Pointwise { function, options, real, of_rings, params, tuple })
}

/// The options of an item under the macro `item`.
pub(crate) fn options(item: &str, args: TokenStream, function: &ItemFn, errors: &mut Errors) -> Options {
    let ident = function.sig.ident.unraw();
    let mut options = Options {
        name: LitStr::new(&ident.to_string(), ident.span()),
        derivatives: 2,
        krate: parse_quote!(::oxcall),
        vjp: None,
        jvp: None,
    };
    let known = if item == "rowwise" { &OPTIONS[..OPTIONS_OF_ROWS] } else { OPTIONS };
    entries::parse(args, &format!("an option of `#[{item}]`"), errors, |key, input, errors| {
        match key.to_string().as_str() {
            "name" => {
                let name = entries::string(key, input)?;
                options.name = errors.ok(names::checked("target", name)).unwrap_or_else(|| options.name.clone());
            }
            "derivatives" => {
                let wants = || messages::pointwise_derivatives(MOST_DERIVATIVES);
                entries::equals(key, input, wants())?;
                let number: LitInt = input.parse().map_err(|error| syn::Error::new(error.span(), wants()))?;
                let found = number.base10_parse::<u32>().ok().filter(|number| *number <= MOST_DERIVATIVES);
                options.derivatives = found.ok_or_else(|| syn::Error::new_spanned(&number, wants()))?;
            }
            "crate" => options.krate = entries::path(key, input)?,
            "vjp" if known.contains(&"vjp") => options.vjp = Some(entries::path(key, input)?),
            "jvp" if known.contains(&"jvp") => options.jvp = Some(entries::path(key, input)?),
            written => {
                let meant = did_you_mean(nearest(written, known.iter().copied()));
                return Err(syn::Error::new_spanned(
                    key,
                    messages::pointwise_option(written, item, meant, known.join("`, `")),
                ));
            }
        }
        Ok(())
    });
    if let (0, Some(rule)) = (options.derivatives, options.vjp.as_ref().or(options.jvp.as_ref())) {
        errors.push(rule, messages::pointwise_no_derivatives());
    }
    options
}

/// Refuses parameters with the names of results, of tangents, and of what says which tangents are zeros.
pub(crate) fn check_names(params: &[&Ident], operands: &[Ident], tuple: Option<usize>, errors: &mut Errors) {
    for ident in params.iter().filter(|ident| is_result(&ident.unraw().to_string(), tuple)) {
        errors.push(ident, messages::pointwise_out(ident));
    }
    for param in params.iter().map(|ident| ident.unraw().to_string()) {
        if let Some(of) =
            operands.iter().find(|of| param == format!("t{}", of.unraw()) || param == format!("t_{}", of.unraw()))
        {
            errors.push(of, messages::pointwise_tangent(&param, of));
        }
    }
    for ident in params.iter().filter(|ident| is_active(&ident.unraw().to_string())) {
        errors.push(ident, messages::pointwise_active(ident));
    }
}

/// The name of a result of a function.
pub(crate) fn result_name(index: usize, tuple: Option<usize>) -> String {
    if tuple.is_some() { format!("out{index}") } else { "out".to_owned() }
}

/// Whether a name is that of an attribute of some derivative: `jvp_active`, `vjp_jvp_active`.
fn is_active(name: &str) -> bool {
    name.strip_suffix("_active").is_some_and(|rules| rules.split('_').all(|rule| matches!(rule, "jvp" | "vjp")))
}

fn is_result(name: &str, tuple: Option<usize>) -> bool {
    (0..tuple.unwrap_or(1)).any(|index| result_name(index, tuple) == name)
}

/// The only type parameter, which is bounded by `Real` or `Ring`, and whether it is by `Ring`.
fn real(function: &ItemFn, errors: &mut Errors) -> Option<(Ident, bool)> {
    let generics = &function.sig.generics;
    let mut found = None;
    for param in &generics.params {
        match param {
            GenericParam::Type(param) if found.is_none() => found = Some(param),
            // Of attributes.
            GenericParam::Lifetime(_) => {}
            param => errors.push(param, messages::pointwise_generic()),
        }
    }
    let Some(found) = found else {
        errors.push(&function.sig.ident, messages::pointwise_no_generic());
        return None;
    };
    let in_where = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let bounds = found.bounds.to_token_stream().into_iter().chain(in_where.flat_map(ToTokens::to_token_stream));
    let bounds: Vec<String> = bounds.map(|token| token.to_string()).collect();
    let is_bound = |name: &str| bounds.iter().any(|bound| bound == name);
    if is_bound("Mask") {
        errors.push(found, messages::pointwise_mask(&found.ident));
    }
    if !is_bound("Real") && !is_bound("Ring") {
        errors.push(found, messages::pointwise_bound(&found.ident));
    }
    Some((found.ident.clone(), !is_bound("Real") && is_bound("Ring")))
}

fn param(input: &mut syn::PatType, real: &Ident, errors: &mut Errors) -> Option<Param> {
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
        errors.push(attr, messages::pointwise_helper());
    }
    let attr = helpers.into_iter().find(|attr| attr.path().is_ident("attr"));
    let ty = &*input.ty;
    if let Some(lifetime) = attr.as_ref().and_then(|_| types::static_lifetime(ty)) {
        errors.push(lifetime, messages::static_lifetime());
        return None;
    }
    let is_real = types::variable(ty, std::slice::from_ref(real)).is_some();
    let text = types::text(ty);
    let kind = match attr {
        Some(_) if is_real => {
            errors.push(ty, messages::pointwise_attr(real));
            return None;
        }
        Some(attr) => ParamKind::Attr(Box::new((attr, ty.clone()))),
        None if is_real => ParamKind::Operand,
        None => {
            errors.push(
                ty,
                match types::known(types::arity(ty).1) {
                    Some(Known::Buffer(..)) => messages::pointwise_array(text, real),
                    Some(Known::Context) => messages::pointwise_context(text),
                    None if types::mentions(ty, std::slice::from_ref(real)).is_some() => {
                        messages::pointwise_inside(text, real)
                    }
                    None => messages::pointwise_value(text, real),
                },
            );
            return None;
        }
    };
    Some(Param { ident, kind })
}

/// The number of results, where they are a tuple.
fn results(output: &ReturnType, real: &Ident, errors: &mut Errors) -> Option<usize> {
    let is_real = |ty: &Type| types::variable(ty, std::slice::from_ref(real)).is_some();
    match output {
        ReturnType::Type(_, ty) if is_real(ty) => None,
        ReturnType::Type(_, ty) => match types::bare(ty) {
            Type::Tuple(tuple) if !tuple.elems.is_empty() && tuple.elems.iter().all(is_real) => Some(tuple.elems.len()),
            other => {
                errors.push(other, messages::pointwise_returns(types::text(other), real));
                None
            }
        },
        ReturnType::Default => {
            errors.push(output, messages::pointwise_returns_nothing(real));
            None
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
            quote!(derivatives = 1, name = "turn"),
            quote! {
                fn rotate<T: Real>(x: T, #[attr(default = 1.0)] angle: f64, y: T) -> (T, T) { (x, y) }
            },
        )
        .map_err(|error| error.to_string())
        .unwrap();
        assert_eq!(found.operands().map(ToString::to_string).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(
            (found.tuple, found.options.derivatives, found.options.name.value()),
            (Some(2), 1, "turn".to_owned())
        );
        assert!(
            found
                .function
                .sig
                .inputs
                .iter()
                .all(|input| matches!(input, FnArg::Typed(input) if input.attrs.is_empty()))
        );
    }

    #[test]
    fn every_mistake_is_reported() {
        let found = errors(
            quote!(derivative = 1, derivatives = 9),
            quote! {
                fn f<T: Real>(x: Array<T>, beta: f64, pool: ThreadPool, #[attr] a: T, y: T) -> Out<T> {
                    if y < 0.0 { y } else { -y }
                }
            },
        );
        let parts =
            ["did you mean `derivatives`", "0 to 2", "`Array<T>`", "`f64`", "`ThreadPool`", "`T`", "`Out<T>`", "`if`"];
        assert_eq!(found.len(), parts.len(), "{found:#?}");
        for (error, part) in found.iter().zip(parts) {
            assert!(error.contains(part), "{error}: {part}");
        }
    }

    /// An operand is no array: what would read its neighbours is refused with what to use instead.
    #[test]
    fn neighbours_are_refused() {
        for body in [
            quote!(x[i - 1]),
            quote!(x.get(0)),
            quote!(x.windows(2)),
            quote!({
                for y in x {}
                x
            }),
        ] {
            let found = errors(quote!(), quote!(fn f<T: Real>(x: T, #[attr] i: usize) -> T { #body }));
            assert_eq!(found.len(), 1, "{body}: {found:#?}");
            assert!(found[0].contains("`x` is one element") && found[0].contains("`#[custom_call]`"), "{found:#?}");
        }
        // Arrays of the function's own have elements.
        let own = quote!(
            fn f<T: Real>(x: T) -> T {
                let powers = [x, x * x];
                powers[1]
            }
        );
        assert!(errors(quote!(), own).is_empty());
    }

    /// A branch that is the same for all elements is none that names an operand.
    #[test]
    fn branches_by_attributes_are_allowed() {
        let item = |condition: TokenStream| quote!(fn f<T: Real>(x: T, #[attr] flag: bool) -> T { if #condition { x } else { x * 2.0 } });
        assert!(errors(quote!(), item(quote!(flag))).is_empty());
        assert_eq!(errors(quote!(), item(quote!(x.less(1.0)))).len(), 1);
        assert!(
            errors(
                quote!(),
                quote!(
                    fn f<T: Real>(x: T) -> T {
                        let m = x >= 1.0;
                        x
                    }
                )
            )[0]
            .contains("`x.greater_equal(1.0)`")
        );
    }
}
