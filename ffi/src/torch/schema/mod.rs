//! Schemas: an operator's name, arguments and results in torch's own notation.

mod derive;
mod explicit;
mod limits;
mod parse;

use std::fmt;

pub(crate) use derive::{AttrSource, Operator, Source, derive, op_name};
pub(crate) use explicit::{operators, wrong_schema};
pub(crate) use limits::without_lists;
pub(crate) use parse::{Parsed, parse};

use crate::DType;

/// The schema of one operator: `custom_op::top_k(SymInt k, Tensor x) -> (Tensor, Tensor)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Schema {
    /// The name without its namespace.
    pub(crate) name: String,
    /// The overload; empty for the one that the name alone calls.
    pub(crate) overload: String,
    /// The arguments.
    pub(crate) args: Vec<Argument>,
    /// The results.
    pub(crate) returns: Vec<Type>,
}

/// An argument of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// The name.
    pub(crate) name: String,
    /// The type.
    pub(crate) ty: Type,
    /// The default, as it is written in a schema.
    pub(crate) default: Option<String>,
    /// Whether it is updated in place: `Tensor(a!)`.
    pub(crate) mutable: bool,
    /// Whether it can be given by name only.
    pub(crate) keyword: bool,
}

/// A type of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    /// The type itself, or that of its members.
    pub(crate) base: Base,
    /// Whether it is a list: `int[]`.
    pub(crate) list: bool,
    /// Whether it may be absent: `Tensor?`, `int[]?`.
    pub(crate) optional: bool,
}

impl Type {
    /// A type that is neither a list nor optional.
    pub(crate) const fn plain(base: Base) -> Type {
        Type { base, list: false, optional: false }
    }
}

/// A basic type of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "torch's own names")]
pub(crate) enum Base {
    Tensor,
    Int,
    SymInt,
    Float,
    Bool,
    Str,
    ScalarType,
    Device,
    /// Any number. Torch passes no values of this type to kernels, so operators have overloads instead.
    Scalar,
}

impl Base {
    const ALL: [(Base, &'static str); 9] = [
        (Base::Tensor, "Tensor"),
        (Base::Int, "int"),
        (Base::SymInt, "SymInt"),
        (Base::Float, "float"),
        (Base::Bool, "bool"),
        (Base::Str, "str"),
        (Base::ScalarType, "ScalarType"),
        (Base::Device, "Device"),
        (Base::Scalar, "Scalar"),
    ];

    /// The dtype of a value of this type as an attribute; `None` if it is not a number.
    pub(crate) fn dtype(self) -> Option<DType> {
        match self {
            Base::Int | Base::SymInt => Some(DType::S64),
            Base::Float => Some(DType::F64),
            Base::Bool => Some(DType::Pred),
            Base::Tensor | Base::Str | Base::ScalarType | Base::Device | Base::Scalar => None,
        }
    }

    const fn name(self) -> &'static str {
        Base::ALL[self as usize].1
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.name())?;
        f.write_str(if self.list { "[]" } else { "" })?;
        f.write_str(if self.optional { "?" } else { "" })
    }
}

/// The schema without a namespace, as `torch.library.define` takes it.
impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.overload.is_empty() {
            write!(f, ".{}", self.overload)?;
        }
        f.write_str("(")?;
        // Each tensor that is updated is a separate alias set.
        let mut sets = ('a'..='z').map(String::from).chain((0..).map(|i| format!("a{i}")));
        let mut keyword = false;
        for (i, arg) in self.args.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            if arg.keyword && !keyword {
                f.write_str("*, ")?;
                keyword = true;
            }
            if arg.mutable {
                let set = sets.next().unwrap_or_default();
                write!(f, "{}({set}!){} {}", arg.ty.base.name(), if arg.ty.optional { "?" } else { "" }, arg.name)?;
            } else {
                write!(f, "{} {}", arg.ty, arg.name)?;
            }
            if let Some(default) = &arg.default {
                write!(f, "={default}")?;
            }
        }
        f.write_str(") -> ")?;
        match self.returns.as_slice() {
            [one] => write!(f, "{one}"),
            several => {
                f.write_str("(")?;
                for (i, ty) in several.iter().enumerate() {
                    write!(f, "{}{ty}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}
