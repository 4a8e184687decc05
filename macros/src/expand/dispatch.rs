//! The body of the execute handler: decode, dispatch on dtypes, call.

use proc_macro2::TokenStream;
use syn::{GenericParam, Type};

use super::buffers::{self, Count, Place};
use super::concrete::concrete;
use super::descriptor::role as role_tokens;
use super::{attrs, context_param, dims, private};
use crate::model::{CustomCall, ParamKind, Role, Stage};

/// Decodes `frame` and calls the user's function.
pub(super) fn run(call: &CustomCall) -> TokenStream {
    let private = private(&call.options.krate);
    let places = buffers::places(call);
    let (args, rets) = (buffers::count(&places, false), buffers::count(&places, true));
    let fixed = args.is_fixed() && rets.is_fixed();
    let sides = [(&args, fixed), (&rets, fixed)];
    let [args_type, rets_type] = sides.map(|(count, fixed)| operands_type(&private, count, fixed, &tokens!('_)));
    let positions = attrs::positions(&private, &call.params, &tokens!(__ATTR_LIST));
    let count = attrs::named(&call.params).count();
    let dims = dims::Checks::new(&private, call, &places);
    let read = if fixed { read_fixed(&private, &places, &dims) } else { read_counted(&private, &args, &rets) };
    let (ints, checks) = (&dims.ints, &dims.code);
    let outlive = outlive(&private, call);
    let lifetime = tokens!('__frame);
    let inner_types = sides.map(|(count, fixed)| operands_type(&private, count, fixed, &lifetime));
    let pairs = places.iter().filter_map(|place| {
        let (arg, ret) = (place.arg?, place.ret?);
        Some(tokens!((#arg, #ret)))
    });
    let (guard, overlap) = if fixed {
        (buffers::guard(&private, &places), TokenStream::new())
    } else {
        (TokenStream::new(), tokens!(#private::check_overlap(&__HANDLER, &args, &rets, &[#(#pairs),*])?;))
    };
    let inner = inner(&private, call, &places, &inner_types, &guard);
    let dispatch = dispatch(&private, call, &places, 0, &mut Vec::new());
    let (least_args, least_rets) = (args.least, rets.least);
    let counts = fixed.then(|| {
        tokens! {
            let counted = frame.exactly::<#least_args, #least_rets>(&__HANDLER)?;
        }
    });
    tokens! {
        const __AT: [usize; #count] = #positions;
        #inner

        #counts
        let mut storage = #private::MaybeUninit::<#private::ArrayStorage::<{ __ATTR_LIST.len() }>>::uninit();
        let attrs = frame.attributes(&__HANDLER, &mut storage)?;
        #(#ints)*
        let (args, rets): (#args_type, #rets_type) = #read;
        #checks
        #overlap
        #outlive
        #dispatch
    }
}

/// Code that reads all operands where their numbers are fixed: those that must have equal dimensions together. What
/// fails is read again for the message.
fn read_fixed(private: &TokenStream, places: &[Place<'_>], dims: &dims::Checks) -> TokenStream {
    let (mut groups, mut likes) = (Vec::<Vec<dims::Slot>>::new(), Vec::new());
    let mut sides: [Vec<TokenStream>; 2] = [Vec::new(), Vec::new()];
    for result in [false, true] {
        for slot in places.iter().filter_map(|place| dims::Slot::of(place, result)) {
            let first = dims.like(slot);
            match groups.iter_mut().find(|group| first.is_some_and(|first| group.contains(&first))) {
                Some(group) => group.push(slot),
                None => groups.push(vec![slot]),
            }
            likes.push(super::descriptor::option(first.map(|first| first.place(private))));
            let variable = slot.variable();
            sides[usize::from(result)].push(tokens!(#variable));
        }
    }
    let fail = tokens!(break 'read ::core::option::Option::None);
    let code = groups.iter().map(|group| {
        let variables = group.iter().map(|slot| slot.variable());
        let described = group.iter().map(|slot| slot.of_lists(&tokens!(arg_list), &tokens!(ret_list)));
        let (least, count) = (dims.least(group[0]), group.len());
        tokens! {
            let ::core::option::Option::Some([#(#variables),*]) =
                #private::Described::alike::<#least, #count>([#(#described),*])
            else {
                #fail
            };
        }
    });
    let [args, rets] = sides;
    let pairs = &dims.pairs;
    tokens!({
        let read = 'read: {
            let ::core::option::Option::Some((arg_list, ret_list)) = counted.buffers() else { #fail };
            #(#code)*
            ::core::option::Option::Some(([#(#args),*], [#(#rets),*]))
        };
        let ::core::option::Option::Some(read) = read else {
            #private::cold();
            return ::core::result::Result::Err(
                #private::operands_error(*frame, &__HANDLER, &[#(#likes),*], &[#(#pairs),*]));
        };
        read
    })
}

/// Code that reads all operands where some are optional or variadic.
fn read_counted(private: &TokenStream, args: &Count, rets: &Count) -> TokenStream {
    let side = |count: &Count, role: Role| {
        let (role, least) = (role_tokens(private, role), count.least);
        let most = super::descriptor::option(count.most.map(|most| tokens!(#most)));
        tokens!(frame.between(&__HANDLER, #role, #least, #most)?)
    };
    let (args, rets) = (side(args, Role::Arg), side(rets, Role::Ret));
    tokens!((#args, #rets))
}

/// How operands are kept: in arrays where both sides are of fixed length.
fn operands_type(private: &TokenStream, count: &Count, fixed: bool, lifetime: &TokenStream) -> TokenStream {
    let least = count.least;
    if fixed {
        tokens!([#private::BufferRef<#lifetime>; #least])
    } else {
        tokens!(#private::Vec<#private::BufferRef<#lifetime>>)
    }
}

/// Whether a parameter lets work go on after the handler has returned.
pub(super) fn outlives_frame(call: &CustomCall) -> TokenStream {
    let private = private(&call.options.krate);
    let contexts = contexts(call);
    tokens!(false #(|| <#contexts as #private::FromContext<'static>>::OUTLIVES_FRAME)*)
}

fn contexts(call: &CustomCall) -> Vec<Type> {
    let contexts = call.params.iter().filter(|param| matches!(param.kind, ParamKind::Context));
    contexts.map(|param| concrete(&param.ty, &call.type_params)).collect()
}

/// Moves dimensions out of the frame where work may go on after the handler has returned.
fn outlive(private: &TokenStream, call: &CustomCall) -> TokenStream {
    if contexts(call).is_empty() {
        return TokenStream::new();
    }
    let name = &call.function.sig.ident;
    tokens! {
        let (mut args, mut rets) = (args, rets);
        if <#name as #private::Execute>::OUTLIVES_FRAME {
            frame.outlive(&mut args);
            frame.outlive(&mut rets);
        }
    }
}

/// `fn __call`: the part that is compiled for each combination of dtypes.
fn inner(
    private: &TokenStream,
    call: &CustomCall,
    places: &[Place<'_>],
    [args_type, rets_type]: &[TokenStream; 2],
    guard: &TokenStream,
) -> TokenStream {
    let sig = &call.function.sig;
    let generics = &sig.generics.params;
    let predicates = sig.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    // An attribute of the dispatched dtype is converted here, where the dtype is still a parameter.
    let vars = attrs::named(&call.params).filter_map(|(_, attr)| attr.var);
    let converted = vars.map(|var| {
        let ident = &call.type_params[var].ident;
        tokens!(#ident: #private::FromAttr<'__attrs>)
    });
    let types: Vec<_> = generics
        .iter()
        .filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            _ => None,
        })
        .collect();
    let turbofish = if types.is_empty() { TokenStream::new() } else { tokens!(::<#(#types),*>) };
    let handler = tokens!(&__HANDLER);
    let mut attr_index = 0;
    let values = call.params.iter().map(|param| {
        let ident = &param.ident;
        match &param.kind {
            ParamKind::Buffer(_) => {
                let place = places.iter().find(|place| std::ptr::eq(place.param, param));
                place.map(|place| buffers::value(private, place))
            }
            ParamKind::Attr(attr) => {
                let value = attrs::value(private, attr, attr_index, &handler, &tokens!(__AT));
                attr_index += 1;
                Some(tokens!(let #ident = #value;))
            }
            ParamKind::AttrRest => Some(tokens!(let #ident = #private::rest(frame, #handler)?;)),
            ParamKind::State { .. } | ParamKind::Context => context_param(private, param, &handler, |stage, _| {
                let path = call.options.stages.iter().find(|(other, _)| *other == stage).map(|(_, path)| path);
                // A host keeps the instantiate stage's state with the program, the others' for this call only.
                match stage {
                    Stage::Instantiate => tokens!(state::<#path>),
                    _ => tokens!(call_state::<#path>),
                }
            }),
        }
    });
    let values: Vec<_> = values.collect();
    let idents = call.params.iter().map(|param| &param.ident);
    let function = &sig.ident;
    // Attributes have a lifetime of their own: hosts may free them before the buffers, when the handler has returned.
    // The user's lifetimes come first, as they must; unused ones do no harm.
    let lifetimes = generics.iter().filter(|param| matches!(param, GenericParam::Lifetime(_)));
    let others = generics.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_)));
    tokens! {
        #[inline(always)]
        #[allow(
            clippy::too_many_arguments,
            clippy::extra_unused_lifetimes,
            clippy::multiple_bound_locations,
            unused_variables
        )]
        fn __call<'__frame, '__attrs, #(#lifetimes,)* #(#others),*>(
            frame: &#private::Frame<'__frame>,
            args: #args_type,
            rets: #rets_type,
            attrs: #private::Attributes<'_, '__attrs>,
        ) -> #private::Result<()> where #(#predicates,)* #(#converted,)* {
            // Named before the parameters, one of which may be called like the function.
            let function = #function #turbofish;
            #guard
            #(#values)*
            #private::Outcome::outcome(function(#(#idents),*))
        }
    }
}

/// Calls `__call` with the element types that the operands' dtypes name.
fn dispatch(
    private: &TokenStream,
    call: &CustomCall,
    places: &[Place<'_>],
    var: usize,
    chosen: &mut Vec<Type>,
) -> TokenStream {
    let Some(param) = call.type_params.get(var) else {
        let turbofish = if chosen.is_empty() { TokenStream::new() } else { tokens!(::<#(#chosen),*>) };
        return tokens!(__call #turbofish(frame, args, rets, attrs));
    };
    // Arguments before results, so that the message names what the caller gave; but an absent one decides nothing.
    let of_var = |place: &&Place<'_>| place.buffer.var == Some(var) && place.buffer.arity == crate::model::Arity::One;
    let source = places.iter().filter(of_var).find(|place| place.arg.is_some());
    let source = source.or_else(|| places.iter().find(of_var));
    let Some(source) = source else {
        let message = format!("no buffer has elements of type `{}`, so nothing decides it", param.ident);
        return syn::Error::new(param.ident.span(), message).to_compile_error();
    };
    let (list, side, index) = match (source.arg, source.ret) {
        (Some(arg), _) => (tokens!(args), Role::Arg, arg),
        (None, ret) => (tokens!(rets), Role::Ret, ret.unwrap_or(0)),
    };
    let role = role_tokens(private, side);
    // What most programs compute in has a branch of its own, before the table of jumps that many others make.
    let (usual, others): (Vec<_>, Vec<_>) = param.elements.iter().partition(|element| is_f32(element));
    let arms: Vec<_> = usual
        .into_iter()
        .chain(others)
        .map(|element| {
            chosen.push(element.clone());
            let inner = dispatch(private, call, places, var + 1, chosen);
            chosen.pop();
            let is_it = if is_f32(element) { tokens!(is_alone) } else { tokens!(is) };
            tokens! {
                if source.#is_it(<#element as #private::Element>::DTYPE) {
                    return #inner;
                }
            }
        })
        .collect();
    tokens! {
        {
            let source = #list[#index];
            #(#arms)*
            #private::cold();
            ::core::result::Result::Err(#private::dispatch_error(*frame, &__HANDLER, #var, #role, #index))
        }
    }
}

fn is_f32(element: &Type) -> bool {
    matches!(element, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "f32"))
}
