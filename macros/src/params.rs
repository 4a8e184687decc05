//! Parameters: what each one is, by its helper attributes or else by its type.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, ItemFn, Pat, PatType, Type};

use crate::attrs::{self, AttrArgs, Forced, Helpers};
use crate::errors::Errors;
use crate::model::{Arity, Attr, Buffer, DimPattern, Param, ParamKind, Presence, Role, Stage};
use crate::types::{self, Known};
use crate::{dims, messages};

/// The parameters of a signature.
pub(crate) struct Params {
    pub(crate) list: Vec<Param>,
    /// Whether every parameter was understood: rules about what is missing need that.
    pub(crate) whole: bool,
    /// Whether every `#[dims]` was.
    pub(crate) whole_dims: bool,
}

/// Reads the parameters, and removes their helper attributes from the function.
pub(crate) fn parse(function: &mut ItemFn, type_params: &[Ident], errors: &mut Errors) -> Params {
    let mut params = Params { list: Vec::new(), whole: true, whole_dims: true };
    for input in &mut function.sig.inputs {
        let FnArg::Typed(input) = input else {
            params.whole = false;
            continue;
        };
        let mut own = Errors::default();
        let helpers = attrs::take(&mut input.attrs, &mut own);
        params.whole_dims &= helpers.dims.as_ref().is_none_or(|(_, dims)| dims.whole);
        let param = Reader { type_params, errors: &mut own }.param(input, helpers);
        params.whole &= own.is_empty();
        if let Err(error) = own.finish(()) {
            errors.add(error);
        }
        params.list.extend(param);
    }
    params
}

/// The name that a pattern binds, where it is a plain one.
fn ident<'a>(input: &'a PatType, errors: &mut Errors) -> Option<&'a Ident> {
    match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(&pat.ident),
        Pat::Wild(pat) => {
            errors.push(pat, messages::wildcard_pattern());
            None
        }
        pat => {
            errors.push(pat, messages::pattern());
            None
        }
    }
}

