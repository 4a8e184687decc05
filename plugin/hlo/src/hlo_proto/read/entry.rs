//! The entry computation as clients see it: tuples among its parameters and results are their leaves.

use oxcall_proto::Message;

use super::super::fields::{ENTRIES, alias, donor, module, program_shape};
use super::computation::FuncReader;
use super::sharding::Sharding;
use super::{call, shape, size, sizes};
use crate::{ArgAttributes, Attribute, ElementType, Error, Func, LocationId, Type, ValueId};

/// The paths to the leaves of a value, in order.
type Paths = Vec<Vec<usize>>;

/// Where the entry function's own parameters and results were.
pub(super) struct Leaves {
    /// The types of the computation's parameters.
    params: Vec<Type>,
    /// The type of its root.
    root: Type,
    /// The leaves of each parameter.
    inputs: Vec<Paths>,
    /// The leaves of its result.
    outputs: Paths,
}

/// Reads the entry computation.
pub(super) fn read(mut func: FuncReader<'_>, message: Message<'_>) -> Result<(Func, Leaves), Error> {
    let (params, instructions) = func.parameters(message)?;
    let (mut flat, mut inputs) = (Vec::new(), Vec::with_capacity(params.len()));
    let mut param_shardings = Vec::new();
    let types = params.iter().map(|&param| func.ty(param).clone()).collect();
    for param in params {
        let paths = parameter(&mut func, param, &mut flat)?;
        param_shardings.extend(attributes(&func, param, paths.len()));
        inputs.push(paths);
    }
    let root = func.body(message, instructions)?;
    let mut results = Vec::new();
    let outputs = result(&mut func, root, &mut results)?;
    let result_shardings = attributes(&func, root, outputs.len());
    let root = func.ty(root).clone();
    let mut func = func.finish(flat, results);
    (func.param_attributes, func.result_attributes) = (param_shardings, result_shardings);
    Ok((func, Leaves { params: types, root, inputs, outputs }))
}

/// The attributes of the `count` leaves of a value: how they are split over devices.
fn attributes(func: &FuncReader<'_>, value: ValueId, count: usize) -> Vec<ArgAttributes> {
    let shardings = func.shardings.get(&value).map(|sharding| sharding.leaves(count)).unwrap_or_default();
    let attributes = |leaf: usize| shardings.get(leaf).map(|&text| call::split(&Sharding::All(text.to_owned())));
    (0..count).map(|leaf| attributes(leaf).into_iter().collect()).collect()
}

/// Adds the leaves of a parameter, and the ops that make it of them. The answer is their paths.
fn parameter(func: &mut FuncReader<'_>, param: ValueId, flat: &mut Vec<ValueId>) -> Result<Paths, Error> {
    let Type::Tuple(types) = func.ty(param).clone() else {
        flat.push(param);
        return Ok(vec![Vec::new()]);
    };
    let (mut paths, mut elements) = (Vec::new(), Vec::with_capacity(types.len()));
    for (index, ty) in types.into_iter().enumerate() {
        let element = func.add_value(ty)?;
        elements.push(element);
        paths.extend(below(index, parameter(func, element, flat)?));
    }
    func.add_tuple(elements, param, LocationId::UNKNOWN);
    Ok(paths)
}

/// Adds the leaves of a result. The answer is their paths.
fn result(func: &mut FuncReader<'_>, value: ValueId, flat: &mut Vec<ValueId>) -> Result<Paths, Error> {
    let Type::Tuple(types) = func.ty(value) else {
        flat.push(value);
        return Ok(vec![Vec::new()]);
    };
    let mut paths = Vec::new();
    for index in 0..types.len() {
        let element = func.element(value, index, LocationId::UNKNOWN)?;
        paths.extend(below(index, result(func, element, flat)?));
    }
    Ok(paths)
}

