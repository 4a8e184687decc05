//! The expansion of `#[pointwise]`: the function as it is, and for it and each of its derivatives an operation, written
//! as a `#[custom_call]`, with an instantiate stage that records it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, Lifetime, Type};

use super::derivatives::{self, Buffer, Declaration, Node, Of, Source};
use super::recorded::{self, Kernels, Operation};
use super::{at, cfgs, marker, private, written};
use crate::model::Recorded;
use crate::pointwise::{Options, Param, ParamKind, Pointwise, result_name};
use crate::types;

/// The expansion.
pub(crate) fn pointwise(pointwise: &Pointwise) -> TokenStream {
    let private = private(&pointwise.options.krate);
    let function = &pointwise.function;
    let ident = &function.sig.ident;
    let marker = marker(function, "The operation that the function of this name defines.");
    let cfgs = cfgs(function);
    let nodes = nodes(pointwise);
    let maps = nodes.iter().map(|node| map(pointwise, &private, &nodes, node));
    let written = written::maps(pointwise, &private, &nodes);
    let plans = nodes.iter().map(|node| plan(pointwise, &private, &nodes, node));
    let ops = nodes.iter().map(|node| op(pointwise, &private, &nodes, node));
    // Kernels for GPUs compute floats alone.
    let on_cuda = nodes.iter().filter(|_| !pointwise.of_rings);
    let on_cuda = on_cuda.map(|node| cuda_op(pointwise, &private, &nodes, node));
    let root = source(pointwise).op(&nodes[0]);
    tokens! {
        #function

        #marker

        #(#cfgs)*
        const _: () = {
            #(#maps)*
            #written
            #(#plans)*
            #(#ops)*
            #private::if_cuda! { #(#on_cuda)* }

            impl #private::Op for #ident {
                const NAME: &'static str = <#root as #private::Op>::NAME;
                const HANDLER: &'static #private::Handler = <#root as #private::Op>::HANDLER;
            }
        };
    }
}

/// The function and its derivatives.
fn nodes(pointwise: &Pointwise) -> Vec<Node> {
    let buffer = |name| Buffer { name, is_row: false };
    let inputs = pointwise.operands().map(|name| buffer(name.unraw().to_string())).collect();
    let results = 0..pointwise.tuple.unwrap_or(1);
    let outputs = results.map(|index| buffer(result_name(index, pointwise.tuple))).collect();
    derivatives::nodes(inputs, outputs, pointwise.params.iter().filter_map(attr_name), pointwise.options.derivatives)
}

/// The type of a node's function as a value.
pub(super) fn map_ident(node: &Node) -> Ident {
    format_ident!("__Map{}", node.suffix)
}

fn attr_name(param: &Param) -> Option<String> {
    matches!(param.kind, ParamKind::Attr(..)).then(|| param.ident.unraw().to_string())
}

pub(super) fn attrs(pointwise: &Pointwise) -> impl Iterator<Item = (&Ident, &Attribute, &Type)> {
    pointwise.params.iter().filter_map(|param| match &param.kind {
        ParamKind::Attr(attribute) => Some((&param.ident, &attribute.0, &attribute.1)),
        ParamKind::Operand => None,
    })
}

/// The attributes of a node, as parameters of a stage.
fn all_attributes(pointwise: &Pointwise, nodes: &[Node], node: &Node) -> Vec<TokenStream> {
    let own = attrs(pointwise).map(|(ident, attr, ty)| recorded::attribute(attr, ident, ty));
    own.chain(node.active_attributes(nodes, &pointwise.function)).collect()
}

pub(super) fn variables(prefix: &str, count: usize) -> Vec<Ident> {
    (0..count).map(|index| Ident::new(&format!("{prefix}{index}"), Span::mixed_site())).collect()
}

/// The lifetime of what attributes borrow.
fn attrs_lifetime() -> Lifetime {
    Lifetime::new("'attrs", Span::mixed_site())
}

