//! Instructions that apply computations or call what is outside of the program.

use oxcall_proto::Message;

use super::super::fields::{instruction as field, map, operand_alias, shape as shape_fields};
use super::computation::FuncReader;
use super::instruction::Instruction;
use super::sharding::Sharding;
use super::{shape, size, sizes};
use crate::{
    Alias, Attribute, CustomCall, CustomCallApiVersion, ElementType, Error, FuncId, LocationId, Op, OpKind, Region,
    Type, ValueId, text,
};

/// The types of a computation's parameters and result.
fn signature<'m>(func: &'m FuncReader<'_>, callee: FuncId) -> (impl ExactSizeIterator<Item = &'m Type>, &'m Type) {
    let callee = &func.module.funcs[callee.0 as usize];
    let params = callee.body.params.iter().map(|&param| callee.ty(param));
    (params, callee.ty(callee.body.results[0]))
}

/// An error unless a computation takes `operands` and gives `result`.
fn check(func: &FuncReader<'_>, callee: FuncId, operands: &[ValueId], result: &Type) -> Result<(), Error> {
    let (params, given) = signature(func, callee);
    if params.len() != operands.len() {
        let message = format!("the computation takes {} operands, got {}", params.len(), operands.len());
        return Err(Error::invalid(message));
    }
    for (index, (param, &operand)) in params.zip(operands).enumerate() {
        let operand = func.ty(operand);
        if param != operand {
            return Err(Error::invalid(format!("parameter {index} of the computation takes {param}, got {operand}")));
        }
    }
    if given != result {
        return Err(Error::invalid(format!("the computation must return {result}, got {given}")));
    }
    Ok(())
}

/// A call of a computation, which belongs to a region or comes before an op.
fn call_op(callee: FuncId, operands: Vec<ValueId>, result: ValueId, location: LocationId) -> Op {
    Op { kind: OpKind::Call(callee), operands, results: vec![result], regions: Vec::new(), location }
}

pub(crate) fn call(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let callee = instruction.called(func.module, 1)?[0];
    check(func, callee, &instruction.operands, &instruction.ty)?;
    let kind = match composite(instruction.message)? {
        Some((name, attributes, version)) => {
            OpKind::Composite { name: name.to_owned(), attributes, decomposition: callee, version }
        }
        None => OpKind::Call(callee),
    };
    func.one(instruction, kind, Vec::new())
}

/// What a call stands for, if that is said: its name, its attributes, and the version.
type CompositeParts<'a> = (&'a str, Vec<(String, Attribute)>, i64);

