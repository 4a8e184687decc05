//! Faults of a descriptor by itself, found before any call: every message says what to change.

use super::descriptor::{Definition, InputDesc, InputType, OutputDesc, Outputs, Params};
use crate::descriptor::{Handler, Presence, Role};
use crate::torch::schema::{Argument, Base, Parsed, Schema, Type, parse};
use crate::{Error, Result, explain, names};

/// A descriptor whose parts fit its schema.
pub(super) struct Checked {
    /// The namespace that the schema gives.
    pub(super) namespace: Option<String>,
    pub(super) schema: Schema,
    /// The names of the schema's arguments.
    pub(super) names: Vec<String>,
    pub(super) guid: String,
    /// The kernel's operands in order, by the index of the argument.
    pub(super) operands: Vec<(InputType, usize)>,
    pub(super) outputs: Outputs,
    pub(super) params: Option<Params>,
}

fn invalid(message: impl Into<String>) -> Error {
    Error::invalid_argument(message)
}

impl Checked {
    /// # Errors
    /// `INVALID_ARGUMENT`, named after the operator.
    pub(super) fn new(definition: Definition) -> Result<Checked> {
        let Definition { schema: text, guid, inputs, outputs, params } = definition;
        let parsed = parse(&text).map_err(|error| error.context(format_args!("schema `{text}`")))?;
        let Parsed { namespace, schema } = parsed;
        let name = schema.name.clone();
        let inner = move || {
            if guid.is_empty() {
                return Err(invalid("the guid is empty; give the name of a kernel, an operation of the registry"));
            }
            check_types(&schema)?;
            let operands = match inputs {
                Some(inputs) => described(&schema, inputs)?,
                None => tensors(&schema),
            };
            if !matches!(operands.first(), Some((InputType::Tensor, 0))) {
                return Err(invalid("input 0 must be a tensor: outputs take its shape, device and layout"));
            }
            let outputs = match outputs {
                Outputs::Listed(listed) => Outputs::Listed(sorted_outputs(&schema, listed)?),
                function => function,
            };
            let names = schema.args.iter().map(|arg| arg.name.clone()).collect();
            Ok(Checked { namespace, names, guid, operands, outputs, params, schema })
        };
        inner().map_err(|error: Error| error.context(name))
    }

    /// Compares the descriptor with its kernel.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, without the operator's name.
    pub(super) fn check_kernel(&self, kernel: &Handler) -> Result<()> {
        let guid = &self.guid;
        if !kernel.stages.is_empty() {
            return Err(invalid(format!(
                "kernel `{guid}` has an instantiate, prepare or initialize stage, which a descriptor cannot run; take \
                 one that only executes"
            )));
        }
        for (role, given, what) in [
            (Role::Arg, self.operands.len(), "tensor and scalar inputs"),
            (Role::Ret, self.schema.returns.len(), "outputs"),
        ] {
            let (least, most) = explain::arity(kernel, role);
            let open = |&(_, index): &(InputType, usize)| {
                let ty = self.schema.args[index].ty;
                ty.list || ty.optional
            };
            let open = role == Role::Arg && self.operands.iter().any(open);
            if !open && (given < least || most.is_some_and(|most| given > most)) {
                let names: Vec<&str> = explain::parameters(kernel, role).map(|param| param.name).collect();
                return Err(invalid(format!(
                    "the descriptor has {given} {what}, but kernel `{guid}` takes {} ({})",
                    explain::range((least, most)),
                    names.join(", ")
                )));
            }
        }
        let filled = self.params.as_ref().map_or(&[][..], |params| params.names);
        let attrs = || kernel.attrs.iter().map(|attr| attr.name);
        if let Some(unknown) = filled.iter().find(|name| !kernel.extra_attrs && !attrs().any(|attr| attr == **name)) {
            let hint = names::did_you_mean(unknown, attrs());
            return Err(invalid(format!(
                "the parameters have the field `{unknown}`, but kernel `{guid}` has no attribute of this name{hint}"
            )));
        }
        let required = kernel.attrs.iter().filter(|attr| matches!(attr.presence, Presence::Required));
        if let Some(missing) = required.into_iter().find(|attr| !filled.contains(&attr.name)) {
            return Err(invalid(format!(
                "kernel `{guid}` needs the attribute `{}`, which no field of the parameters fills: set a function with \
                 `user_params` (or `fill_params`) whose struct has it",
                missing.name
            )));
        }
        Ok(())
    }
}