/// The lifetimes that functions as values have.
pub(super) fn lifetimes(pointwise: &Pointwise) -> Option<TokenStream> {
    let lifetime = attrs_lifetime();
    pointwise.params.iter().any(|param| param.borrowed().is_some()).then(|| tokens!(<#lifetime>))
}

/// The traits of functions as values, and of their numbers.
pub(super) fn traits(pointwise: &Pointwise, private: &TokenStream) -> [TokenStream; 2] {
    let names = if pointwise.of_rings { ["RingMap", "Ring"] } else { ["Map", "Real"] };
    names.map(|name| {
        let name = Ident::new(name, Span::call_site());
        tokens!(#private::pointwise::#name)
    })
}

/// The type of a node's function as a value, with the attributes as its fields.
fn map(pointwise: &Pointwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let name = &map_ident(node);
    let (taken, given) = (node.inputs.len(), node.outputs.len());
    let inputs = variables("x", taken);
    let lifetimes = lifetimes(pointwise);
    let [of_maps, of_numbers] = traits(pointwise, private);
    let (fields, body) = match node.of {
        Of::Function => {
            let function = &pointwise.function.sig.ident;
            let lifetime = attrs_lifetime();
            let fields = attrs(pointwise).map(|(_, _, ty)| types::borrowed_for(ty, &lifetime).unwrap_or(ty.clone()));
            let fields: Vec<_> = fields.map(|ty| tokens!(#ty)).collect();
            let values = variables("attr", fields.len());
            let (mut operands, mut attributes) = (inputs.iter(), values.iter());
            let arguments = pointwise.params.iter().map(|param| match param.kind {
                ParamKind::Operand => operands.next(),
                ParamKind::Attr(..) => attributes.next(),
            });
            let results = variables("y", given);
            let pattern = match pointwise.tuple {
                Some(_) => tokens!((#(#results,)*)),
                None => tokens!(#(#results)*),
            };
            let body = tokens! {
                let #name(#(#values),*) = self;
                let #pattern = #function(#(#arguments),*);
                [#(#results),*]
            };
            (tokens!(#(#fields),*), body)
        }
        Of::Jvp(of) | Of::Vjp(of) => {
            let inner = &nodes[of];
            let map = map_ident(inner);
            let (primals, moved) = inputs.split_at(inner.inputs.len());
            let (primals, moved) = (tokens!([#(#primals),*]), tokens!([#(#moved),*]));
            let is_vjp = matches!(node.of, Of::Vjp(_));
            let body =
                if of == 0 { written::body(pointwise, private, &of_maps, is_vjp, &primals, &moved) } else { None };
            let body = body.unwrap_or_else(|| {
                let rule = if is_vjp { tokens!(vjp) } else { tokens!(jvp) };
                let function = tokens!(|numbers| #of_maps::call(self.0, numbers));
                tokens!(#private::pointwise::#rule(#function, #primals, #moved, self.1))
            });
            (tokens!(#map #lifetimes, #private::pointwise::Active), body)
        }
    };
    tokens! {
        #[derive(::core::clone::Clone, ::core::marker::Copy)]
        #[allow(non_camel_case_types)]
        struct #name #lifetimes(#fields);

        impl #lifetimes #of_maps<#taken, #given> for #name #lifetimes {
            fn call<T: #of_numbers>(self, [#(#inputs),*]: [T; #taken]) -> [T; #given] {
                #body
            }
        }
    }
}

/// A node's function as a value, made of the attributes.
fn map_value(pointwise: &Pointwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let root = map_ident(&nodes[0]);
    let attr_idents = attrs(pointwise).map(|(ident, ..)| ident);
    node.chain(nodes)[1..].iter().fold(tokens!(#root(#(#attr_idents),*)), |map, outer| {
        let (name, active) = (map_ident(outer), outer.active(&pointwise.function));
        tokens!(#name(#map, #private::pointwise::Active(#active)))
    })
}

/// The stage that records a node, which has the attributes.
fn plan(pointwise: &Pointwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let attributes = all_attributes(pointwise, nodes, node);
    let ty = plan_type(pointwise, private, node);
    let plan = match node.of {
        Of::Vjp(of) if of > 0 || pointwise.options.vjp.is_none() => {
            let function = map_value(pointwise, private, nodes, &nodes[of]);
            let active = node.active(&pointwise.function);
            let (vjp, jvp) = (map_ident(node), nodes[of].rules.map(|[jvp, _]| map_ident(&nodes[jvp])));
            // Attributes are used once: what does not implement `Copy` is told by the derive of the function.
            tokens!({
                let function = #function;
                let active = #private::pointwise::Active(#active);
                let jvp = #jvp(function, #private::pointwise::Active::ALL);
                <#ty>::of_gradient(#vjp(function, active), jvp, active)
            })
        }
        Of::Function | Of::Jvp(_) | Of::Vjp(_) => {
            let map = map_value(pointwise, private, nodes, node);
            tokens!(<#ty>::new(#map))
        }
    };
    recorded::plan(&source(pointwise), node, &attributes, &ty, &plan)
}

/// The type of a node's plan.
fn plan_type(pointwise: &Pointwise, private: &TokenStream, node: &Node) -> TokenStream {
    let (elements, map) = (tokens!(#private::rowwise::elements), map_ident(node));
    if pointwise.of_rings { tokens!(#elements::numbers::Plan<#map>) } else { tokens!(#elements::Plan) }
}

/// The function as the source of its operations.
fn source(pointwise: &Pointwise) -> Source<'_> {
    Source {
        function: &pointwise.function,
        name: &pointwise.options.name,
        krate: &pointwise.options.krate,
        element: &pointwise.real,
        elements: if pointwise.of_rings {
            [tokens!(numbers), tokens!([floats, complex])]
        } else {
            [tokens!(floats), tokens!(floats)]
        },
        operands: pointwise.operands().collect(),
        attrs: attrs(pointwise).map(|(ident, ..)| ident).collect(),
    }
}

/// What the operations of a node have in common.
fn operation(source: &Source<'_>, nodes: &[Node], node: &Node) -> Operation {
    let Declaration { docs, args, batch, inputs, outputs } =
        source.declaration(nodes, node, &["shape", "dims", "shape_of_all"]);
    let dims = |arrays: &[Ident]| arrays.iter().map(|_| tokens!(..#batch)).collect();
    Operation {
        docs,
        args,
        input_dims: dims(&inputs),
        output_dims: dims(&outputs),
        inputs,
        outputs,
        has_one_shape: true,
    }
}

/// The operation of a node for CUDA.
fn cuda_op(pointwise: &Pointwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let source = source(pointwise);
    let kernels = Kernels {
        module: tokens!(#private::cuda::pointwise),
        attributes: all_attributes(pointwise, nodes, node),
        function: map_value(pointwise, private, nodes, node),
        sizes: TokenStream::new(),
    };
    operation(&source, nodes, node).on_cuda(&source, private, node, &kernels)
}

/// The operation of a node.
fn op(pointwise: &Pointwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let (source, Pointwise { options: Options { krate, .. }, real, .. }) = (source(pointwise), pointwise);
    let operation = operation(&source, nodes, node);
    let Operation { docs, inputs, outputs, input_dims, output_dims, .. } = &operation;
    let (ident, plan) = (source.op(node), source.plan(node));
    let (first, ty) = (&outputs[0], plan_type(pointwise, private, node));
    let elements = tokens!(#private::rowwise::elements);
    let [bound, run] = if pointwise.of_rings {
        [tokens!(#elements::numbers::Number), tokens!(#elements::numbers::Number::compute)]
    } else {
        [tokens!(#private::rowwise::Element), tokens!(#elements::run)]
    };
    let span = at(&pointwise.function.sig.ident);
    let item = quote_spanned! {span=>
        #(#docs)*
        #[allow(non_snake_case)]
        fn #ident<#real: #bound>(
            #[state] plan: &#ty,
            #(#[dims(#input_dims)] #inputs: #krate::buffer::Array<'_, #real>,)*
            #(#[dims(#output_dims)] mut #outputs: #krate::buffer::Out<'_, #real>,)*
            pool: #krate::context::ThreadPool<'_>,
        ) {
            let shape = #first.shape();
            let operands = [#(#elements::Operand::new(&#inputs, #inputs.shape(), shape)),*];
            #run(plan, operands, [#(&mut #outputs),*], pool);
        }
    };
    operation.expand(&tokens!(instantiate = #plan), item, Recorded::Pointwise)
}
