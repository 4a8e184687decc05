//! The fields of an op as attributes: the inverse of [`Source`](super::Source), whose methods have the same names.

use super::parameters::Word;
use super::value::{Field, Value};
use crate::{Attribute, ElementType, FuncId, Module, Precision, WindowDim};

/// The attributes of an op that is being written.
pub(crate) struct Attributes<'m> {
    /// The program, which has the names of functions.
    module: &'m Module,
    /// The attributes, by name.
    pub(crate) entries: Vec<(&'m str, Value<'m>)>,
}

pub(super) fn signed(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|&dim| dim as i64).collect()
}

impl<'m> Attributes<'m> {
    /// No attributes of an op of `module`.
    pub(crate) fn new(module: &'m Module) -> Attributes<'m> {
        Attributes { module, entries: Vec::new() }
    }

    /// Any value.
    pub(super) fn set(&mut self, name: &'m str, value: Value<'m>) {
        self.entries.push((name, value));
    }

    /// Any attribute.
    pub(super) fn attribute(&mut self, name: &'m str, value: Attribute) {
        self.set(name, Value::Attribute(value));
    }

    /// An integer.
    pub(super) fn integer(&mut self, name: &'m str, value: i64, element: ElementType) {
        self.attribute(name, Attribute::Integer(value, element));
    }

    /// A dimension or size.
    pub(super) fn size(&mut self, name: &'m str, value: &usize) {
        self.integer(name, *value as i64, ElementType::S64);
    }

    /// An index that MLIR has in 32 bits.
    pub(super) fn index(&mut self, name: &'m str, value: &usize) {
        self.integer(name, *value as i64, ElementType::S32);
    }

    /// A number of bits.
    pub(super) fn bits(&mut self, name: &'m str, value: &u32) {
        self.integer(name, (*value).into(), ElementType::S32);
    }

    /// Dimensions or sizes.
    pub(super) fn sizes(&mut self, name: &'m str, values: &[usize]) {
        self.set(name, Value::Ints(signed(values)));
    }

    /// Integers of any sign.
    pub(super) fn signed(&mut self, name: &'m str, values: &[i64]) {
        self.set(name, Value::Ints(values.to_vec()));
    }

    /// A boolean.
    pub(super) fn flag(&mut self, name: &'m str, value: &bool) {
        self.attribute(name, Attribute::Bool(*value));
    }

    /// A boolean, unless it is the default.
    pub(super) fn flag_or(&mut self, name: &'m str, default: bool, value: &bool) {
        if *value != default {
            self.flag(name, value);
        }
    }

    /// A unit attribute for what holds.
    pub(super) fn unit_if(&mut self, name: &'m str, value: bool) {
        if value {
            self.attribute(name, Attribute::Unit);
        }
    }

    /// A float of 32 bits.
    pub(super) fn float32(&mut self, name: &'m str, value: &f32) {
        self.attribute(name, Attribute::Float((*value).into(), ElementType::F32));
    }

    /// A text.
    pub(super) fn text(&mut self, name: &'m str, value: &str) {
        self.attribute(name, Attribute::String(value.into()));
    }

    /// The value of an enum.
    pub(super) fn choice<T: Word>(&mut self, name: &'m str, value: &T) {
        self.set(name, Value::Enum(T::ENUM, value.word()));
    }

    /// The value of an enum, unless it is the default.
    pub(super) fn choice_or<T: Word>(&mut self, name: &'m str, default: T, value: &T) {
        if *value != default {
            self.choice(name, value);
        }
    }

    /// The name of a function.
    pub(super) fn callee(&mut self, name: &'m str, func: &FuncId) {
        let symbol = self.symbol(*func);
        self.attribute(name, symbol);
    }

    /// The names of functions, if there are any.
    pub(super) fn functions(&mut self, name: &'m str, funcs: &[FuncId]) {
        if !funcs.is_empty() {
            let symbols = funcs.iter().map(|&func| self.symbol(func)).collect();
            self.attribute(name, Attribute::Array(symbols));
        }
    }

    fn symbol(&self, func: FuncId) -> Attribute {
        Attribute::Symbol(self.module.func(func).name.clone())
    }

    /// The precisions of operands, unless all are the default.
    pub(super) fn precisions(&mut self, name: &'m str, values: &[Precision]) {
        if !values.is_empty() {
            let words = values.iter().map(|precision| precision.name()).collect();
            self.set(name, Value::Enums("precision", words));
        }
    }

    /// A size of each dimension of a window.
    pub(super) fn window(&mut self, name: &'m str, window: &[WindowDim], size: fn(&WindowDim) -> usize) {
        self.set(name, Value::Ints(window.iter().map(|dim| size(dim) as i64).collect()));
    }

    /// The padding of each dimension of a window.
    pub(super) fn padding(&mut self, name: &'m str, window: &[WindowDim]) {
        self.set(name, Value::Pairs(window.iter().map(|dim| [dim.padding_low, dim.padding_high]).collect()));
    }

    /// Dimension numbers: lists without the empty ones, and an integer if there is one.
    pub(super) fn dims(
        &mut self,
        name: &'m str,
        kind: &'static str,
        lists: &[(&'m str, &[usize])],
        number: Option<(&'m str, usize)>,
    ) {
        let lists = lists.iter().filter(|(_, dims)| !dims.is_empty());
        let lists = lists.map(|(name, dims)| (*name, Field::Ints(signed(dims))));
        let number = number.map(|(name, value)| (name, Field::Int(value as i64)));
        self.set(name, Value::Struct(kind, lists.chain(number).collect()));
    }
}
