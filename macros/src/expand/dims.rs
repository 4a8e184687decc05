//! Straight-line checks of `#[dims(...)]` patterns.
//!
//! They only decide whether all is well. The interpreter of the support crate, which knows the same rules, finds out
//! what is wrong, and serves operations with optional or variadic parameters.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;

use super::attrs;
use super::buffers::Place;
use super::descriptor::dim_op;
use crate::model::{Arity, CustomCall, DimExpr, DimPattern, Recorded};

/// An operand: the result (or the argument) with this index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    result: bool,
    index: usize,
}

impl Slot {
    pub(super) fn of(place: &Place<'_>, result: bool) -> Option<Slot> {
        let index = if result { place.ret } else { place.arg };
        index.map(|index| Slot { result, index })
    }

    /// The variable that holds its buffer while it is read.
    pub(super) fn variable(self) -> Ident {
        let side = if self.result { "ret" } else { "arg" };
        Ident::new(&format!("{side}_{}", self.index), Span::mixed_site())
    }

    /// Its role and its index.
    pub(super) fn place(self, private: &TokenStream) -> TokenStream {
        let (role, index) = (if self.result { tokens!(Ret) } else { tokens!(Arg) }, self.index);
        tokens!((#private::Role::#role, #index))
    }

    /// Its entry in one of two lists, of arguments and of results.
    pub(super) fn of_lists(self, args: &TokenStream, rets: &TokenStream) -> TokenStream {
        let (list, index) = (if self.result { rets } else { args }, self.index);
        tokens!(#list[#index])
    }

    /// Its buffer.
    pub(super) fn buffer(self) -> TokenStream {
        self.of_lists(&tokens!(args), &tokens!(rets))
    }
}

/// The shape checks of an operation.
pub(super) struct Checks {
    /// Variables with the values of integer attributes that name dimensions; read before the operands.
    pub(super) ints: Vec<TokenStream>,
    /// The checks of `args` and `rets`.
    pub(super) code: TokenStream,
    /// Operands that must have the dimensions of an earlier one, and that one.
    like: Vec<(Slot, Slot)>,
    /// Operands with a pattern of their own, and how many dimensions they have at the least.
    least: Vec<(Slot, usize)>,
    /// Names and values of integer attributes that name dimensions, for messages.
    pub(super) pairs: Vec<TokenStream>,
}

impl Checks {
    pub(super) fn new(private: &TokenStream, call: &CustomCall, places: &[Place<'_>]) -> Checks {
        let mut checker = Checker { private, lists: HashSet::new(), names: HashSet::new(), code: Vec::new() };
        let (ints, pairs) = checker.bind_attributes(call, places);
        let fail = tokens! {
            #private::cold();
            return ::core::result::Result::Err(#private::dims_error(*frame, &__HANDLER, &[#(#pairs),*]))
        };
        if places.iter().any(|place| place.buffer.arity != Arity::One) {
            let checked = places.iter().any(|place| place.buffer.dims.is_some());
            let code = tokens!(#private::check_dims(&__HANDLER, &args, &rets, &[#(#pairs),*])?;);
            return Checks {
                ints,
                code: if checked { code } else { TokenStream::new() },
                like: Vec::new(),
                least: Vec::new(),
                pairs,
            };
        }
        let (mut like, mut least) = (Vec::new(), Vec::new());
        // The first operand of each pattern that ties every dimension.
        let mut seen: Vec<(String, Slot)> = Vec::new();
        // Arguments bind names; expressions may use names that a later argument binds.
        let mut expressions = Vec::new();
        // They are broadcast to the results.
        let expands = call.options.recorded == Recorded::Pointwise;
        let arguments = places.iter().map(|place| (place, false));
        for (place, result) in arguments.chain(places.iter().map(|place| (place, true))) {
            let Some(slot) = Slot::of(place, result) else { continue };
            if expands && !result {
                let (from, to) = (slot.buffer(), Slot { result: true, index: 0 }.buffer());
                checker.fail_unless(tokens!(#private::expands(#from.dims(), #to.dims())));
                continue;
            }
            if result && let Some(argument) = Slot::of(place, false) {
                like.push((slot, argument));
                continue;
            }
            let Some(dims) = &place.buffer.dims else { continue };
            let key = tied(dims);
            if let Some((_, first)) = key.as_ref().and_then(|key| seen.iter().find(|(seen, _)| seen == key)) {
                like.push((slot, *first));
                continue;
            }
            seen.extend(key.map(|key| (key, slot)));
            least.push((slot, fixed(dims)));
            checker.operand(&format_ident!("dims_of_{}", slot.variable()), slot.buffer(), dims, &mut expressions);
        }
        for (dim, expr) in expressions {
            let value = checker.value(expr);
            checker.fail_unless(tokens!(#value == ::core::option::Option::Some(#dim)));
        }
        let checks = &checker.code;
        let code = if checks.is_empty() {
            TokenStream::new()
        } else {
            tokens! {
                let dims_agree = 'check: {
                    #(#checks)*
                    true
                };
                if !dims_agree {
                    #fail;
                }
            }
        };
        Checks { ints, code, like, least, pairs }
    }

    /// How many dimensions an operand has at the least, if it is sound and agrees with its pattern.
    pub(super) fn least(&self, slot: Slot) -> usize {
        self.least.iter().find(|(other, _)| *other == slot).map_or(0, |(_, least)| *least)
    }

    /// The earlier operand whose dimensions this one must have.
    pub(super) fn like(&self, slot: Slot) -> Option<Slot> {
        self.like.iter().find(|(other, _)| *other == slot).map(|(_, first)| *first)
    }
}

/// How many dimensions stand alone, outside of a list of any length.
fn fixed(dims: &[DimPattern]) -> usize {
    dims.iter().filter(|pattern| matches!(pattern, DimPattern::Dim(_))).count()
}

/// A pattern's text, if equal texts mean equal dimensions.
fn tied(dims: &[DimPattern]) -> Option<String> {
    let part = |pattern: &DimPattern| match pattern {
        DimPattern::Any => None,
        DimPattern::List(name) => Some(format!("..{name}")),
        DimPattern::Dim(expr) => tied_expr(expr),
    };
    dims.iter().map(part).collect::<Option<Vec<_>>>().map(|parts| parts.join(", "))
}

fn tied_expr(expr: &DimExpr) -> Option<String> {
    match expr {
        DimExpr::Wildcard(_) => None,
        DimExpr::Const(value, _) => Some(value.to_string()),
        DimExpr::Name(name) => Some(name.to_string()),
        DimExpr::Binary(op, a, b) => Some(format!("({} {op:?} {})", tied_expr(a)?, tied_expr(b)?)),
    }
}

struct Checker<'a> {
    private: &'a TokenStream,
    /// Names of lists and of dimensions that are bound so far.
    lists: HashSet<String>,
    names: HashSet<String>,
    code: Vec<TokenStream>,
}

impl<'a> Checker<'a> {
    /// Integer attributes that a pattern names: their values, and the pairs that the interpreter takes.
    fn bind_attributes(&mut self, call: &CustomCall, places: &[Place<'_>]) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let mut used = HashSet::new();
        for pattern in places.iter().flat_map(|place| place.buffer.dims.iter().flatten()) {
            if let DimPattern::Dim(expr) = pattern {
                collect_names(expr, &mut used);
            }
        }
        let private = self.private;
        let (mut ints, mut pairs) = (Vec::new(), Vec::new());
        for (index, (param, attr)) in attrs::named(&call.params).enumerate() {
            let dim = param.ident.to_string();
            if !used.contains(&dim) {
                continue;
            }
            let (name, ty) = (&attr.name, &attr.ty);
            let variable = dim_variable(&dim);
            let value = attrs::value(private, attr, index, &tokens!(&__HANDLER), &tokens!(__AT));
            ints.push(tokens! {
                let #variable = {
                    let value: #ty = #value;
                    #private::DimValue::to_dim(&value)
                };
            });
            pairs.push(tokens!((#name, #variable)));
            self.names.insert(dim);
        }
        (ints, pairs)
    }

    /// Code that leaves the check when `condition` is false.
    fn fail_unless(&mut self, condition: TokenStream) {
        self.code.push(tokens! {
            if !(#condition) {
                break 'check false;
            }
        });
    }

    /// One operand against its pattern. Expressions are left for later.
    fn operand<'e>(
        &mut self,
        prefix: &Ident,
        buffer: TokenStream,
        dims: &'e [DimPattern],
        expressions: &mut Vec<(TokenStream, &'e DimExpr)>,
    ) {
        self.code.push(tokens!(let #prefix = #buffer.dims();));
        let list = dims.iter().position(|pattern| !matches!(pattern, DimPattern::Dim(_)));
        let fixed = fixed(dims);
        self.fail_unless(match list {
            Some(_) => tokens!(#prefix.len() >= #fixed),
            None => tokens!(#prefix.len() == #fixed),
        });
        for (position, pattern) in dims.iter().enumerate() {
            // Behind the list, positions count from the end.
            let index = match list {
                Some(list) if position > list => {
                    let from_end = dims.len() - position;
                    tokens!(#prefix.len() - #from_end)
                }
                _ => tokens!(#position),
            };
            match pattern {
                DimPattern::Any => {}
                DimPattern::List(name) => {
                    let after = dims.len() - position - 1;
                    let part = tokens!(&#prefix[#position..#prefix.len() - #after]);
                    let variable = format_ident!("list_{name}");
                    if self.lists.insert(name.to_string()) {
                        self.code.push(tokens!(let #variable = #part;));
                    } else {
                        let private = self.private;
                        self.fail_unless(tokens!(#private::same_dims(#variable, #part)));
                    }
                }
                DimPattern::Dim(DimExpr::Wildcard(_)) => {}
                DimPattern::Dim(DimExpr::Const(value, _)) => self.fail_unless(tokens!(#prefix[#index] == #value)),
                DimPattern::Dim(DimExpr::Name(name)) => {
                    let variable = dim_variable(&name.to_string());
                    if self.names.insert(name.to_string()) {
                        self.code.push(tokens!(let #variable = #prefix[#index];));
                    } else {
                        self.fail_unless(tokens!(#prefix[#index] == #variable));
                    }
                }
                DimPattern::Dim(expr @ DimExpr::Binary(..)) => expressions.push((tokens!(#prefix[#index]), expr)),
            }
        }
    }

    /// The value of an expression, as an `Option<i64>`.
    fn value(&self, expr: &DimExpr) -> TokenStream {
        let private = self.private;
        match expr {
            DimExpr::Wildcard(_) => tokens!(::core::option::Option::None),
            DimExpr::Const(value, _) => tokens!(::core::option::Option::Some(#value)),
            DimExpr::Name(name) => {
                let variable = dim_variable(&name.to_string());
                tokens!(::core::option::Option::Some(#variable))
            }
            DimExpr::Binary(op, a, b) => {
                let (op, a, b) = (dim_op(private, *op), self.value(a), self.value(b));
                tokens!(#private::dim_binary(#op, #a, #b))
            }
        }
    }
}

fn dim_variable(name: &str) -> Ident {
    format_ident!("dim_{name}")
}

fn collect_names(expr: &DimExpr, names: &mut HashSet<String>) {
    match expr {
        DimExpr::Name(name) => {
            names.insert(name.to_string());
        }
        DimExpr::Binary(_, a, b) => {
            collect_names(a, names);
            collect_names(b, names);
        }
        _ => {}
    }
}
