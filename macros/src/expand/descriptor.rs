//! The static description of an operation.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Expr, ExprLit, ItemFn, Lit, Meta};

use super::buffers::trait_of;
use super::concrete::concrete;
use super::stage::entry_ident;
use super::{at, attrs, private, rules};
use crate::model::{Arity, Buffer, CustomCall, DimExpr, DimOp, DimPattern, Param, ParamKind, Role, Stage};

/// `__ATTR_LIST`, `HANDLER`, and the implementation of `Op`.
pub(super) fn handler(call: &CustomCall) -> TokenStream {
    let private = private(&call.options.krate);
    let options = &call.options;
    let ident = &call.function.sig.ident;
    let (name, platform, doc) = (&options.name, &options.platform, doc(&call.function));
    let own_attrs = attrs::descriptors(&private, &call.params, &call.type_params);
    let stage_paths: Vec<_> = options.stages.iter().map(|(_, path)| path).collect();
    let own_rest = call.params.iter().any(|param| matches!(param.kind, ParamKind::AttrRest));
    let stages = options.stages.iter().map(|(stage, path)| {
        let (variant, entry) = (stage_ident(*stage), entry_ident(*stage));
        tokens! {
            #private::StageHandler {
                stage: #private::Stage::#variant,
                handler: #entry,
                host_type: <#path as #private::StageFn>::host_type,
                state: ::core::any::TypeId::of::<<#path as #private::StageFn>::State>,
            }
        }
    });
    let type_params = call.type_params.iter().map(|param| {
        let (name, elements) = (param.ident.to_string(), &param.elements);
        tokens! {
            #private::TypeParam {
                name: #name,
                dtypes: &[#(<#elements as #private::Element>::DTYPE),*],
            }
        }
    });
    let params = call.params.iter().filter_map(|param| match &param.kind {
        ParamKind::Buffer(buffer) => Some(self::param(&private, call, param, buffer)),
        _ => None,
    });
    let signature = signature(&private, call);
    let shape = match &options.shape {
        Some(path) => tokens!(#private::ShapeRule::Function(#path)),
        None => tokens!(#private::ShapeRule::Dims),
    };
    let traits = rules::traits(&private, options);
    let rule_checks = rules::checks(&private, options);
    let legacy = option(options.legacy.then(|| tokens!(#private::legacy!(#ident))));
    let namespace = option(options.namespace.as_ref().map(|text| tokens!(#text)));
    let schema = option(options.schema.as_ref().map(|text| {
        let span = at(text);
        quote_spanned!(span=> #private::schema!(#text))
    }));
    tokens! {
        const __ATTR_SETS: &[&[#private::AttrParam]] =
            &[&[#(#own_attrs),*], #(<#stage_paths as #private::StageFn>::ATTRS),*];
        const __ATTR_ARRAY: [#private::AttrParam; #private::union_len(__ATTR_SETS)] = #private::union(__ATTR_SETS);
        const __ATTR_LIST: &[#private::AttrParam] = &__ATTR_ARRAY;

        static __HANDLER: #private::Handler = #private::Handler {
            name: #name,
            platform: #platform,
            doc: #doc,
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
            execute: __execute,
            stages: &[#(#stages),*],
            type_params: &[#(#type_params),*],
            params: &[#(#params),*],
            attrs: __ATTR_LIST,
            signature: &[#(#signature),*],
            asynchronous: <#ident as #private::Execute>::OUTLIVES_FRAME,
            extra_attrs: #own_rest #(|| <#stage_paths as #private::StageFn>::EXTRA_ATTRS)*,
            shape: #shape,
            traits: #traits,
            legacy: #legacy,
            namespace: #namespace,
            schema: #schema,
            torch: #private::torch!(#ident, &__HANDLER),
        };

        #rule_checks

        impl #private::Op for #ident {
            const NAME: &'static str = #name;
            const HANDLER: &'static #private::Handler = &__HANDLER;
        }
    }
}

/// Buffers and attributes in the order of the signature.
fn signature(private: &TokenStream, call: &CustomCall) -> Vec<TokenStream> {
    let mut buffers = 0usize..;
    let slots = call.params.iter().filter_map(|param| match &param.kind {
        ParamKind::Buffer(_) => {
            let index = buffers.next();
            Some(tokens!(#private::Slot::Buffer(#index)))
        }
        ParamKind::Attr(attr) => {
            let name = &attr.name;
            Some(tokens!(#private::Slot::Attr(#name)))
        }
        _ => None,
    });
    slots.collect()
}

/// `Some(tokens)` or `None`, as code.
pub(super) fn option(tokens: Option<TokenStream>) -> TokenStream {
    match tokens {
        Some(tokens) => tokens!(::core::option::Option::Some(#tokens)),
        None => tokens!(::core::option::Option::None),
    }
}

pub(super) fn stage_ident(stage: Stage) -> proc_macro2::Ident {
    format_ident!("{stage:?}")
}

pub(super) fn role(private: &TokenStream, role: Role) -> TokenStream {
    let variant = format_ident!("{role:?}");
    tokens!(#private::Role::#variant)
}

fn param(private: &TokenStream, call: &CustomCall, param: &Param, buffer: &Buffer) -> TokenStream {
    let name = param.ident.unraw().to_string();
    let role = role(private, buffer.role);
    let arity = match buffer.arity {
        Arity::One => tokens!(One),
        Arity::Optional => tokens!(Optional),
        Arity::Variadic => tokens!(Variadic),
    };
    let ty = concrete(&buffer.ty, &call.type_params);
    let param_trait = trait_of(buffer.role);
    let spec = tokens!(<#ty as #private::#param_trait<'static>>::SPEC);
    let dtype = match buffer.var {
        Some(var) => tokens!(#private::DTypeRule::Var(#var)),
        None => tokens!(#private::dtype_rule(#spec)),
    };
    let dims = option(buffer.dims.as_ref().map(|dims| {
        let dims = dims.iter().map(|pattern| dim_pattern(private, call, pattern));
        tokens!(&[#(#dims),*])
    }));
    let sum = buffer.sum.is_some();
    tokens! {
        #private::Param {
            name: #name,
            role: #role,
            dtype: #dtype,
            rank: #spec.rank,
            dims: #dims,
            arity: #private::Arity::#arity,
            sum: #sum,
        }
    }
}

fn dim_pattern(private: &TokenStream, call: &CustomCall, pattern: &DimPattern) -> TokenStream {
    match pattern {
        DimPattern::Any => tokens!(#private::DimPattern::Any),
        DimPattern::List(name) => {
            let name = name.to_string();
            tokens!(#private::DimPattern::List(#name))
        }
        DimPattern::Dim(expr) => {
            let expr = dim_expr(private, call, expr);
            tokens!(#private::DimPattern::Dim(#expr))
        }
    }
}

fn dim_expr(private: &TokenStream, call: &CustomCall, expr: &DimExpr) -> TokenStream {
    match expr {
        DimExpr::Wildcard(_) => tokens!(#private::DimExpr::Wildcard),
        DimExpr::Const(value, _) => {
            let value = Literal::i64_suffixed(*value);
            tokens!(#private::DimExpr::Const(#value))
        }
        DimExpr::Name(name) => {
            // A dimension is called as the parameter; hosts call an attribute by its own name.
            let attr = attrs::named(&call.params).find(|(param, _)| param.ident == *name);
            let name = attr.map_or_else(|| name.to_string(), |(_, attr)| attr.name.clone());
            tokens!(#private::DimExpr::Name(#name))
        }
        DimExpr::Binary(op, a, b) => {
            let (op, a, b) = (dim_op(private, *op), dim_expr(private, call, a), dim_expr(private, call, b));
            tokens!(#private::DimExpr::Binary(#op, &#a, &#b))
        }
    }
}

pub(super) fn dim_op(private: &TokenStream, op: DimOp) -> TokenStream {
    let variant = format_ident!("{op:?}");
    tokens!(#private::DimOp::#variant)
}

/// The documentation comment, without the space that follows `///`.
fn doc(function: &ItemFn) -> String {
    let lines = function.attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned()).collect::<Vec<_>>().join("\n")
}
