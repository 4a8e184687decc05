//! `#[pointwise]`: from tokens to a checked [`Pointwise`].

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit_mut::{VisitMut, visit_expr_mut};
use syn::{
    Attribute, BinOp, Block, Expr, FnArg, GenericParam, ItemFn, LitInt, LitStr, Pat, Path, ReturnType, Type,
    parse_quote,
};

use crate::errors::Errors;
use crate::suggest::{did_you_mean, nearest};
use crate::types::{self, Known};
use crate::{attrs, entries, messages, names, signature};

/// How often a function can be differentiated at the most: a tangent has two names, `tx` and `t_x`.
const MOST_DERIVATIVES: u32 = 2;

/// The options.
const OPTIONS: &[&str] = &["name", "derivatives", "crate"];

/// A checked function of single elements.
pub(crate) struct Pointwise {
    /// The function, without helper attributes.
    pub(crate) function: ItemFn,
    /// The name of the operation.
    pub(crate) name: LitStr,
    /// How often it can be differentiated.
    pub(crate) derivatives: u32,
    /// Where the support code is.
    pub(crate) krate: Path,
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
    branches(&mut function.block.clone(), &operands, Form::Elements, &mut errors);
    errors.finish(())?;
    let (name, derivatives, krate) = options;
    Ok(Pointwise { function, name, derivatives, krate, real, of_rings, params, tuple })
}

/// The name, how often it can be differentiated, and where the support code is, of an item under the macro `item`.
pub(crate) fn options(item: &str, args: TokenStream, function: &ItemFn, errors: &mut Errors) -> (LitStr, u32, Path) {
    let ident = function.sig.ident.unraw();
    let mut options = (LitStr::new(&ident.to_string(), ident.span()), 2, parse_quote!(::oxcall));
    entries::parse(args, &format!("an option of `#[{item}]`"), errors, |key, input, errors| {
        match key.to_string().as_str() {
            "name" => {
                let name = entries::string(key, input)?;
                options.0 = errors.ok(names::checked("target", name)).unwrap_or_else(|| options.0.clone());
            }
            "derivatives" => {
                let wants = || messages::pointwise_derivatives(MOST_DERIVATIVES);
                entries::equals(key, input, wants())?;
                let number: LitInt = input.parse().map_err(|error| syn::Error::new(error.span(), wants()))?;
                let found = number.base10_parse::<u32>().ok().filter(|number| *number <= MOST_DERIVATIVES);
                options.1 = found.ok_or_else(|| syn::Error::new_spanned(&number, wants()))?;
            }
            "crate" => options.2 = entries::path(key, input)?,
            written => {
                let meant = did_you_mean(nearest(written, OPTIONS.iter().copied()));
                return Err(syn::Error::new_spanned(
                    key,
                    messages::pointwise_option(written, item, meant, OPTIONS.join("`, `")),
                ));
            }
        }
        Ok(())
    });
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

/// What a function's operands are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Single elements.
    Elements,
    /// Rows, and numbers of rows.
    Rows,
}

/// Refuses branches, comparisons and loops that name an operand, which the compiler would refuse without saying what to
/// write.
pub(crate) fn branches(block: &mut Block, operands: &[Ident], form: Form, errors: &mut Errors) {
    struct Branches<'a> {
        operands: &'a [Ident],
        form: Form,
        errors: &'a mut Errors,
    }
    impl Branches<'_> {
        /// The operand that a condition names.
        fn named(&self, condition: &Expr) -> Option<&Ident> {
            fn find(tokens: TokenStream, operand: &Ident) -> bool {
                tokens.into_iter().any(|token| match token {
                    proc_macro2::TokenTree::Ident(found) => found == *operand,
                    proc_macro2::TokenTree::Group(group) => find(group.stream(), operand),
                    _ => false,
                })
            }
            self.operands.iter().find(|operand| find(condition.to_token_stream(), operand))
        }

        fn branch(&mut self, keyword: &str, condition: &Expr) -> bool {
            let Some(name) = self.named(condition) else { return false };
            let message = match self.form {
                Form::Elements => messages::pointwise_branch(keyword, name),
                Form::Rows => messages::rowwise_branch(keyword, name),
            };
            self.errors.push(condition, message);
            true
        }

        /// Refuses a use of an operand as a collection: of a row's single elements, or of an element's neighbours.
        fn elements(&mut self, of: &Expr, whole: &Expr) -> bool {
            let Expr::Path(path) = of else { return false };
            let Some(name) = self.operands.iter().find(|name| path.path.is_ident(*name)) else { return false };
            let message = match self.form {
                Form::Elements => messages::pointwise_elements(name),
                Form::Rows => messages::rowwise_elements(name),
            };
            self.errors.push(whole, message);
            true
        }
    }
    impl VisitMut for Branches<'_> {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            let is_refused = match expr {
                Expr::If(expr) => self.branch("if", &expr.cond),
                Expr::While(expr) => self.branch("while", &expr.cond),
                Expr::Match(expr) => self.branch("match", &expr.expr),
                Expr::ForLoop(expr) => self.elements(&expr.expr, &expr.expr),
                Expr::Index(index) => self.elements(&index.expr, &Expr::Index(index.clone())),
                Expr::MethodCall(call) if ITERATIONS.iter().any(|name| call.method == name) => {
                    self.elements(&call.receiver, &Expr::MethodCall(call.clone()))
                }
                Expr::Binary(binary) => {
                    let method = comparison(&binary.op);
                    let sides: [&Expr; 2] = [&binary.left, &binary.right];
                    let is_operand = |side: &&Expr| match side {
                        Expr::Path(path) => self.operands.iter().any(|name| path.path.is_ident(name)),
                        _ => false,
                    };
                    let refused = method.filter(|_| sides.iter().any(is_operand));
                    if let Some(method) = refused {
                        let [left, right] = sides.map(types::text);
                        self.errors.push(&*binary, messages::pointwise_comparison(left, method, right));
                    }
                    refused.is_some()
                }
                _ => false,
            };
            if !is_refused {
                visit_expr_mut(self, expr);
            }
        }
    }
    Branches { operands, form, errors }.visit_block_mut(block);
}

/// Methods by which one would go through the elements of a collection.
const ITERATIONS: &[&str] = &["iter", "into_iter", "map", "fold", "windows", "chunks", "get"];

/// The method that compares elements as an operator does.
fn comparison(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Lt(_) => "less",
        BinOp::Le(_) => "less_equal",
        BinOp::Gt(_) => "greater",
        BinOp::Ge(_) => "greater_equal",
        BinOp::Eq(_) => "equal",
        BinOp::Ne(_) => "equal",
        _ => return None,
    })
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
        assert_eq!((found.tuple, found.derivatives, found.name.value()), (Some(2), 1, "turn".to_owned()));
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