/// The paths of what is in element `index`.
fn below(index: usize, paths: Paths) -> impl Iterator<Item = Vec<usize>> {
    paths.into_iter().map(move |mut path| {
        path.insert(0, index);
        path
    })
}

/// Gives parameters the attributes that the module's aliases and donors say.
pub(super) fn set_attributes(func: &mut Func, leaves: &Leaves, module: Message<'_>) -> Result<(), Error> {
    for entry in entries(module, module::ALIASES)? {
        let output = sizes(entry, alias::OUTPUT, "the output of an alias")?;
        let input = leaves.input(entry, alias::PARAMETER, alias::PARAMETER_PATH)?;
        let output = leaves.outputs.iter().position(|path| *path == output);
        let output = output.ok_or_else(|| Error::invalid("input_output_alias names an output that does not exist"))?;
        set(func, input, "tf.aliasing_output", Attribute::Integer(output as i64, ElementType::S32));
    }
    for entry in entries(module, module::DONORS)? {
        let input = leaves.input(entry, donor::PARAMETER, donor::PARAMETER_PATH)?;
        set(func, input, "jax.buffer_donor", Attribute::Bool(true));
    }
    Ok(())
}

/// A part of the program's shape.
fn said_shape(message: Message<'_>) -> Result<Type, Error> {
    shape::read(message).map_err(|error| call::in_part(error, "host_program_shape"))
}

/// The error for a program's shape that is not its entry computation's.
fn mismatch(what: String) -> Error {
    Error::invalid(format!("the module's host_program_shape says {what}"))
}

/// The entries of a message of the module that is a list of them.
fn entries(module: Message<'_>, number: u32) -> Result<Vec<Message<'_>>, Error> {
    Ok(module.message(number)?.unwrap_or_default().messages(ENTRIES)?)
}

impl Leaves {
    /// An error unless the program's shape, if the module says it, is that of the entry computation. As in XLA, bounds
    /// and layouts may differ: those of the computation count, and arguments and results are row-major.
    pub(super) fn check(&self, module: Message<'_>) -> Result<(), Error> {
        let Some(said) = module.message(module::PROGRAM_SHAPE)? else { return Ok(()) };
        let params = said.messages(program_shape::PARAMETERS)?;
        if params.len() != self.params.len() {
            let (said, got) = (params.len(), self.params.len());
            return Err(mismatch(format!("{said} parameters, but its entry computation takes {got}")));
        }
        for (index, (message, ty)) in params.into_iter().zip(&self.params).enumerate() {
            let said = said_shape(message)?;
            if said != *ty {
                return Err(mismatch(format!(
                    "parameter {index} to be {said}, but in its entry computation it is {ty}"
                )));
            }
        }
        let result = said_shape(said.message(program_shape::RESULT)?.unwrap_or_default())?;
        if result != self.root {
            return Err(mismatch(format!("the result to be {result}, but the root is {}", self.root)));
        }
        Ok(())
    }

    /// The index of the parameter that an entry names.
    fn input(&self, entry: Message<'_>, number: u32, path: u32) -> Result<usize, Error> {
        let (number, path) = (size(entry, number, "a parameter")?, sizes(entry, path, "the path in a parameter")?);
        let leaf = self.inputs.get(number).and_then(|leaves| leaves.iter().position(|each| *each == path));
        let leaf =
            leaf.ok_or_else(|| Error::invalid(format!("parameter {number} {path:?} is donated, but does not exist")))?;
        Ok(self.inputs[..number].iter().map(Vec::len).sum::<usize>() + leaf)
    }
}

/// Gives a parameter an attribute, unless it has one of this name: attributes stay sorted by name.
fn set(func: &mut Func, param: usize, name: &str, value: Attribute) {
    let attributes = &mut func.param_attributes[param];
    if let Err(at) = attributes.binary_search_by(|(each, _)| each.as_str().cmp(name)) {
        attributes.insert(at, (name.to_owned(), value));
    }
}
