//! The expansion of `#[rowwise]`: the function as it is, and for it and each of its derivatives an operation, written
//! as a `#[custom_call]`, with an instantiate stage that records and plans it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;

use super::derivatives::{self, Buffer, Declaration, Node, Of, Source};
use super::recorded::{self, Kernels, Operation};
use super::{at, cfgs, marker, private};
use crate::model::Recorded;
use crate::pointwise::result_name;
use crate::rowwise::{Kind, ParamKind, Rowwise};

/// The expansion.
pub(crate) fn rowwise(rowwise: &Rowwise) -> TokenStream {
    let private = private(&rowwise.options.krate);
    let function = &rowwise.function;
    let ident = &function.sig.ident;
    let marker = marker(function, "The operation that the function of this name defines.");
    let cfgs = cfgs(function);
    let nodes = nodes(rowwise);
    let plans = nodes.iter().map(|node| plan(rowwise, &private, &nodes, node));
    let ops = nodes.iter().map(|node| op(rowwise, &private, &nodes, node));
    let on_cuda = nodes.iter().map(|node| cuda_op(rowwise, &private, &nodes, node));
    let root = source(rowwise, &element()).op(&nodes[0]);
    tokens! {
        #function

        #marker

        #(#cfgs)*
        const _: () = {
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
fn nodes(rowwise: &Rowwise) -> Vec<Node> {
    let inputs = rowwise.operands().map(|(ident, kind)| buffer(ident.unraw().to_string(), kind)).collect();
    let outputs = rowwise.results.iter().enumerate();
    let outputs = outputs.map(|(index, kind)| buffer(result_name(index, rowwise.tuple()), *kind)).collect();
    let attrs = rowwise.attrs().map(|(ident, ..)| ident.unraw().to_string());
    derivatives::nodes(inputs, outputs, attrs, rowwise.options.derivatives)
}

fn buffer(name: String, kind: Kind) -> Buffer {
    Buffer { name, is_row: kind == Kind::Row }
}

/// The function as the source of its operations.
fn source<'r>(rowwise: &'r Rowwise, element: &'r Ident) -> Source<'r> {
    Source {
        function: &rowwise.function,
        name: &rowwise.options.name,
        krate: &rowwise.options.krate,
        element,
        elements: [tokens!(floats), tokens!(floats)],
        operands: rowwise.operands().map(|(ident, _)| ident).collect(),
        attrs: rowwise.attrs().map(|(ident, ..)| ident).collect(),
    }
}

/// The type parameter of the operations, which the function does not have.
fn element() -> Ident {
    Ident::new("T", Span::mixed_site())
}

/// The attributes of a node, as parameters of a stage.
fn attributes(rowwise: &Rowwise, nodes: &[Node], node: &Node) -> Vec<TokenStream> {
    let own = rowwise.attrs().map(|(ident, attr, ty)| recorded::attribute(attr, ident, ty));
    own.chain(node.active_attributes(nodes, &rowwise.function)).collect()
}

/// The plan of a node, made of the attributes.
fn plan_value(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let function = &rowwise.function.sig.ident;
    let kinds = rowwise.operands().map(|(_, kind)| match kind {
        Kind::Row => tokens!(#private::rowwise::Kind::Row),
        Kind::PerRow => tokens!(#private::rowwise::Kind::PerRow),
    });
    let mut index = 0usize;
    let arguments: Vec<_> = rowwise
        .params
        .iter()
        .map(|param| match &param.kind {
            ParamKind::Operand(_) => {
                index += 1;
                let index = index - 1;
                tokens!(#private::rowwise::Operand::of(operands[#index]))
            }
            ParamKind::Attr(_) => {
                let ident = &param.ident;
                tokens!(#ident)
            }
        })
        .collect();
    let results: Vec<_> =
        (0..rowwise.results.len()).map(|index| Ident::new(&format!("y{index}"), Span::mixed_site())).collect();
    let pattern = match rowwise.tuple() {
        Some(_) => tokens!((#(#results,)*)),
        None => tokens!(#(#results)*),
    };
    let rules = node.chain(nodes).into_iter().skip(1).map(|node| {
        let rule = if matches!(node.of, Of::Vjp(_)) { tokens!(Vjp) } else { tokens!(Jvp) };
        let active = node.active(&rowwise.function);
        tokens!((#private::rowwise::Rule::#rule, #private::pointwise::Active(#active)))
    });
    tokens! {
        #private::rowwise::Plan::new(
            &[#(#kinds),*],
            |operands| {
                let #pattern = #function(#(#arguments),*);
                #private::Vec::from([#(#private::rowwise::result(#results)),*])
            },
            [#(#rules),*],
        )
    }
}

/// The stage that plans a node, which has the attributes.
fn plan(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let attributes = attributes(rowwise, nodes, node);
    let value = plan_value(rowwise, private, nodes, node);
    recorded::plan(&source(rowwise, &element()), node, &attributes, &tokens!(#private::rowwise::Plan), &value)
}

/// What the operations of a node have in common.
fn operation(source: &Source<'_>, nodes: &[Node], node: &Node) -> Operation {
    let Declaration { docs, args, batch, inputs, outputs } =
        source.declaration(nodes, node, &["batch", "shape", "dims"]);
    let len = source.free_name(node, &["n", "len", "row"]);
    let dims = |buffer: &Buffer| if buffer.is_row { tokens!(..#batch, #len) } else { tokens!(..#batch) };
    Operation {
        docs,
        args,
        inputs,
        outputs,
        input_dims: node.inputs.iter().map(dims).collect(),
        output_dims: node.outputs.iter().map(dims).collect(),
        // Arrays of numbers of rows have fewer dimensions than those of rows.
        has_one_shape: node.inputs.iter().all(|buffer| buffer.is_row),
    }
}

/// The shape of an operand of rows.
fn shape(node: &Node, operation: &Operation) -> TokenStream {
    let row = node.inputs.iter().position(|buffer| buffer.is_row).map(|index| &operation.inputs[index]);
    tokens!(#row.shape())
}

/// The operation of a node.
fn op(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let (element, krate) = (element(), &rowwise.options.krate);
    let source = source(rowwise, &element);
    let (ident, plan) = (source.op(node), source.plan(node));
    let operation = operation(&source, nodes, node);
    let shape = shape(node, &operation);
    let Operation { docs, inputs, outputs, input_dims, output_dims, .. } = &operation;
    let item = quote_spanned! {at(&rowwise.function.sig.ident)=>
        #(#docs)*
        #[allow(non_snake_case)]
        fn #ident<#element: #private::rowwise::Element>(
            #[state] plan: &#private::rowwise::Plan,
            #(#[dims(#input_dims)] #inputs: #krate::buffer::Array<'_, #element>,)*
            #(#[dims(#output_dims)] mut #outputs: #krate::buffer::Out<'_, #element>,)*
            pool: #krate::context::ThreadPool<'_>,
        ) {
            #private::rowwise::run(plan, [#(&#inputs),*], [#(&mut #outputs),*], #shape, pool);
        }
    };
    operation.expand(&tokens!(instantiate = #plan), item, Recorded::Rowwise)
}

/// The operation of a node for CUDA.
fn cuda_op(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let element = element();
    let source = source(rowwise, &element);
    let operation = operation(&source, nodes, node);
    let plan = plan_value(rowwise, private, nodes, node);
    let kernels = Kernels {
        module: tokens!(#private::cuda::rowwise),
        attributes: attributes(rowwise, nodes, node),
        function: tokens!(&#plan),
        sizes: shape(node, &operation),
    };
    operation.on_cuda(&source, private, node, &kernels)
}