/// Refuses what a descriptor has no notion of.
fn check_types(schema: &Schema) -> Result<()> {
    let mut ended = None;
    for Argument { name, ty, mutable, .. } in &schema.args {
        if *mutable {
            return Err(invalid(format!(
                "argument `{name}` is updated in place, but an operator with a descriptor makes new tensors: write \
                 `Tensor {name}`, and return the new value"
            )));
        }
        if matches!(ty.base, Base::ScalarType | Base::Device) || (ty.list && ty.base == Base::Str) {
            return Err(invalid(format!("argument `{name}` has the type `{ty}`, which descriptors do not support")));
        }
        if ty.base == Base::Tensor {
            if let Some(before) = ended {
                return Err(invalid(format!(
                    "tensor `{name}` comes after `{before}`, which may be absent or a list: put the one that may be \
                     last among the tensors"
                )));
            }
            ended = (ty.list || ty.optional).then_some(name);
        }
    }
    match schema.returns.as_slice() {
        [] => Err(invalid("the schema has no result; an operator with a descriptor has at least one")),
        returns if returns.iter().all(|ty| *ty == Type::plain(Base::Tensor)) => Ok(()),
        _ => Err(invalid("the results of an operator with a descriptor are tensors: write `Tensor` for each")),
    }
}

/// All tensors of the schema, as the newer form has it.
fn tensors(schema: &Schema) -> Vec<(InputType, usize)> {
    let tensor = |(index, arg): (usize, &Argument)| (arg.ty.base == Base::Tensor).then_some((InputType::Tensor, index));
    schema.args.iter().enumerate().filter_map(tensor).collect()
}

/// The operands that descriptions of inputs name, in the order of the schema.
fn described(schema: &Schema, inputs: Vec<InputDesc>) -> Result<Vec<(InputType, usize)>> {
    unique(inputs.iter().map(|input| input.index), schema.args.len(), "input", "arguments")?;
    let mut operands = Vec::new();
    for (index, arg) in schema.args.iter().enumerate() {
        let name = &arg.name;
        let Some(input) = inputs.iter().find(|input| input.index == index) else {
            return Err(invalid(format!(
                "argument `{name}` of the schema has no description; add `.input(InputType::..., {index})`"
            )));
        };
        let is_tensor = arg.ty.base == Base::Tensor;
        let number = !arg.ty.list
            && !arg.ty.optional
            && matches!(arg.ty.base, Base::Int | Base::SymInt | Base::Float | Base::Bool | Base::Scalar);
        match input.ty {
            InputType::Tensor if is_tensor => operands.push((InputType::Tensor, index)),
            InputType::Scalar if number => operands.push((InputType::Scalar, index)),
            InputType::UserParams if !is_tensor => {}
            given => {
                let fitting = match (is_tensor, number) {
                    (true, _) => "InputType::Tensor",
                    (false, true) => "InputType::UserParams or InputType::Scalar",
                    (false, false) => "InputType::UserParams",
                };
                return Err(invalid(format!(
                    "argument `{name}` has the type `{}`, but input {index} is described as InputType::{given:?}; \
                     describe it as {fitting}",
                    arg.ty
                )));
            }
        }
    }
    Ok(operands)
}

/// The outputs by their indexes, one for each result of the schema.
fn sorted_outputs(schema: &Schema, mut outputs: Vec<OutputDesc>) -> Result<Vec<OutputDesc>> {
    let returns = schema.returns.len();
    unique(outputs.iter().map(|output| output.index), returns, "output", "results")?;
    if outputs.len() != returns {
        return Err(invalid(format!(
            "the schema has {returns} results, but the number of outputs described is {}; describe each with `.output(index, \
             dtype)`",
            outputs.len()
        )));
    }
    outputs.sort_by_key(|output| output.index);
    Ok(outputs)
}

/// Checks that indexes differ, and are those of the schema.
fn unique(indexes: impl Iterator<Item = usize>, count: usize, what: &str, of: &str) -> Result<()> {
    let mut seen = vec![false; count];
    for index in indexes {
        match seen.get_mut(index) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(invalid(format!("two {what}s have the index {index}: indexes must be unique"))),
            None => return Err(invalid(format!("{what} {index} does not exist: the schema has {count} {of}"))),
        }
    }
    Ok(())
}
