//! The expansion of `#[stage]`.

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;

use super::descriptor::stage_ident;
use super::{attrs, cfgs, context_param, marker, panic_abort, private};
use crate::model::{ParamKind, Stage, StageFn};

/// The name of a stage's entry function, inside an operation's constant.
pub(super) fn entry_ident(stage: Stage) -> Ident {
    format_ident!("__{}", format!("{stage:?}").to_lowercase())
}

/// The user's function, a type of the same name, and what an operation needs to run it.
pub(crate) fn stage(stage: &StageFn) -> TokenStream {
    let private = private(&stage.krate);
    let function = &stage.function;
    let name = &function.sig.ident;
    let marker = marker(function, "The stage that the function of this name defines.");
    let cfgs = cfgs(function);
    let variant = stage_ident(stage.stage);
    let descriptors = attrs::descriptors(&private, &stage.params, &[]);
    let extra = stage.params.iter().any(|param| matches!(param.kind, ParamKind::AttrRest));
    let state = &stage.state;
    let positions = attrs::positions(&private, &stage.params, &tokens!(handler.attrs));
    let handler = tokens!(handler);
    let mut index = 0;
    let values = stage.params.iter().map(|param| {
        let ident = &param.ident;
        match &param.kind {
            ParamKind::Attr(attr) => {
                let value = attrs::value(&private, attr, index, &handler, &tokens!(positions));
                index += 1;
                Some(tokens!(let #ident = #value;))
            }
            ParamKind::AttrRest => Some(tokens!(let #ident = #private::rest(frame, handler)?;)),
            _ => context_param(&private, param, &handler, |stage, ty| {
                let variant = stage_ident(stage);
                tokens!(state_of::<#ty, {#private::Stage::#variant as u8}>)
            }),
        }
    });
    let values: Vec<_> = values.collect();
    let idents = stage.params.iter().map(|param| &param.ident);
    let called = tokens!(function(#(#idents),*));
    let result = if stage.fallible {
        tokens!(#called.map_err(::core::convert::Into::into))
    } else {
        tokens!(::core::result::Result::Ok(#called))
    };
    let panic_abort = panic_abort();
    tokens! {
        #function

        #marker

        #(#cfgs)*
        const _: () = {
            #panic_abort

            impl #private::StageFn for #name {
                const STAGE: #private::Stage = #private::Stage::#variant;
                const ATTRS: &'static [#private::AttrParam] = &[#(#descriptors),*];
                const EXTRA_ATTRS: bool = #extra;
                type State = #state;

                fn host_type() -> &'static #private::HostType {
                    static TYPE: #private::HostType = #private::HostType::private::<#state>();
                    &TYPE
                }

                #[allow(unused_variables)]
                fn run(
                    frame: &#private::Frame<'_>,
                    handler: &'static #private::Handler,
                ) -> #private::Result<#state> {
                    // Named before the parameters, one of which may be called like the function.
                    let function = #name;
                    let positions = #positions;
                    let attrs = frame.sorted_attributes(handler)?;
                    #(#values)*
                    #result
                }
            }
        };
    }
}