struct Reader<'a> {
    type_params: &'a [Ident],
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn param(&mut self, input: &PatType, helpers: Helpers) -> Option<Param> {
        let ident = ident(input, self.errors);
        let ty = &*input.ty;
        if let Some(lifetime) = types::static_lifetime(ty) {
            self.errors.push(lifetime, messages::static_lifetime());
        }
        if matches!(types::bare(ty), Type::ImplTrait(_)) {
            self.errors.push(ty, messages::impl_trait());
            return None;
        }
        let found = types::known(types::arity(ty).1);
        let (dims, sum) = (helpers.dims, helpers.sum);
        let mut kind = match helpers.role {
            Some((helper, Forced::Attr(args))) => {
                self.no_dims(dims.as_ref(), "an attribute");
                if let Some(Known::Buffer(..) | Known::Context) = found.filter(|_| !is_slice(ty)) {
                    self.contradiction(ty, &helper, found);
                    return None;
                }
                match &args.rest {
                    Some(_) => self.rest(ty)?,
                    None => self.attr(ident, ty, *args)?,
                }
            }
            Some((_, Forced::State(stage))) => {
                self.no_dims(dims.as_ref(), "a state");
                self.state(ty, stage)?
            }
            Some((helper, Forced::Context)) => {
                self.no_dims(dims.as_ref(), "a context");
                if let Some(Known::Buffer(..)) = found {
                    self.contradiction(ty, &helper, found);
                    return None;
                }
                ParamKind::Context
            }
            Some((helper, Forced::Arg)) => self.forced(ty, &helper, Role::Arg, found, dims)?,
            Some((helper, Forced::Ret)) => self.forced(ty, &helper, Role::Ret, found, dims)?,
            Some((helper, Forced::InOut)) => self.forced(ty, &helper, Role::InOut, found, dims)?,
            None => match found {
                Some(Known::Buffer(role, _)) => self.buffer(ty, role, dims)?,
                Some(Known::Context) => {
                    self.no_dims(dims.as_ref(), "a context");
                    if types::arity(ty).0 == Arity::Variadic {
                        self.errors.push(ty, messages::variadic_context());
                        return None;
                    }
                    ParamKind::Context
                }
                None => {
                    // A misspelt attribute may have said it, and the types of tuples say nothing.
                    if !helpers.unknown && matches!(*input.pat, Pat::Ident(_) | Pat::Wild(_)) {
                        let ty = types::bare(ty);
                        self.errors.push(ty, self.unknown(ty));
                    }
                    return None;
                }
            },
        };
        if let Some(name) = sum {
            match &mut kind {
                ParamKind::Buffer(buffer) if buffer.role == Role::Ret => buffer.sum = Some(name),
                _ => self.errors.push(name, messages::sum_on()),
            }
        }
        let ident = ident?.clone();
        Some(Param { span: ident.span(), ident, ty: input.ty.as_ref().clone(), kind })
    }

    fn unknown(&self, ty: &Type) -> String {
        let nested = |ty| matches!(types::arity(ty).0, Arity::Optional | Arity::Variadic);
        if nested(types::arity(ty).1) {
            messages::nested_wrappers(types::text(ty))
        } else {
            types::unknown(ty, self.type_params)
        }
    }

    fn no_dims(&mut self, dims: Option<&(Attribute, dims::Parsed)>, what: &str) {
        if let Some((attr, _)) = dims {
            self.errors.push(attr, messages::dims_on(what));
        }
    }

    fn contradiction(&mut self, ty: &Type, helper: &Ident, found: Option<Known>) {
        let is = match found {
            Some(Known::Buffer(Role::Arg, _)) => "an argument",
            Some(Known::Buffer(Role::Ret, _)) => "a result",
            Some(Known::Buffer(Role::InOut, _)) => "an argument and a result in one",
            _ => "a context",
        };
        self.errors.push(ty, messages::contradiction(types::text(ty), is, helper));
    }

    fn forced(
        &mut self,
        ty: &Type,
        helper: &Ident,
        role: Role,
        found: Option<Known>,
        dims: Option<(Attribute, dims::Parsed)>,
    ) -> Option<ParamKind> {
        let slice_in_place = role == Role::InOut && is_slice(types::arity(ty).1);
        match found {
            Some(Known::Buffer(known, _)) if known == role || slice_in_place => {}
            Some(_) => {
                self.contradiction(ty, helper, found);
                return None;
            }
            None => {}
        }
        self.buffer(ty, role, dims)
    }

    fn buffer(&mut self, ty: &Type, role: Role, dims: Option<(Attribute, dims::Parsed)>) -> Option<ParamKind> {
        let (arity, inner) = types::arity(ty);
        if role == Role::InOut && arity == Arity::Variadic {
            self.errors.push(ty, messages::variadic_in_out());
            return None;
        }
        let element = match types::element(inner) {
            Ok(element) => element,
            Err(message) => {
                self.errors.push(ty, message);
                return None;
            }
        };
        let var = element.and_then(|element| types::variable(element, self.type_params));
        if let (None, Some(element)) = (var, element)
            && let Some(param) = types::mentions(element, self.type_params)
        {
            self.errors.push(element, messages::variable_inside(param, types::text(element)));
        }
        let dims = dims.and_then(|(attr, dims)| self.dims(inner, role, &attr, dims));
        Some(ParamKind::Buffer(Buffer { role, arity, ty: inner.clone(), var, dims, sum: None }))
    }

    /// The patterns of `#[dims]`, compared with the type's static rank.
    fn dims(&mut self, ty: &Type, role: Role, attr: &Attribute, dims: dims::Parsed) -> Option<Vec<DimPattern>> {
        if types::is_token(ty) {
            self.errors.push(attr, messages::dims_on("a token"));
            return None;
        }
        if let Some(span) = dims.second_list.filter(|_| role != Role::Ret) {
            self.errors.push_at(span, messages::two_lists());
        }
        let lists = dims.patterns.iter().filter(|dim| matches!(dim, DimPattern::Any | DimPattern::List(_))).count();
        let fixed = dims.patterns.len() - lists;
        if let Some(rank) = types::rank(ty).filter(|_| dims.whole)
            && (fixed > rank || (lists == 0 && fixed != rank))
        {
            let at_least = if lists == 0 { "" } else { "at least " };
            let text = types::text(ty);
            self.errors.push(attr, messages::rank_mismatch(format!("{at_least}{fixed}"), text, rank));
        }
        Some(dims.patterns)
    }

    fn attr(&mut self, ident: Option<&Ident>, ty: &Type, args: AttrArgs) -> Option<ParamKind> {
        let (arity, inner) = types::arity(ty);
        match inner {
            Type::Reference(reference) if reference.mutability.is_some() => {
                self.errors.push(ty, messages::mutable_attr());
                return None;
            }
            Type::Ptr(pointer) => {
                self.errors.push(ty, messages::pointer_attr(types::text(&pointer.elem)));
                return None;
            }
            _ => {}
        }
        if arity == Arity::Variadic {
            self.errors.push(ty, messages::variadic_attr());
            return None;
        }
        let var = types::variable(inner, self.type_params);
        if let (None, Some(param)) = (var, types::mentions(inner, self.type_params)) {
            self.errors.push(inner, messages::variable_in_attr(param));
            return None;
        }
        let presence = match (args.default, arity) {
            (Some((_, default)), Arity::Optional) => {
                self.errors.push(&default, messages::default_on_option(types::text(inner)));
                return None;
            }
            (Some((_, default)), _) => Presence::Default(default),
            (None, Arity::Optional) => Presence::Optional,
            (None, _) => Presence::Required,
        };
        let name = match args.name {
            Some(name) => name.value(),
            None => ident?.unraw().to_string(),
        };
        Some(ParamKind::Attr(Attr { name, var, ty: inner.clone(), presence }))
    }

    fn rest(&mut self, ty: &Type) -> Option<ParamKind> {
        if types::name(ty).is_some_and(|name| name == "Dict") {
            return Some(ParamKind::AttrRest);
        }
        self.errors.push(ty, messages::rest_type(types::text(ty)));
        None
    }

    fn state(&mut self, ty: &Type, stage: Option<Stage>) -> Option<ParamKind> {
        let Type::Reference(reference) = types::bare(ty) else {
            self.errors.push(ty, messages::state_by_value(types::text(ty)));
            return None;
        };
        if reference.mutability.is_some() {
            self.errors.push(ty, messages::mutable_state(types::text(&reference.elem)));
            return None;
        }
        if let Some(param) = types::mentions(ty, self.type_params) {
            self.errors.push(ty, messages::generic_state(param));
            return None;
        }
        Some(ParamKind::State { stage: stage?, ty: types::bare(&reference.elem).clone() })
    }
}

fn is_slice(ty: &Type) -> bool {
    matches!(types::arity(ty).1, Type::Reference(_))
}
