//! `#[custom_call]`: from tokens to a checked [`CustomCall`].

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::model::CustomCall;
use crate::{batch, check, generics, messages, options, params, relations, signature};

/// Parses and checks; the error holds every mistake.
pub(crate) fn parse(args: TokenStream, item: TokenStream) -> syn::Result<CustomCall> {
    let mut errors = Errors::default();
    let mut function = signature::function("custom_call", item)?;
    if let Some((key, other)) = options::other_macro(&args) {
        return Err(syn::Error::new(key, messages::other_macro(other)));
    }
    signature::check("custom_call", &function, &mut errors);
    let future = signature::check_output(&function, &mut errors);

    let options::Parsed { options, lists } = options::parse(args, &function, &mut errors);
    let generics = &function.sig.generics;
    generics::check(generics, &lists, &mut errors);
    let type_params = generics::resolve(generics, lists, &options.krate, &mut errors);

    let idents = generics::idents(&function.sig.generics);
    let params = params::parse(&mut function, &idents, &mut errors);
    check::custom_call(&function, &options, &type_params, &params, future, &mut errors);
    if params.whole_dims && params.whole {
        relations::check(&params.list, &options, &mut errors);
        batch::check(&params.list, &options, &mut errors);
    }
    errors.finish(())?;
    relations::allow_unused(&mut function, &params.list);
    Ok(CustomCall { options, function, type_params, params: params.list })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::errors::messages_of;
    use crate::model::{Arity, DimPattern, ParamKind, Presence, Role, Stage};

    fn errors(args: TokenStream, item: TokenStream) -> Vec<String> {
        messages_of(parse(args, item))
    }

    /// Exactly these mistakes, in this order, each known by a part of its text.
    #[track_caller]
    fn mistakes(args: TokenStream, item: TokenStream, parts: &[&str]) {
        let found = errors(args, item);
        assert_eq!(found.len(), parts.len(), "{found:#?}");
        for (found, part) in found.iter().zip(parts) {
            assert!(found.contains(part), "expected {part:?} in {found:?}");
            assert!(found.contains("\n= help: "), "{found:?}");
        }
    }

    #[test]
    fn the_readme_operation() {
        let call = parse(
            quote!(T = floats, vmap = "broadcast_all", vjp = rms_norm_vjp, legacy),
            quote! {
                /// Root-mean-square norm.
                fn rms_norm<T: Float>(
                    #[attr(default = 1e-5)] eps: f32,
                    #[dims(..b, n)] x: Array<T>,
                    #[dims(..b, n)] mut y: Out<T>,
                ) -> Result<()> { Ok(()) }
            },
        )
        .unwrap();
        assert_eq!(call.options.name.value(), "rms_norm");
        assert_eq!(call.options.platform.value(), "Host");
        assert!(call.options.legacy && !call.options.side_effect);
        assert_eq!(call.type_params[0].elements.len(), 4);
        let ParamKind::Attr(eps) = &call.params[0].kind else { panic!() };
        assert_eq!(eps.name, "eps");
        assert!(matches!(eps.presence, Presence::Default(_)));
        let ParamKind::Buffer(y) = &call.params[2].kind else { panic!() };
        assert_eq!((y.role, y.arity, y.var), (Role::Ret, Arity::One, Some(0)));
        assert!(matches!(y.dims.as_deref(), Some([DimPattern::List(_), DimPattern::Dim(_)])));
        let function = &call.function;
        let printed = quote!(#function).to_string();
        assert!(!printed.contains("dims") && !printed.contains("attr") && printed.contains("doc"), "{printed}");
    }

    #[test]
    fn every_kind_of_parameter() {
        let call = parse(
            quote!(T = [f32, f64], U = ints, instantiate = make, prepare = a::b, name = "ns.op@1", side_effect),
            quote! {
                pub fn op<'a, T: Float, U>(
                    stream: Stream, ctx: Context<'_>, #[ctx] own: Extension,
                    #[state] s: &State, #[state(prepare)] p: &a::P,
                    x: Array<'a, T>, idx: &[U], any: AnyArray<'_>, n: Scalar<i32>, tok: Token, v: ArrayView2<f32>,
                    #[arg] custom: Mine<T>, io: InOut<T>,
                    opt: Option<Array<T>>, more: Variadic<'_, Array<T>>,
                    #[attr] k: i64, #[attr(name = "the-k")] k2: i64, #[attr] t: Option<T>, #[attr] s2: &str,
                    #[attr] ws: &[f32], #[attr(rest)] rest: Dict<'_>,
                    y: Out<T>, z: ArrayViewMut2<f32>, w: &mut [U], tout: TokenOut, outs: Variadic<AnyOut>,
                ) where T: Copy { }
            },
        )
        .unwrap();
        assert_eq!(call.params.len(), 26);
        let contexts = call.params.iter().filter(|param| matches!(param.kind, ParamKind::Context)).count();
        assert_eq!(contexts, 3);
        let attrs: Vec<_> = check::attrs(&call.params).map(|(_, attr)| (attr.name.as_str(), attr.var)).collect();
        assert_eq!(attrs, [("k", None), ("the-k", None), ("t", Some(0)), ("s2", None), ("ws", None)]);
        let roles = |role| check::buffers(&call.params).filter(|(_, buffer)| buffer.role == role).count();
        assert_eq!((roles(Role::Arg), roles(Role::Ret), roles(Role::InOut)), (9, 5, 1));
    }

    #[test]
    fn a_state_and_its_stage() {
        let call = parse(
            quote!(instantiate = make, initialize = init),
            quote!(
                fn op(#[state] s: &S, #[state(initialize)] i: &I, mut y: ScalarOut<f32>) {}
            ),
        )
        .unwrap();
        assert!(matches!(&call.params[1].kind, ParamKind::State { stage: Stage::Initialize, .. }));
        assert_eq!(call.options.stages.len(), 2);
    }

    #[test]
    fn all_at_once() {
        mistakes(
            quote!(vmpa = "sequential", vmap = "seq", platform = "cuda", legacy = true),
            quote! {
                async fn op<T>(
                    #[att] eps: f32, x: Arry<f32>, #[dims(n, -1)] y: Out<f32>, _: Array<f32>, #[state] s: S,
                ) -> f32 { 0.0 }
            },
            &[
                "`async fn`",
                "cannot return `f32`",
                "did you mean `vmap`",
                "unknown vmap",
                "`CUDA`",
                "is a flag",
                "element types of `T`",
                "did you mean `attr`",
                "did you mean `Array`",
                "negative",
                "no name",
                "borrowed",
            ],
        );
    }

    #[test]
    fn names_of_dimensions() {
        let y = |dims: TokenStream| {
            quote! {
                fn f(#[dims(..b, n)] x: Array<f32>, #[attr] k: i64, #[dims #dims] y: Out<f32>) {}
            }
        };
        for good in [quote!((..b, n)), quote!((n * k, 4)), quote!((..b)), quote!(())] {
            mistakes(quote!(), y(good), &[]);
        }
        mistakes(quote!(), y(quote!((..b, m))), &["nothing binds `m`"]);
        mistakes(quote!(), y(quote!((..c, n))), &["nothing binds `c`"]);
        mistakes(quote!(), y(quote!((..b, n + m * q))), &["binds `m`", "binds `q`"]);
        mistakes(quote!(), y(quote!((b, n))), &["both one dimension and a list"]);
        mistakes(quote!(), y(quote!((..k))), &["`k` is an attribute"]);
        // The caller gives what a result's pattern leaves open.
        for open in [quote!((..b, _)), quote!((..))] {
            mistakes(quote!(), y(open.clone()), &[]);
            mistakes(quote!(shape = f_shape), y(open), &[]);
        }
    }

    #[test]
    fn lists_of_results_and_optional_arguments() {
        let outer = quote! {
            fn f(#[dims(..a)] x: Array<f32>, #[dims(..b)] z: Array<f32>, #[dims(..a, ..b)] y: Out<f32>) {}
        };
        mistakes(quote!(), outer, &[]);
        let own = quote!(
            fn f(x: Array<f32>, y: Out<f32>, #[dims(n, n * 2)] m: Option<Array<f32>>) {}
        );
        mistakes(quote!(), own, &[]);
        let other = quote!(
            fn f(#[dims(n * 2)] x: Array<f32>, y: Out<f32>, #[dims(n)] m: Option<Array<f32>>) {}
        );
        mistakes(quote!(), other, &["only bound when a call has `m`"]);
    }

    #[test]
    fn orders_of_arity() {
        let good = quote!(
            fn f(mut y: Out<f32>, x: Array<f32>, m: Option<Array<f32>>, z: Variadic<Array<f32>>) {}
        );
        mistakes(quote!(), good, &[]);
        let bad = quote!(
            fn f(x: Array<f32>, m: Option<Array<f32>>, io: InOut<f32>) {}
        );
        mistakes(quote!(), bad, &["optional argument `m`"]);
    }
}
