//! Buffer parameters.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use super::concrete::{concrete, without_lifetimes};
use super::descriptor::role;
use super::dims::Slot;
use super::{at, private};
use crate::model::{Arity, Buffer, CustomCall, Param, ParamKind, Role};

/// A buffer parameter and where its operands start.
pub(super) struct Place<'a> {
    pub(super) param: &'a Param,
    pub(super) buffer: &'a Buffer,
    /// Index among the arguments, unless it is only a result.
    pub(super) arg: Option<usize>,
    /// Index among the results, unless it is only an argument.
    pub(super) ret: Option<usize>,
}

/// The buffer parameters, in the order of the signature.
pub(super) fn places(call: &CustomCall) -> Vec<Place<'_>> {
    let (mut args, mut rets) = (0, 0);
    let next = |counter: &mut usize| {
        *counter += 1;
        *counter - 1
    };
    let buffers = call.params.iter().filter_map(|param| match &param.kind {
        ParamKind::Buffer(buffer) => Some((param, buffer)),
        _ => None,
    });
    buffers
        .map(|(param, buffer)| Place {
            param,
            buffer,
            arg: (buffer.role != Role::Ret).then(|| next(&mut args)),
            ret: (buffer.role != Role::Arg).then(|| next(&mut rets)),
        })
        .collect()
}

/// The trait of a role's types.
pub(super) fn trait_of(role: Role) -> Ident {
    format_ident!("{role:?}Param")
}

/// How many operands there may be on one side.
pub(super) struct Count {
    pub(super) least: usize,
    /// `None`: any number.
    pub(super) most: Option<usize>,
}

impl Count {
    pub(super) fn is_fixed(&self) -> bool {
        self.most == Some(self.least)
    }
}

/// The number of arguments (or results).
pub(super) fn count(places: &[Place<'_>], results: bool) -> Count {
    let side = places.iter().filter(|place| if results { place.ret.is_some() } else { place.arg.is_some() });
    let mut count = Count { least: 0, most: Some(0) };
    for place in side {
        count.most = count.most.map(|most| most + 1);
        match place.buffer.arity {
            Arity::One => count.least += 1,
            Arity::Optional => {}
            Arity::Variadic => count.most = None,
        }
    }
    count
}

/// Gives a buffer parameter's operands its type, in a variable of the parameter's name.
pub(super) fn value(private: &TokenStream, place: &Place<'_>) -> TokenStream {
    let ident = &place.param.ident;
    let param_trait = trait_of(place.buffer.role);
    let span = at(&place.buffer.ty);
    if let (Some(arg), Some(ret)) = (place.arg, place.ret) {
        return quote_spanned! {span=>
            let #ident = match unsafe { #private::InOutParam::from_buffers(args[#arg], rets[#ret]) } {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => {
                    #private::cold();
                    return ::core::result::Result::Err(
                        #private::mismatch(*frame, &__HANDLER, #private::Role::Arg, #arg, error.to_code()));
                }
            };
        };
    }
    let (list, index) = match (place.arg, place.ret) {
        (Some(arg), _) => (tokens!(args), arg),
        (None, ret) => (tokens!(rets), ret.unwrap_or(0)),
    };
    let role = role(private, place.buffer.role);
    // `at` is the operand's index, `buffer` the operand.
    let converted = quote_spanned! {span=>
        match unsafe { #private::#param_trait::from_buffer(buffer) } {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => {
                #private::cold();
                return ::core::result::Result::Err(#private::mismatch(*frame, &__HANDLER, #role, at, error.to_code()));
            }
        }
    };
    match place.buffer.arity {
        Arity::One => tokens! {
            let #ident = {
                let (at, buffer) = (#index, #list[#index]);
                #converted
            };
        },
        Arity::Optional => tokens! {
            let #ident = match #list.get(#index) {
                ::core::option::Option::Some(&buffer) => {
                    let at = #index;
                    ::core::option::Option::Some(#converted)
                }
                ::core::option::Option::None => ::core::option::Option::None,
            };
        },
        Arity::Variadic => tokens! {
            let #ident = {
                let mut members = #private::Vec::new();
                for (at, &buffer) in #list.iter().enumerate().skip(#index) {
                    members.push(#converted);
                }
                #private::Variadic::__new(members)
            };
        },
    }
}

/// Checks, before any buffer gets its type, that dtypes are those of the types, that memory is aligned, and that no
/// result shares memory with another buffer. With the dtypes known, sizes in bytes are shifts. All failures are one,
/// which reads the frame again: what each would say would be in registers before it is known that it fails.
pub(super) fn guard(private: &TokenStream, places: &[Place<'_>]) -> TokenStream {
    let (mut code, mut guarded) = (Vec::new(), Vec::new());
    let mut earlier: Vec<(&Place<'_>, Slot)> = Vec::new();
    for result in [false, true] {
        for place in places {
            let Some(slot) = Slot::of(place, result) else { continue };
            let ty = without_lifetimes(&place.buffer.ty);
            let param_trait = trait_of(place.buffer.role);
            let (extent, buffer, operand) = (slot.variable(), slot.buffer(), slot.place(private));
            let spec = quote_spanned!(at(&place.buffer.ty)=> <#ty as #private::#param_trait<'static>>::SPEC);
            code.push(quote_spanned! {at(&place.buffer.ty)=>
                let ::core::option::Option::Some(#extent) = #private::extent(&#buffer, #spec) else {
                    break 'guard false;
                };
            });
            let shares = place.arg.filter(|_| result);
            if result {
                code.extend(earlier.iter().map(|(other, other_slot)| {
                    let pair = std::ptr::eq(other.param, place.param);
                    let (other_extent, other) = (other_slot.variable(), other_slot.buffer());
                    let allowed = pair.then(|| tokens!(&& #other.data() != #buffer.data()));
                    tokens! {
                        if #private::overlap(#other_extent, #extent) #allowed {
                            break 'guard false;
                        }
                    }
                }));
            }
            let shares = super::descriptor::option(shares.map(|arg| tokens!(#arg)));
            guarded.push(tokens!(#private::Guarded { operand: #operand, spec: #spec, shares: #shares }));
            earlier.push((place, slot));
        }
    }
    tokens! {
        let guarded = 'guard: {
            #(#code)*
            true
        };
        if !guarded {
            #private::cold();
            return ::core::result::Result::Err(
                #private::guard_error(*frame, &__HANDLER, const { &[#(#guarded),*] }));
        }
    }
}

/// On platforms other than the host, refuses types that touch memory from the CPU, also behind type aliases.
pub(super) fn platform_checks(call: &CustomCall) -> TokenStream {
    let platform = call.options.platform.value();
    if platform == "Host" {
        return TokenStream::new();
    }
    let private = private(&call.options.krate);
    let checks = places(call).into_iter().map(|place| {
        let ty = concrete(&place.buffer.ty, &call.type_params);
        let param_trait = trait_of(place.buffer.role);
        let message = format!(
            "parameter `{}` reads or writes memory from the CPU, which a handler for platform {platform} cannot: use \
             DeviceArray, DeviceOut or DeviceInOut",
            place.param.ident
        );
        quote_spanned! {at(&place.buffer.ty)=>
            const _: () = ::core::assert!(
                !<#ty as #private::#param_trait<'static>>::SPEC.host_memory,
                #message
            );
        }
    });
    tokens!(#(#checks)*)
}