fn composite(message: Message<'_>) -> Result<Option<CompositeParts<'_>>, Error> {
    if !message.bool(field::IS_COMPOSITE)? {
        return Ok(None);
    }
    let (mut name, mut attributes, mut version) = ("", Vec::new(), 0);
    let entries = message.message(field::FRONTEND_ATTRIBUTES)?.unwrap_or_default();
    for entry in entries.messages(map::ENTRIES)? {
        let value = entry.text(map::VALUE)?;
        match entry.text(map::KEY)? {
            "composite.name" => name = value.trim_matches('"'),
            "composite.attributes" if !value.is_empty() => attributes = text::parse_dictionary(value)?,
            "composite.version" => {
                let number = value.parse();
                version = number
                    .map_err(|_| Error::invalid(format!("composite.version must be an integer, got `{value}`")))?;
            }
            _ => {}
        }
    }
    Ok((!name.is_empty()).then_some((name, attributes, version)))
}

/// A region of a loop: its parameter is the operand of the computation that it calls.
fn loop_region(
    func: &mut FuncReader<'_>,
    callee: FuncId,
    ty: Type,
    result: Type,
    at: LocationId,
) -> Result<Region, Error> {
    let (param, result) = (func.add_value(ty)?, func.add_value(result)?);
    Ok(Region { params: vec![param], ops: vec![call_op(callee, vec![param], result, at)], results: vec![result] })
}

/// A loop, which carries one value.
pub(crate) fn repeat(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let [body, cond] = instruction.called(func.module, 2)?[..] else { unreachable!("counted") };
    let holds = Type::from(crate::TensorType::scalar(ElementType::Pred));
    check(func, body, &instruction.operands, &instruction.ty).map_err(|error| in_part(error, "body"))?;
    check(func, cond, &instruction.operands, &holds).map_err(|error| in_part(error, "condition"))?;
    let (ty, at) = (instruction.ty.clone(), instruction.location);
    let cond = loop_region(func, cond, ty.clone(), holds, at)?;
    let body = loop_region(func, body, ty.clone(), ty, at)?;
    func.one(instruction, OpKind::While, vec![cond, body])
}

/// The error with the part of an instruction or module that it is about.
pub(super) fn in_part(mut error: Error, part: &str) -> Error {
    error.message = format!("{part}: {}", error.message);
    error
}

/// A branch on the first operand; each of the others belongs to one computation.
pub(crate) fn conditional(func: &mut FuncReader<'_>, mut instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let called = instruction.all_called(func.module)?;
    if instruction.operands.len() != called.len() + 1 {
        let operands = instruction.operands.len();
        return Err(Error::invalid(format!(
            "expected an index and an operand for each of {} computations, got {operands} operands",
            called.len()
        )));
    }
    let mut regions = Vec::with_capacity(called.len());
    for (index, callee) in called.into_iter().enumerate() {
        let operands = &instruction.operands[index + 1..][..1];
        check(func, callee, operands, &instruction.ty).map_err(|error| in_part(error, &format!("branch {index}")))?;
        let operands = operands.to_vec();
        let result = func.add_value(instruction.ty.clone())?;
        let ops = vec![call_op(callee, operands, result, instruction.location)];
        regions.push(Region { params: Vec::new(), ops, results: vec![result] });
    }
    instruction.operands.truncate(1);
    let index = func.ty(instruction.operand(0)?).tensor().map(|ty| ty.element);
    let kind = if index == Some(ElementType::Pred) { OpKind::If } else { OpKind::Case };
    func.one(instruction, kind, regions)
}

/// A region that applies a computation to `count` scalars. A tuple that it gives becomes several results.
pub(super) fn scalar_region(
    func: &mut FuncReader<'_>,
    instruction: &Instruction<'_>,
    callee: FuncId,
    count: usize,
) -> Result<Region, Error> {
    let is_scalar = |ty: &Type| ty.tensor().is_some_and(|ty| ty.rank() == 0);
    let (params, result) = signature(func, callee);
    if params.len() != count {
        return Err(Error::invalid(format!("the computation must take {count} operands, got {}", params.len())));
    }
    let params: Vec<Type> = params.filter(|ty| is_scalar(ty)).cloned().collect();
    let given = match result {
        Type::Tuple(types) => types.as_slice(),
        ty => std::slice::from_ref(ty),
    };
    if params.len() != count || given.len() > count || !given.iter().all(is_scalar) {
        return Err(Error::invalid("the computation must take and return scalars"));
    }
    let (result, location) = (result.clone(), instruction.location);
    let params = params.into_iter().map(|ty| func.add_value(ty)).collect::<Result<Vec<_>, _>>()?;
    let value = func.add_value(result.clone())?;
    let mut ops = vec![call_op(callee, params.clone(), value, location)];
    let Type::Tuple(types) = result else { return Ok(Region { params, ops, results: vec![value] }) };
    let mut results = Vec::with_capacity(types.len());
    for (index, ty) in types.into_iter().enumerate() {
        let element = func.add_value(ty)?;
        let kind = OpKind::GetTupleElement { index };
        ops.push(Op { kind, operands: vec![value], results: vec![element], regions: Vec::new(), location });
        results.push(element);
    }
    Ok(Region { params, ops, results })
}

/// A call of what is outside of the program.
pub(crate) fn custom_call(func: &mut FuncReader<'_>, instruction: Instruction<'_>) -> Result<ValueId, Error> {
    let message = instruction.message;
    let version = message.int(field::API_VERSION)?;
    let api_version = usize::try_from(version).ok().and_then(|index| CustomCallApiVersion::ALL.get(index).copied());
    let api_version =
        api_version.ok_or_else(|| Error::invalid(format!("unknown API version {version} of custom calls")))?;
    let (operand_layouts, result_layouts) = layouts(message)?;
    let call = CustomCall {
        target: message.text(field::TARGET)?.to_owned(),
        has_side_effect: message.bool(field::SIDE_EFFECT)?,
        backend_config: backend_config(message, api_version)?,
        attributes: Sharding::of(message)?.iter().map(split).collect(),
        api_version,
        operand_layouts,
        result_layouts,
        aliases: message.messages(field::ALIASES)?.into_iter().map(alias).collect::<Result<_, _>>()?,
        called_computations: instruction.all_called(func.module)?,
    };
    func.one(instruction, OpKind::CustomCall(Box::new(call)), Vec::new())
}

/// What says how the value of a call is split.
pub(super) fn split(sharding: &Sharding) -> (String, Attribute) {
    ("mhlo.sharding".to_owned(), Attribute::String(sharding.to_string().into_bytes()))
}

/// The call that says how its operand is split.
pub(super) fn constraint(sharding: &str) -> CustomCall {
    CustomCall {
        target: "Sharding".to_owned(),
        has_side_effect: false,
        backend_config: Attribute::String(Vec::new()),
        attributes: vec![split(&Sharding::All(sharding.to_owned()))],
        api_version: CustomCallApiVersion::Original,
        operand_layouts: None,
        result_layouts: None,
        aliases: Vec::new(),
        called_computations: Vec::new(),
    }
}

/// What a call is configured with: bytes, of which typed calls have a dictionary as text.
fn backend_config(message: Message<'_>, api_version: CustomCallApiVersion) -> Result<Attribute, Error> {
    let config = message.bytes(field::BACKEND_CONFIG)?;
    if api_version != CustomCallApiVersion::TypedFfi {
        return Ok(Attribute::String(config.to_vec()));
    }
    let config = std::str::from_utf8(config).map_err(|_| Error::invalid("backend_config must be UTF-8"))?;
    let entries = if config.trim().is_empty() { Ok(Vec::new()) } else { text::parse_dictionary(config) };
    entries.map(Attribute::Dictionary).map_err(|error| in_part(error, "backend_config"))
}

/// A list of layouts, minor to major.
type Layouts = Option<Vec<Vec<usize>>>;

/// The layouts of operands and results, if the call asks for some.
fn layouts(message: Message<'_>) -> Result<(Layouts, Layouts), Error> {
    if !message.bool(field::CONSTRAIN_LAYOUT)? {
        return Ok((None, None));
    }
    let operands = message.messages(field::OPERAND_SHAPES)?.into_iter().map(layout).collect::<Result<_, _>>()?;
    let result = message.message(field::SHAPE)?.unwrap_or_default();
    let elements = result.messages(shape_fields::TUPLE)?;
    let is_tuple = matches!(shape::read(result)?, Type::Tuple(_));
    let results = if is_tuple { elements } else { vec![result] };
    Ok((Some(operands), Some(results.into_iter().map(layout).collect::<Result<_, _>>()?)))
}

/// The layout of an array; of anything else, none.
fn layout(message: Message<'_>) -> Result<Vec<usize>, Error> {
    match shape::read(message)? {
        Type::Tensor(ty) => shape::minor_to_major(message, &ty),
        _ => Ok(Vec::new()),
    }
}

fn alias(message: Message<'_>) -> Result<Alias, Error> {
    Ok(Alias {
        output: sizes(message, operand_alias::OUTPUT, "the output of an alias")?,
        operand: size(message, operand_alias::OPERAND, "the operand of an alias")?,
        operand_path: sizes(message, operand_alias::OPERAND_PATH, "the path in an operand")?,
    })
}
