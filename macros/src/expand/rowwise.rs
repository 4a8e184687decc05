//! The expansion of `#[rowwise]`: the function as it is, and for it and each of its derivatives an operation, written
//! as a `#[custom_call]`, with an instantiate stage that records and plans it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::Attribute;
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

/// The attributes, as parameters of a stage.
fn attributes(rowwise: &Rowwise) -> impl Iterator<Item = TokenStream> {
    rowwise.attrs().map(|(ident, attr, ty)| tokens!(#attr #ident: #ty))
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
    let rules = node.chain(nodes).into_iter().skip(1).map(|node| match node.of {
        Of::Vjp(_) => tokens!(#private::rowwise::Rule::Vjp),
        _ => tokens!(#private::rowwise::Rule::Jvp),
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
    let krate = &rowwise.krate;
    let ident = source(rowwise, &element()).plan(node);
    let attributes = attributes(rowwise);
    let value = plan_value(rowwise, private, nodes, node);
    let item = tokens! {
        fn #ident(#(#attributes),*) -> #private::rowwise::Plan {
            #value
        }
    };
    match crate::stage::parse(tokens!(instantiate, crate = #krate), item) {
        Ok(item) => stage(&item),
        Err(error) => error.into_compile_error(),
    }
}

/// What the operations of a node have in common.
struct Operation {
    docs: Vec<Attribute>,
    /// The arguments of `#[custom_call]`.
    args: TokenStream,
    inputs: Vec<Ident>,
    outputs: Vec<Ident>,
    input_dims: Vec<TokenStream>,
    output_dims: Vec<TokenStream>,
    /// An operand of rows.
    row: Option<Ident>,
}

impl Operation {
    fn new(source: &Source<'_>, nodes: &[Node], node: &Node) -> Operation {
        let Declaration { docs, args, batch, inputs, outputs } =
            source.declaration(nodes, node, &["batch", "shape", "dims"]);
        let len = source.free_name(node, &["n", "len", "row"]);
        let dims = |buffer: &Buffer| if buffer.is_row { tokens!(..#batch, #len) } else { tokens!(..#batch) };
        Operation {
            docs,
            args,
            row: node.inputs.iter().position(|buffer| buffer.is_row).map(|index| inputs[index].clone()),
            inputs,
            outputs,
            input_dims: node.inputs.iter().map(dims).collect(),
            output_dims: node.outputs.iter().map(dims).collect(),
        }
    }
}

/// An operation, by the expansion of `#[custom_call]`.
fn operation(node: &Node, args: TokenStream, item: TokenStream, recorded: Recorded) -> TokenStream {
    match crate::custom_call::parse(args, item) {
        Ok(mut call) => {
            call.options.recorded = recorded;
            // Arrays of numbers of rows have fewer dimensions than those of rows, so there is no shape for all.
            call.options.broadcast = node.inputs.iter().all(|buffer| buffer.is_row);
            custom_call(&call)
        }
        Err(error) => error.into_compile_error(),
    }
}

/// The operation of a node.
fn op(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let (element, krate) = (element(), &rowwise.krate);
    let source = source(rowwise, &element);
    let (ident, plan) = (source.op(node), source.plan(node));
    let Operation { docs, args, inputs, outputs, input_dims, output_dims, row } = Operation::new(&source, nodes, node);
    let item = quote_spanned! {at(&rowwise.function.sig.ident)=>
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
    operation(node, tokens!(#args, instantiate = #plan), item, Recorded::Rowwise)
}

/// The operation of a node for CUDA: the function's recording is compiled by the instantiate and initialize stages.
fn cuda_op(rowwise: &Rowwise, private: &TokenStream, nodes: &[Node], node: &Node) -> TokenStream {
    let (element, krate) = (element(), &rowwise.krate);
    let source = source(rowwise, &element);
    let on_host = source.op(node);
    let Operation { docs, args, inputs, outputs, input_dims, output_dims, row } = Operation::new(&source, nodes, node);
    let [ident, make, load] = ["cuda", "make", "load"].map(|part| format_ident!("{on_host}_{part}"));
    let attributes = attributes(rowwise);
    let plan = plan_value(rowwise, private, nodes, node);
    let kernels = tokens!(#private::cuda::rowwise::Kernels);
    let input_names = node.inputs.iter().map(|buffer| &buffer.name);
    let output_names = node.outputs.iter().map(|buffer| &buffer.name);
    let item = quote_spanned! {at(&rowwise.function.sig.ident)=>
        #(#docs)*
        #[allow(non_snake_case)]
        fn #ident<#element: #private::pointwise::Stored>(
            #[state] kernels: &#kernels,
            #(#[dims(#input_dims)] #inputs: #krate::buffer::DeviceArray<'_, #element>,)*
            #(#[dims(#output_dims)] mut #outputs: #krate::buffer::DeviceOut<'_, #element>,)*
            cuda: #private::cuda::Cuda<'_>,
        ) -> #private::Result<()> {
            kernels.run(
                &cuda,
                [#(#private::cuda::rowwise::operand(#input_names, &#inputs)),*],
                [#(#private::cuda::rowwise::result(#output_names, &mut #outputs)),*],
                #row.shape(),
            )
        }
    };
    let args = tokens!(#args, platform = "CUDA", command_buffer, instantiate = #make, initialize = #load);
    let operation = operation(node, args, item, Recorded::Never);
    tokens! {
        #[#krate::stage(instantiate, crate = #krate)]
        #[allow(non_snake_case)]
        fn #make(#(#attributes),*) -> #private::Result<#kernels> {
            #kernels::new(&#plan)
        }

        #[#krate::stage(initialize, crate = #krate)]
        #[allow(non_snake_case)]
        fn #load(
            #[state] kernels: &#kernels,
            context: #krate::context::Context<'_>,
        ) -> #private::Result<#private::cuda::Loaded> {
            kernels.load_for(&context)
        }

        #operation
    }
}
