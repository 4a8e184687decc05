//! From a schema to the handler's parameters, and from a call's operands and attributes to the stack.

use std::ops::Range;

use serde_json::Value as Json;

use super::check::Checked;
use super::descriptor::Outputs;
use super::stack::{Stack, Value};
use crate::attr::{Attr, AttrStorage, FromAttr};
use crate::buffer::BufferRef;
use crate::descriptor::{Arity, AttrParam, AttrType, DTypeRule, Handler, Param, Presence, Role, Slot};
use crate::shape::{Shape, ShapeContext, literal};
use crate::torch::schema::{Argument, Base, Type};
use crate::{DType, Error, Result, explain, names};

/// The parts of a handler's description that come from a descriptor.
pub(super) struct Signature {
    pub(super) params: Vec<Param>,
    pub(super) attrs: Vec<AttrParam>,
    pub(super) slots: Vec<Slot>,
}

fn leaked(text: &str) -> &'static str {
    text.to_owned().leak()
}

impl Checked {
    /// The handler's parameters: tensors as arguments, all else as attributes, outputs as results.
    pub(super) fn signature(&self) -> Signature {
        let (mut params, mut attrs, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for arg in &self.schema.args {
            let name = leaked(&arg.name);
            if arg.ty.base == Base::Tensor {
                slots.push(Slot::Buffer(params.len()));
                params.push(param(name, Role::Arg, DTypeRule::Any, arity(arg.ty)));
            } else {
                slots.push(Slot::Attr(name));
                attrs.push(AttrParam { name, ty: attr_type(arg.ty), presence: presence(arg) });
            }
        }
        for index in 0..self.schema.returns.len() {
            let dtype = match &self.outputs {
                Outputs::Listed(outputs) => DTypeRule::One(outputs[index].dtype),
                Outputs::Function(_) => DTypeRule::Any,
            };
            slots.push(Slot::Buffer(params.len()));
            params.push(param(leaked(&format!("output{index}")), Role::Ret, dtype, Arity::One));
        }
        attrs.sort_by_key(|attr| attr.name);
        Signature { params, attrs, slots }
    }

    /// Which operands of a call with `count` of them belong to the argument `index` of the schema, a tensor.
    pub(super) fn operands_of(&self, index: usize, count: usize) -> Range<usize> {
        let tensors = || self.schema.args.iter().enumerate().filter(|(_, arg)| arg.ty.base == Base::Tensor);
        let start = tensors().take_while(|(other, _)| *other < index).count().min(count);
        let open = self.schema.args[index].ty != Type::plain(Base::Tensor);
        start..if open { count } else { (start + 1).min(count) }
    }

    /// The stack of a call whose results are asked for.
    pub(super) fn stack_of_shapes(&self, call: &ShapeContext<'_>) -> Result<Stack<'_>> {
        self.stack(call.args(), |arg| match call.attr::<Option<&Json>>(&arg.name)? {
            Some(value) => from_json(arg, value).map(Some),
            None => Ok(None),
        })
    }

    /// The stack of a call that is executed.
    pub(super) fn stack_of_call(
        &self,
        handler: &'static Handler,
        args: &[BufferRef<'_>],
        attrs: &AttrStorage<'_, Vec<u32>, Vec<*const std::ffi::c_void>>,
    ) -> Result<Stack<'_>> {
        let shapes = args.iter().map(|arg| Ok(Shape::new(dtype_of(arg)?, arg.dims()))).collect::<Result<Vec<_>>>()?;
        self.stack(&shapes, |arg| {
            let index = handler.attrs.iter().position(|attr| attr.name == arg.name);
            let Some((name, attr)) = index.and_then(|index| Some((handler.attrs[index].name, attrs.get(index)?)))
            else {
                return Ok(None);
            };
            from_attr(arg.ty, attr).map(Some).map_err(|error| explain::attribute(handler, name, error))
        })
    }

    /// The stack of a call with these operands; `attribute` gives the values that are not tensors.
    fn stack(&self, shapes: &[Shape], attribute: impl Fn(&Argument) -> Result<Option<Value>>) -> Result<Stack<'_>> {
        let mut values = Vec::with_capacity(self.schema.args.len());
        for (index, arg) in self.schema.args.iter().enumerate() {
            values.push(if arg.ty.base == Base::Tensor {
                let members = &shapes[self.operands_of(index, shapes.len())];
                match (arg.ty.list, members) {
                    (true, members) => Value::Tensors(members.to_vec()),
                    (false, [shape]) => Value::Tensor(shape.clone()),
                    (false, _) => Value::None,
                }
            } else {
                match attribute(arg)? {
                    Some(value) => value,
                    None => default(arg)?,
                }
            });
        }
        Ok(Stack { names: &self.names, values })
    }
}

fn param(name: &'static str, role: Role, dtype: DTypeRule, arity: Arity) -> Param {
    Param { name, role, dtype, rank: None, dims: None, arity, sum: false }
}

fn arity(ty: Type) -> Arity {
    match (ty.list, ty.optional) {
        (true, _) => Arity::Variadic,
        (false, true) => Arity::Optional,
        (false, false) => Arity::One,
    }
}

fn attr_type(ty: Type) -> AttrType {
    let dtype = match ty.base {
        Base::Bool => DType::Pred,
        Base::Float => DType::F64,
        Base::Str => return AttrType::String,
        Base::Scalar => return AttrType::Number,
        _ => DType::S64,
    };
    if ty.list { AttrType::Array(dtype) } else { AttrType::Scalar(dtype) }
}

fn presence(arg: &Argument) -> Presence {
    match arg.default.as_deref() {
        Some("None") => Presence::Optional,
        Some(text) => Presence::Default(leaked(in_rust(text))),
        None if arg.ty.optional => Presence::Optional,
        None => Presence::Required,
    }
}

/// A default of a schema as an expression of Rust.
fn in_rust(default: &str) -> &str {
    match default {
        "True" => "true",
        "False" => "false",
        other => other,
    }
}

/// The value of an argument that is absent.
fn default(arg: &Argument) -> Result<Value> {
    match arg.default.as_deref() {
        None | Some("None") => Ok(Value::None),
        Some(text) => {
            let value = literal(in_rust(text)).or_else(|| serde_json::from_str(text).ok());
            from_json(arg, &value.unwrap_or(Json::Null))
        }
    }
}

fn from_json(arg: &Argument, value: &Json) -> Result<Value> {
    let list = |value: &Json| value.as_array().cloned();
    let converted = match (arg.ty.base, arg.ty.list) {
        (Base::Bool, false) => value.as_bool().map(Value::Bool),
        (Base::Float, false) => value.as_f64().map(Value::Float),
        (Base::Str, false) => value.as_str().map(|text| Value::Str(text.to_owned())),
        (Base::Scalar, false) => value.as_i64().map(Value::Int).or_else(|| value.as_f64().map(Value::Float)),
        (_, false) => value.as_i64().map(Value::Int),
        (Base::Bool, true) => list(value).and_then(|l| l.iter().map(Json::as_bool).collect()).map(Value::Bools),
        (Base::Float, true) => list(value).and_then(|l| l.iter().map(Json::as_f64).collect()).map(Value::Floats),
        (_, true) => list(value).and_then(|l| l.iter().map(Json::as_i64).collect()).map(Value::Ints),
    };
    converted.ok_or_else(|| {
        Error::invalid_argument(format!("argument `{}` has the type `{}`, but is {value}", arg.name, arg.ty))
    })
}

fn from_attr(ty: Type, attr: Attr<'_>) -> Result<Value, crate::attr::AttrError> {
    Ok(match (ty.base, ty.list) {
        (Base::Bool, false) => Value::Bool(bool::from_attr(attr)?),
        (Base::Float, false) => Value::Float(f64::from_attr(attr)?),
        (Base::Str, false) => Value::Str(String::from_attr(attr)?),
        (Base::Scalar, false) => match i64::from_attr(attr) {
            Ok(value) => Value::Int(value),
            Err(_) => Value::Float(f64::from_attr(attr)?),
        },
        (_, false) => Value::Int(i64::from_attr(attr)?),
        (Base::Bool, true) => Value::Bools(Vec::from_attr(attr)?),
        (Base::Float, true) => Value::Floats(Vec::from_attr(attr)?),
        (_, true) => Value::Ints(Vec::from_attr(attr)?),
    })
}

/// The dtype of a buffer.
///
/// # Errors
/// `INVALID_ARGUMENT` if this version does not know it.
pub(super) fn dtype_of(buffer: &BufferRef<'_>) -> Result<DType> {
    let code = buffer.dtype_code();
    DType::from_code(code)
        .ok_or_else(|| Error::invalid_argument(format!("an operand has {}", names::describe_dtype(code))))
}
