//! The expansion of `#[rowwise]`: the function as it is, and for it and each of its derivatives an operation, written
//! as a `#[custom_call]`, with an instantiate stage that records and plans it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;

use super::derivatives::{self, Buffer, Declaration, Node, Of, Source};
use super::{at, cfgs, custom_call, marker, private, stage};
use crate::model::Recorded;
use crate::pointwise::result_name;
use crate::rowwise::{Kind, ParamKind, Rowwise};

/// The expansion.
pub(crate) fn rowwise(rowwise: &Rowwise) -> TokenStream {
    let private = private(&rowwise.krate);
    let function = &rowwise.function;
    let ident = &function.sig.ident;
    let marker = marker(function, "The operation that the function of this name defines.");
    let cfgs = cfgs(function);
    let nodes = nodes(rowwise);
    let plans = nodes.iter().map(|node| plan(rowwise, &private, &nodes, node));
    let ops = nodes.iter().map(|node| op(rowwise, &private, &nodes, node));
    let root = source(rowwise, &element()).op(&nodes[0]);
    tokens! {
        #function

        #marker

        #(#cfgs)*
        const _: () = {
            #(#plans)*
            #(#ops)*

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
    derivatives::nodes(inputs, outputs, attrs, rowwise.derivatives)
}

fn buffer(name: String, kind: Kind) -> Buffer {
    Buffer { name, is_row: kind == Kind::Row }
}

/// The function as the source of its operations.
fn source<'r>(rowwise: &'r Rowwise, element: &'r Ident) -> Source<'r> {
    Source {
        function: &rowwise.function,
        name: &rowwise.name,
        krate: &rowwise.krate,
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

/// The stage that plans a node, which has the attributes.
fn plan(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let krate = &rowwise.krate;
    let ident = source(rowwise, &element()).plan(node);
    let function = &rowwise.function.sig.ident;
    let attributes = rowwise.attrs().map(|(ident, attr, ty)| tokens!(#attr #ident: #ty));
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
    let rules = node.chain(nodes).into_iter().skip(1).map(|node| match node.of {
        Of::Vjp(_) => tokens!(#private::rowwise::Rule::Vjp),
        _ => tokens!(#private::rowwise::Rule::Jvp),
    });
    // Named before the attributes, one of which may be called like the function.
    let item = tokens! {
        fn #ident(#(#attributes),*) -> #private::rowwise::Plan {
            #private::rowwise::Plan::new(
                &[#(#kinds),*],
                |operands| {
                    let #pattern = #function(#(#arguments),*);
                    #private::Vec::from([#(#private::rowwise::result(#results)),*])
                },
                [#(#rules),*],
            )
        }
    };
    match crate::stage::parse(tokens!(instantiate, crate = #krate), item) {
        Ok(item) => stage(&item),
        Err(error) => error.into_compile_error(),
    }
}

/// The operation of a node, by the expansion of `#[custom_call]`.
fn op(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let (element, Rowwise { krate, function, .. }) = (element(), rowwise);
    let source = source(rowwise, &element);
    let Declaration { docs, args, batch, inputs, outputs } =
        source.declaration(nodes, node, &["batch", "shape", "dims"]);
    let (ident, plan) = (source.op(node), source.plan(node));
    let len = source.free_name(node, &["n", "len", "row"]);
    let dims = |buffer: &Buffer| if buffer.is_row { tokens!(..#batch, #len) } else { tokens!(..#batch) };
    let (input_dims, output_dims) = (node.inputs.iter().map(dims), node.outputs.iter().map(dims));
    let row = node.inputs.iter().position(|buffer| buffer.is_row).map(|index| &inputs[index]);
    let args = tokens!(#args, instantiate = #plan);
    let span = at(&function.sig.ident);
    let item = quote_spanned! {span=>
        #(#docs)*
        #[allow(non_snake_case)]
        fn #ident<#element: #private::rowwise::Element>(
            #[state] plan: &#private::rowwise::Plan,
            #(#[dims(#input_dims)] #inputs: #krate::buffer::Array<'_, #element>,)*
            #(#[dims(#output_dims)] mut #outputs: #krate::buffer::Out<'_, #element>,)*
            pool: #krate::context::ThreadPool<'_>,
        ) {
            #private::rowwise::run(plan, [#(&#inputs),*], [#(&mut #outputs),*], #row.shape(), pool);
        }
    };
    match crate::custom_call::parse(args, item) {
        Ok(mut call) => {
            call.options.recorded = Recorded::Rowwise;
            // Arrays of numbers of rows have fewer dimensions than those of rows, so there is no shape for all.
            call.options.broadcast = node.inputs.iter().all(|buffer| buffer.is_row);
            custom_call(&call)
        }
        Err(error) => error.into_compile_error(),
    }
}
