//! Operations whose function is recorded: what those of pointwise functions and of functions of rows have in common.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Attribute, Lifetime, Type};

use super::derivatives::{Node, Source};
use super::{at, custom_call, stage};
use crate::model::Recorded;
use crate::types;

/// What the operations of a node have in common.
pub(super) struct Operation {
    pub(super) docs: Vec<Attribute>,
    /// The arguments of `#[custom_call]`.
    pub(super) args: TokenStream,
    pub(super) inputs: Vec<Ident>,
    pub(super) outputs: Vec<Ident>,
    pub(super) input_dims: Vec<TokenStream>,
    pub(super) output_dims: Vec<TokenStream>,
    /// Whether there is one shape to which all operands can be broadcast.
    pub(super) has_one_shape: bool,
}

/// The kernels of a node for CUDA.
pub(super) struct Kernels {
    /// The module of their support code.
    pub(super) module: TokenStream,
    /// The attributes, as parameters of a stage, and what `Kernels::new` takes, made of them.
    pub(super) attributes: Vec<TokenStream>,
    pub(super) function: TokenStream,
    /// What `Kernels::run` takes after the arrays.
    pub(super) sizes: TokenStream,
}

/// An attribute as a parameter of a stage, which has no lifetimes of its own.
pub(super) fn attribute(attr: &Attribute, ident: &Ident, ty: &Type) -> TokenStream {
    let any = Lifetime::new("'_", ident.span());
    let ty = types::borrowed_for(ty, &any).unwrap_or_else(|| ty.clone());
    tokens!(#attr #ident: #ty)
}

/// The stage that makes a node's plan, of type `ty`, of the attributes.
pub(super) fn plan(
    source: &Source<'_>,
    node: &Node,
    attributes: &[TokenStream],
    ty: &TokenStream,
    plan: &TokenStream,
) -> TokenStream {
    let (ident, krate) = (source.plan(node), source.krate);
    let item = tokens! {
        fn #ident(#(#attributes),*) -> #ty {
            #plan
        }
    };
    match crate::stage::parse(tokens!(instantiate, crate = #krate), item) {
        Ok(item) => stage(&item),
        Err(error) => error.into_compile_error(),
    }
}

impl Operation {
    /// An operation with more arguments of `#[custom_call]`, by the expansion of that.
    pub(super) fn expand(&self, more: &TokenStream, item: TokenStream, recorded: Recorded) -> TokenStream {
        let args = &self.args;
        match crate::custom_call::parse(tokens!(#args, #more), item) {
            Ok(mut call) => {
                call.options.broadcast = self.has_one_shape;
                call.options.recorded = recorded;
                custom_call(&call)
            }
            Err(error) => error.into_compile_error(),
        }
    }

    /// The operation for CUDA: the function's recording is compiled by the instantiate and initialize stages.
    pub(super) fn on_cuda(
        &self,
        source: &Source<'_>,
        private: &TokenStream,
        node: &Node,
        kernels: &Kernels,
    ) -> TokenStream {
        let Operation { docs, inputs, outputs, input_dims, output_dims, .. } = self;
        let Kernels { module, attributes, function, sizes } = kernels;
        let (krate, element, on_host) = (source.krate, source.element, source.op(node));
        let [ident, make, load] = ["cuda", "make", "load"].map(|part| format_ident!("{on_host}_{part}"));
        let kernels = tokens!(#module::Kernels);
        let input_names = node.inputs.iter().map(|buffer| &buffer.name);
        let output_names = node.outputs.iter().map(|buffer| &buffer.name);
        let item = quote_spanned! {at(&source.function.sig.ident)=>
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
                    [#(#module::operand(#input_names, &#inputs)),*],
                    [#(#module::result(#output_names, &mut #outputs)),*],
                    #sizes
                )
            }
        };
        let more = tokens!(platform = "CUDA", command_buffer, instantiate = #make, initialize = #load);
        let operation = self.expand(&more, item, Recorded::Never);
        tokens! {
            #[#krate::stage(instantiate, crate = #krate)]
            #[allow(non_snake_case)]
            fn #make(#(#attributes),*) -> #private::Result<#kernels> {
                #kernels::new(#function)
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
}
