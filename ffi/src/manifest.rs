//! The manifest: a library's operations as JSON, for hosts in other languages.

use serde_json::{Value, json};

use crate::descriptor::{Arity, AttrParam, AttrType, DTypeRule, Handler, Param, Presence, Role, ShapeRule, Stage};
use crate::registry::Registry;
use crate::shape::Pattern;

/// The version of the manifest and of the C boundary.
pub(crate) const ABI_VERSION: u32 = 1;

/// The manifest of a registry.
pub(crate) fn manifest(registry: &Registry) -> Value {
    json!({
        "abi": ABI_VERSION,
        "oxcall": env!("CARGO_PKG_VERSION"),
        "errors": registry.problems().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "ops": registry.handlers().iter().map(|handler| op(handler)).collect::<Vec<_>>(),
    })
}

fn op(handler: &Handler) -> Value {
    let mut stages: Vec<Stage> = handler.stages.iter().map(|stage| stage.stage).collect();
    stages.push(Stage::Execute);
    stages.sort();
    json!({
        "name": handler.name,
        "target": handler.target(),
        "platform": handler.platform,
        "doc": handler.doc,
        "module": handler.module,
        "file": handler.file,
        "line": handler.line,
        "stages": stages.into_iter().map(Stage::name).collect::<Vec<_>>(),
        "traits": {
            "command_buffer": handler.traits.command_buffer,
            "side_effect": handler.traits.side_effect,
        },
        "batch": handler.traits.batch,
        "vmap": handler.traits.vmap,
        "vmap_op": handler.traits.vmap_op,
        "vjp": handler.traits.vjp,
        "jvp": handler.traits.jvp,
        "fwd": handler.traits.fwd,
        "transpose": handler.traits.transpose,
        "nondiff": handler.traits.nondiff,
        "autocast": handler.traits.autocast,
        "broadcast": handler.traits.broadcast,
        "expands": handler.traits.expands(),
        "legacy": handler.legacy.is_some(),
        "extra_attrs": handler.extra_attrs,
        "type_params": handler.type_params.iter().map(|param| json!({
            "name": param.name,
            "dtypes": param.dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "params": handler.params.iter().map(param).collect::<Vec<_>>(),
        "attrs": handler.attrs.iter().map(attr).collect::<Vec<_>>(),
        "shape": match handler.shape {
            ShapeRule::Dims => "dims",
            ShapeRule::Function(_) | ShapeRule::Results(_) => "function",
        },
    })
}

fn param(param: &Param) -> Value {
    json!({
        "role": match param.role {
            Role::Arg => "arg",
            Role::Ret => "ret",
            Role::InOut => "inout",
        },
        "name": param.name,
        "dtype": match param.dtype {
            DTypeRule::Any => Value::Null,
            DTypeRule::One(dtype) => dtype.name().into(),
            DTypeRule::Var(var) => json!({ "var": var }),
        },
        "rank": param.rank,
        "dims": param.dims.map(|dims| Pattern(dims).to_string()),
        "arity": match param.arity {
            Arity::One => "one",
            Arity::Optional => "optional",
            Arity::Variadic => "variadic",
        },
        "sum": param.sum,
    })
}

fn attr(attr: &AttrParam) -> Value {
    let mut value = json!({
        "name": attr.name,
        "type": attr_type(attr.ty),
        "presence": match attr.presence {
            Presence::Required => "required",
            Presence::Optional => "optional",
            Presence::Default(_) => "default",
        },
    });
    if let Presence::Default(text) = attr.presence {
        value["default"] = text.into();
    }
    value
}

fn attr_type(ty: AttrType) -> Value {
    match ty {
        AttrType::Scalar(dtype) => dtype.name().into(),
        AttrType::Var(var) => json!({ "var": var }),
        AttrType::String => "str".into(),
        AttrType::Array(dtype) => json!({ "array": dtype.name() }),
        AttrType::Enum(variants) => json!({ "enum": variants }),
        AttrType::Struct(fields) => json!({ "struct": fields.iter().map(attr).collect::<Vec<_>>() }),
        AttrType::Dictionary => "dict".into(),
        AttrType::Pointer => "ptr".into(),
        AttrType::Number => "number".into(),
        AttrType::Device => "device".into(),
        AttrType::Any => "any".into(),
    }
}
