//! The interface to an op that is being read, whichever format it comes in.

use super::parameters::Word;
use crate::sharding::{AxisRef, Mesh};
use crate::{
    Alias, Attribute, ChannelHandle, CustomCallApiVersion, ElementType, Error, FuncId, Literal, Op, OpKind, Precision,
    Region, TensorType, Type, ValueId,
};

/// An op that is being read: its attributes by name, its operands, regions and results. Names of attributes are those
/// of VHLO, in which dimension numbers are attributes of their own. `None` means that the op does not have the
/// attribute.
pub(crate) trait Source {
    /// The name of the op, as `stablehlo.add`.
    fn name(&self) -> &str;

    /// Whether attributes that have their default may be left out.
    fn has_defaults(&self) -> bool;

    /// The error with the place of attribute `name`, if that is known better than the op's.
    fn at_attribute(&self, _name: &str, error: Error) -> Error {
        error
    }

    /// An integer.
    fn integer(&mut self, name: &'static str) -> Result<Option<i64>, Error>;

    /// A list of integers; a tensor of them counts as one. Booleans are 0 and 1.
    fn integers(&mut self, name: &'static str) -> Result<Option<Vec<i64>>, Error>;

    /// The rows of a matrix of integers.
    fn rows(&mut self, name: &'static str) -> Result<Option<Vec<Vec<i64>>>, Error>;

    /// Axes of a mesh that stand for groups of processes, and the mesh.
    fn mesh_axes(&mut self, name: &'static str) -> Result<Option<(Mesh, Vec<AxisRef>)>, Error>;

    /// A channel.
    fn channel(&mut self, name: &'static str) -> Result<Option<ChannelHandle>, Error>;

    /// A boolean.
    fn bool(&mut self, name: &'static str) -> Result<Option<bool>, Error>;

    /// A float.
    fn float(&mut self, name: &'static str) -> Result<Option<f64>, Error>;

    /// A string that is text.
    fn text(&mut self, name: &'static str) -> Result<Option<String>, Error>;

    /// The value of an enum, which `accept` has to know. The answer is whether the op has the attribute.
    fn word(&mut self, name: &'static str, accept: &mut dyn FnMut(&str) -> bool) -> Result<bool, Error>;

    /// An element type, of which TF32 is `Some(None)`.
    fn element_or_tf32(&mut self, name: &'static str) -> Result<Option<Option<ElementType>>, Error>;

    /// A constant tensor.
    fn literal(&mut self, name: &'static str) -> Result<Option<Literal>, Error>;

    /// Any attribute.
    fn attribute(&mut self, name: &'static str) -> Result<Option<Attribute>, Error>;

    /// A dictionary.
    fn dictionary(&mut self, name: &'static str) -> Result<Option<Vec<(String, Attribute)>>, Error>;

    /// A function by its name, which may be defined later.
    fn function(&mut self, name: &'static str) -> Result<Option<FuncId>, Error>;

    /// A list of functions.
    fn functions(&mut self, name: &'static str) -> Result<Vec<FuncId>, Error>;

    /// A list of layouts, minor to major.
    fn layouts(&mut self, name: &'static str) -> Result<Option<Vec<Vec<usize>>>, Error>;

    /// A list of results that share memory with operands.
    fn aliases(&mut self, name: &'static str) -> Result<Vec<Alias>, Error>;

    /// A list of precisions; none for the default.
    fn precisions(&mut self, name: &'static str) -> Result<Vec<Precision>, Error>;

    /// The version of the interface of a custom call.
    fn api_version(&mut self, name: &'static str) -> Result<Option<CustomCallApiVersion>, Error>;

    /// Accounts for memory that what is read takes, where it is much more than the attribute does.
    fn spend(&mut self, bytes: usize) -> Result<(), Error>;

    /// The attributes that the op's definition does not know, sorted by name. To be asked last.
    fn others(&mut self) -> Result<Vec<(String, Attribute)>, Error>;

    /// The type of a value.
    fn value_type(&self, value: ValueId) -> &Type;

    /// The type of the first result.
    fn first_result(&self) -> Option<&Type>;

    /// A small constant of integers that gave the value.
    fn constant(&self, value: ValueId) -> Option<&Literal>;

    /// A new value.
    fn add_value(&mut self, ty: TensorType) -> Result<ValueId, Error>;

    /// Adds an op before this one.
    fn add_op(&mut self, op: Op);

    /// The op as it will be, still without its kind and its results.
    fn op(&mut self) -> &mut Op;
}

/// An error unless the op has the attribute.
fn required<T>(name: &str, value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| Error::invalid(format!("the attribute `{name}` is missing")))
}

/// The elements of a matrix of integers, row by row, as its rows; rows without elements are none.
pub(crate) fn rows(literal: &Literal, integers: Vec<i64>) -> Option<Vec<Vec<i64>>> {
    match literal.ty().dims[..] {
        [_, width] if !integers.is_empty() => Some(integers.chunks(width).map(<[i64]>::to_vec).collect()),
        [_, _] | [0] => Some(Vec::new()),
        _ => None,
    }
}

/// Integers as dimensions or sizes.
pub(crate) fn sizes(what: impl FnOnce() -> String, integers: Vec<i64>) -> Result<Vec<usize>, Error> {
    if integers.iter().any(|&value| value < 0) {
        return Err(Error::invalid(format!("{} must be a list of non-negative integers", what())));
    }
    Ok(integers.into_iter().map(|value| value as usize).collect())
}

impl dyn Source + '_ {
    /// What is there, or else the default, if the format has defaults.
    fn or<T>(&self, name: &str, value: Option<T>, default: impl FnOnce() -> T) -> Result<T, Error> {
        match value {
            None if self.has_defaults() => Ok(default()),
            value => required(name, value),
        }
    }

    /// Dimensions or sizes, which the op must have.
    pub(super) fn sizes(&mut self, name: &'static str) -> Result<Vec<usize>, Error> {
        let sizes = self.optional_sizes(name)?;
        required(name, sizes)
    }

    /// Dimensions or sizes.
    pub(super) fn optional_sizes(&mut self, name: &'static str) -> Result<Option<Vec<usize>>, Error> {
        let Some(integers) = self.integers(name)? else { return Ok(None) };
        let sizes = sizes(|| format!("the attribute `{name}`"), integers);
        sizes.map(Some).map_err(|error| self.at_attribute(name, error))
    }

    /// Dimensions or sizes.
    pub(super) fn sizes_or(
        &mut self,
        name: &'static str,
        default: impl FnOnce() -> Vec<usize>,
    ) -> Result<Vec<usize>, Error> {
        let sizes = self.optional_sizes(name)?;
        self.or(name, sizes, default)
    }

    /// Integers of any sign, which the op must have.
    pub(super) fn signed(&mut self, name: &'static str) -> Result<Vec<i64>, Error> {
        let integers = self.integers(name)?;
        required(name, integers)
    }

    /// The rows of a matrix of integers, which the op must have.
    pub(super) fn required_rows(&mut self, name: &'static str) -> Result<Vec<Vec<i64>>, Error> {
        let rows = self.rows(name)?;
        required(name, rows)
    }

    /// Integers of any sign; none by default.
    pub(super) fn integers_or_none(&mut self, name: &'static str) -> Result<Vec<i64>, Error> {
        let integers = self.integers(name)?;
        self.or(name, integers, Vec::new)
    }

    /// An integer.
    pub(super) fn integer_or(&mut self, name: &'static str, default: i64) -> Result<i64, Error> {
        let integer = self.integer(name)?;
        self.or(name, integer, || default)
    }

    fn optional_size(&mut self, name: &'static str) -> Result<Option<usize>, Error> {
        let Some(value) = self.integer(name)? else { return Ok(None) };
        let negative = || Error::invalid(format!("the attribute `{name}` must be a non-negative integer"));
        usize::try_from(value).map(Some).map_err(|_| self.at_attribute(name, negative()))
    }

    /// A dimension or size, which the op must have.
    pub(super) fn size(&mut self, name: &'static str) -> Result<usize, Error> {
        let size = self.optional_size(name)?;
        required(name, size)
    }

    /// A dimension or size.
    pub(super) fn size_or(&mut self, name: &'static str, default: usize) -> Result<usize, Error> {
        let size = self.optional_size(name)?;
        self.or(name, size, || default)
    }

    /// An index that MLIR has in 32 bits.
    pub(super) fn index(&mut self, name: &'static str) -> Result<usize, Error> {
        self.size(name)
    }

    /// A number of bits.
    pub(super) fn bits(&mut self, name: &'static str) -> Result<u32, Error> {
        let bits = self.size(name)?;
        u32::try_from(bits)
            .map_err(|_| Error::invalid(format!("the attribute `{name}` must fit in 32 bits, got {bits}")))
    }

    /// A boolean; false by default.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, Error> {
        self.flag_or(name, false)
    }

    /// A boolean.
    pub(super) fn flag_or(&mut self, name: &'static str, default: bool) -> Result<bool, Error> {
        let flag = self.bool(name)?;
        self.or(name, flag, || default)
    }

    /// A float, which the op must have.
    pub(super) fn float32(&mut self, name: &'static str) -> Result<f32, Error> {
        let float = self.float(name)?;
        required(name, float).map(|float| float as f32)
    }

    /// A text, which the op must have.
    pub(super) fn required_text(&mut self, name: &'static str) -> Result<String, Error> {
        let text = self.text(name)?;
        required(name, text)
    }

    /// One of the values of an enum.
    fn optional_choice<T: Word>(&mut self, name: &'static str) -> Result<Option<T>, Error> {
        let mut value = None;
        self.word(name, &mut |word| {
            value = T::from_word(word);
            value.is_some()
        })?;
        Ok(value)
    }

    /// One of the values of an enum, which the op must have.
    pub(super) fn choice<T: Word>(&mut self, name: &'static str) -> Result<T, Error> {
        let choice = self.optional_choice(name)?;
        required(name, choice)
    }

    /// One of the values of an enum.
    pub(super) fn choice_or<T: Word>(&mut self, name: &'static str, default: T) -> Result<T, Error> {
        let choice = self.optional_choice(name)?;
        self.or(name, choice, || default)
    }

    /// An element type, which the op must have; `None` is TF32.
    pub(super) fn required_element_or_tf32(&mut self, name: &'static str) -> Result<Option<ElementType>, Error> {
        let element = self.element_or_tf32(name)?;
        required(name, element)
    }

    /// A constant tensor, which the op must have.
    pub(super) fn required_literal(&mut self, name: &'static str) -> Result<Literal, Error> {
        let literal = self.literal(name)?;
        required(name, literal)
    }

    /// A function, which the op must have.
    pub(super) fn callee(&mut self, name: &'static str) -> Result<FuncId, Error> {
        let function = self.function(name)?;
        required(name, function)
    }

    /// A dictionary; empty by default.
    pub(super) fn entries(&mut self, name: &'static str) -> Result<Vec<(String, Attribute)>, Error> {
        let dictionary = self.dictionary(name)?;
        self.or(name, dictionary, Vec::new)
    }

    /// A version of the interface of a custom call; the original one by default.
    pub(super) fn api_version_or_original(&mut self, name: &'static str) -> Result<CustomCallApiVersion, Error> {
        let version = self.api_version(name)?;
        self.or(name, version, || CustomCallApiVersion::Original)
    }

    /// The operand at `index`.
    pub(super) fn operand(&mut self, index: usize) -> Result<ValueId, Error> {
        let operands = &self.op().operands;
        let missing = || Error::invalid(format!("operand {index} is missing, got {} operands", operands.len()));
        operands.get(index).copied().ok_or_else(missing)
    }

    /// The tensor type of operand `index`.
    pub(super) fn operand_type(&mut self, index: usize) -> Result<&TensorType, Error> {
        let operand = self.operand(index)?;
        let ty = self.value_type(operand);
        ty.tensor().ok_or_else(|| Error::invalid(format!("operand {index} must be a tensor, got {ty}")))
    }

    /// The tensor type of the first result.
    pub(super) fn result_type(&self) -> Result<&TensorType, Error> {
        let ty = self.first_result().ok_or_else(|| Error::invalid("a result is missing"))?;
        ty.tensor().ok_or_else(|| Error::invalid(format!("the result must be a tensor, got {ty}")))
    }

    /// The integers of operand `index`, which has to be a constant of the region or those around it.
    pub(super) fn constant_operand(&mut self, index: usize) -> Result<Vec<i64>, Error> {
        let operand = self.operand(index)?;
        let integers = self.constant(operand).and_then(Literal::integers);
        Ok(integers
            .ok_or_else(|| {
                Error::unsupported(format!("operand {index} must be a constant: dynamic shapes are not supported here"))
            })?
            .collect())
    }

    /// The sizes that operand `index` holds, which has to be a constant.
    pub(super) fn constant_sizes(&mut self, index: usize) -> Result<Vec<usize>, Error> {
        sizes(|| format!("operand {index}"), self.constant_operand(index)?)
    }

    /// Adds an op before this one, and answers with its result.
    pub(super) fn emit(
        &mut self,
        kind: OpKind,
        operands: Vec<ValueId>,
        ty: TensorType,
        regions: Vec<Region>,
    ) -> Result<ValueId, Error> {
        let result = self.add_value(ty)?;
        let location = self.op().location;
        self.add_op(Op { kind, operands, results: vec![result], regions, location });
        Ok(result)
    }
}
