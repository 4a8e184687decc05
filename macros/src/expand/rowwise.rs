//! The expansion of `#[rowwise]`: the function as it is, and for it and each of its derivatives an operation, written
//! as a `#[custom_call]`, with an instantiate stage that records and plans it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;

use super::derivatives::{self, Buffer, Node, Of};
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
    let root = op_ident(rowwise, &nodes[0]);
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

fn op_ident(rowwise: &Rowwise, node: &Node) -> Ident {
    format_ident!("__op_{}{}", rowwise.function.sig.ident.unraw(), node.suffix)
}

fn plan_ident(rowwise: &Rowwise, node: &Node) -> Ident {
    format_ident!("__plan_{}{}", rowwise.function.sig.ident.unraw(), node.suffix)
}

/// The stage that plans a node, which has the attributes.
fn plan(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let krate = &rowwise.krate;
    let ident = plan_ident(rowwise, node);
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
    let krate = &rowwise.krate;
    let function = &rowwise.function;
    let ident = op_ident(rowwise, node);
    let plan = plan_ident(rowwise, node);
    let name = format!("{}{}", rowwise.name.value(), node.suffix);
    let docs = node.docs(function, &rowwise.name.value(), nodes);
    let attrs = || rowwise.attrs().map(|(ident, ..)| ident);
    let batch = node.free_name(&["batch", "shape", "dims"], attrs());
    let len = node.free_name(&["n", "len", "row"], attrs());
    let own: Vec<&Ident> = rowwise.operands().map(|(ident, _)| ident).collect();
    let dims = |buffer: &Buffer| if buffer.is_row { tokens!(..#batch, #len) } else { tokens!(..#batch) };
    let inputs: Vec<_> = node.inputs.iter().map(|buffer| buffer.ident(&own, function)).collect();
    let outputs: Vec<_> = node.outputs.iter().map(|buffer| buffer.ident(&own, function)).collect();
    let input_dims = node.inputs.iter().map(dims);
    let output_dims = node.outputs.iter().map(dims);
    let row = node.inputs.iter().position(|buffer| buffer.is_row).map(|index| &inputs[index]);
    let rules = node.rules.map(|[jvp, vjp]| {
        let (jvp, vjp) = (op_ident(rowwise, &nodes[jvp]), op_ident(rowwise, &nodes[vjp]));
        tokens!(, jvp = #jvp, vjp = #vjp)
    });
    let args = tokens!(name = #name, T = floats, batch = #batch, instantiate = #plan, crate = #krate #rules);
    let span = at(&function.sig.ident);
    let item = quote_spanned! {span=>
        #(#docs)*
        #[allow(non_snake_case)]
        fn #ident<T: #private::rowwise::Element>(
            #[state] plan: &#private::rowwise::Plan,
            #(#[dims(#input_dims)] #inputs: #krate::buffer::Array<'_, T>,)*
            #(#[dims(#output_dims)] mut #outputs: #krate::buffer::Out<'_, T>,)*
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
