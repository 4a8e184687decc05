//! From the description of an operation to the schema of its operator.

use oxcall_element::torch;
use serde_json::Value;

use super::{Argument, Base, Schema, Type};
use crate::DType;
use crate::descriptor::{
    Arity, AttrParam, AttrType, DTypeRule, DimExpr, Handler, Param, Presence, Role, ShapeRule, Slot,
};
use crate::shape::{Pattern, literal};

/// Whether torch has tensors of this dtype, in some version.
fn exists(dtype: DType) -> bool {
    torch::getter(dtype).is_some()
}

/// One operator, which is one overload, and how a call of it becomes one of the operation.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) schema: Schema,
    /// What each argument of the schema is for.
    pub(crate) sources: Vec<Source>,
}

/// What an argument of a schema is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// The buffer parameter of this index.
    Buffer(usize),
    /// An attribute, or a part of one.
    Attr(AttrSource),
    /// The dtype of the type parameter of this index.
    TypeParam(usize),
    /// The dtype of the result of this parameter, which may be any.
    ResultDType(usize),
}

impl Source {
    /// The names of the parameter, or of the attribute and the fields inside it; `None` for a dtype.
    pub(crate) fn names(&self, handler: &Handler) -> Option<Vec<&'static str>> {
        match self {
            Source::Buffer(index) => Some(vec![handler.params[*index].name]),
            Source::Attr(AttrSource { index, path }) => {
                Some([handler.attrs[*index].name].into_iter().chain(path.iter().copied()).collect())
            }
            Source::TypeParam(_) | Source::ResultDType(_) => None,
        }
    }
}

/// Where in an operation's attributes a value goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttrSource {
    /// The index of the attribute.
    pub(crate) index: usize,
    /// The names of the fields on the way into it, if it is a struct.
    pub(crate) path: Vec<&'static str>,
}

/// Which overload is being made, where an argument is any number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Int,
    Float,
}

/// The operators of an operation: two overloads if an attribute is any number, `` with an `int` and `float` with a
/// `float`.
///
/// # Errors
/// Why torch cannot have the operation.
pub(crate) fn derive(handler: &'static Handler) -> Result<Vec<Operator>, String> {
    let (first, numbers) = Builder::new(handler, Numbers::Int).build()?;
    let mut operators = vec![first];
    if numbers {
        operators.push(Builder::new(handler, Numbers::Float).build()?.0);
    }
    Ok(operators)
}

/// The name of the operator, unless a schema gives another one.
///
/// # Errors
/// If torch does not accept the operation's name.
pub(crate) fn op_name(handler: &Handler) -> Result<String, String> {
    let name = handler.name;
    let word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if word && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(name.to_owned());
    }
    Err(format!("`{name}` is not a name that torch takes; give it another one with `schema = \"...\"`"))
}

struct Builder {
    handler: &'static Handler,
    numbers: Numbers,
    args: Vec<(Argument, Source)>,
    returns: Vec<Type>,
    results: Vec<usize>,
    any_number: bool,
}

impl Builder {
    fn new(handler: &'static Handler, numbers: Numbers) -> Builder {
        Builder { handler, numbers, args: Vec::new(), returns: Vec::new(), results: Vec::new(), any_number: false }
    }

    /// The operator, and whether it has an argument that is any number.
    fn build(mut self) -> Result<(Operator, bool), String> {
        if self.handler.extra_attrs {
            return Err("it takes attributes of any name, for which schemas have no notation".to_owned());
        }
        let attrs = self.handler.attrs;
        for slot in self.handler.signature {
            match slot {
                Slot::Buffer(index) => self.buffer(*index)?,
                Slot::Attr(name) => {
                    let index = attrs.iter().position(|attr| attr.name == *name);
                    let index = index.ok_or_else(|| format!("attribute `{name}` is not described"))?;
                    self.attr(index, Vec::new(), &attrs[index])?;
                }
            }
        }
        // Attributes that only stages before execute take come last.
        let named = |name: &str| self.handler.signature.iter().any(|slot| matches!(slot, Slot::Attr(n) if *n == name));
        let rest: Vec<usize> = (0..attrs.len()).filter(|&index| !named(attrs[index].name)).collect();
        for index in rest {
            self.attr(index, Vec::new(), &attrs[index])?;
        }
        self.dtypes();
        // Arguments with a default follow those without; otherwise the order is that of the signature.
        self.args.sort_by_key(|(arg, _)| arg.default.is_some());
        for (i, (arg, _)) in self.args.iter().enumerate() {
            if self.args[..i].iter().any(|(other, _)| other.name == arg.name) {
                return Err(format!("two of its arguments would have the name `{}`", arg.name));
            }
        }
        let overload = match (self.any_number, self.numbers) {
            (true, Numbers::Float) => "float",
            _ => "",
        };
        let (args, sources) = self.args.into_iter().unzip();
        let schema =
            Schema { name: self.handler.name.to_owned(), overload: overload.to_owned(), args, returns: self.returns };
        Ok((Operator { schema, sources }, self.any_number))
    }

    fn push(&mut self, name: &str, ty: Type, default: Option<String>, mutable: bool, source: Source) {
        let arg = Argument { name: name.to_owned(), ty, default, mutable, keyword: false };
        self.args.push((arg, source));
    }

    fn buffer(&mut self, index: usize) -> Result<(), String> {
        let param = &self.handler.params[index];
        self.known_dtype(param)?;
        let ty =
            Type { base: Base::Tensor, list: param.arity == Arity::Variadic, optional: param.arity == Arity::Optional };
        if param.role == Role::Ret {
            match param.arity {
                // A call never has the results that it may omit.
                Arity::Optional => return Ok(()),
                Arity::Variadic if matches!(self.handler.shape, ShapeRule::Dims) => {
                    return Err(format!("no rule gives the number of results `{}`", param.name));
                }
                _ => {}
            }
            self.returns.push(ty);
            self.results.push(index);
            return Ok(());
        }
        let default = ty.optional.then(|| "None".to_owned());
        self.push(param.name, ty, default, param.role == Role::InOut, Source::Buffer(index));
        Ok(())
    }

    /// Refuses dtypes that no tensor has.
    fn known_dtype(&self, param: &Param) -> Result<(), String> {
        let noun = if param.role == Role::Ret { "result" } else { "argument" };
        let none = |dtypes: &str| Err(format!("{noun} `{}` has dtype {dtypes}, which no tensor has", param.name));
        match param.dtype {
            DTypeRule::One(DType::Token) => Err(format!("{noun} `{}` is a token", param.name)),
            DTypeRule::One(dtype) if !exists(dtype) => none(dtype.name()),
            DTypeRule::Var(var) => {
                let dtypes = self.handler.type_params[var].dtypes;
                if dtypes.iter().any(|dtype| exists(*dtype)) {
                    return Ok(());
                }
                none(&dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(" or "))
            }
            _ => Ok(()),
        }
    }

    /// An attribute, or the field of one that `path` leads to.
    fn attr(&mut self, index: usize, path: Vec<&'static str>, attr: &AttrParam) -> Result<(), String> {
        let source = Source::Attr(AttrSource { index, path: path.clone() });
        let (base, list) = match attr.ty {
            AttrType::Struct(fields) => return self.fields(index, &path, attr, fields),
            AttrType::Scalar(dtype) => (self.scalar(attr.name, dtype)?, false),
            AttrType::Array(dtype) => (self.scalar(attr.name, dtype)?, true),
            AttrType::Var(var) => (self.variable(attr.name, self.handler.type_params[var].dtypes)?, false),
            AttrType::Number => (self.number(), false),
            AttrType::String | AttrType::Enum(_) => (Base::Str, false),
            AttrType::Device => (Base::Device, false),
            AttrType::Dictionary | AttrType::Pointer | AttrType::Any => {
                let what = match attr.ty {
                    AttrType::Dictionary => "a dictionary",
                    AttrType::Pointer => "an address",
                    _ => "of any type",
                };
                return Err(format!("attribute `{}` is {what}, for which schemas have no type", attr.name));
            }
        };
        let (optional, default) = match attr.presence {
            Presence::Required => (false, None),
            Presence::Optional => (true, Some("None".to_owned())),
            // The operation itself handles a default that is not a literal of schemas.
            Presence::Default(text) => match (!list).then(|| default(text, base)).flatten() {
                Some(default) => (false, Some(default)),
                None => (true, Some("None".to_owned())),
            },
        };
        self.push(attr.name, Type { base, list, optional }, default, false, source);
        Ok(())
    }

    /// The fields of a struct as separate arguments. An optional struct is absent if none of its fields is given.
    fn fields(
        &mut self,
        index: usize,
        path: &[&'static str],
        attr: &AttrParam,
        fields: &'static [AttrParam],
    ) -> Result<(), String> {
        let optional = !matches!(attr.presence, Presence::Required);
        if optional && !fields.iter().any(|field| matches!(field.presence, Presence::Required)) {
            return Err(format!(
                "attribute `{}` may be absent, and so may all of its fields: schemas cannot tell the two apart",
                attr.name
            ));
        }
        for field in fields {
            let mut path = path.to_vec();
            path.push(field.name);
            let presence = if optional { Presence::Optional } else { field.presence };
            self.attr(index, path, &AttrParam { presence, ..*field })?;
        }
        Ok(())
    }

    fn scalar(&self, name: &str, dtype: DType) -> Result<Base, String> {
        use DType::*;
        match dtype {
            Pred => Ok(Base::Bool),
            S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64 => {
                Ok(if self.is_dimension(name) { Base::SymInt } else { Base::Int })
            }
            F16 | F32 | F64 | BF16 => Ok(Base::Float),
            _ => Err(format!("attribute `{name}` has dtype {dtype}, for which schemas have no type")),
        }
    }

    /// An attribute of a dispatched type.
    fn variable(&mut self, name: &str, dtypes: &[DType]) -> Result<Base, String> {
        let mut bases = dtypes.iter().filter(|dtype| exists(**dtype)).filter_map(|dtype| {
            // A complex number may be given as a real one.
            let complex = matches!(dtype, DType::C64 | DType::C128);
            Some(if complex { Base::Float } else { self.scalar(name, *dtype).ok()? })
        });
        let Some(first) = bases.next() else {
            return Err(format!("attribute `{name}` has a dtype for which schemas have no type"));
        };
        Ok(if bases.all(|base| base == first) { first } else { self.number() })
    }

    fn number(&mut self) -> Base {
        self.any_number = true;
        match self.numbers {
            Numbers::Int => Base::Int,
            Numbers::Float => Base::Float,
        }
    }

    /// Whether an attribute may be a dimension: then it stays symbolic wherever shapes do.
    fn is_dimension(&self, name: &str) -> bool {
        fn mentions(expr: &DimExpr, name: &str) -> bool {
            match expr {
                DimExpr::Name(other) => *other == name,
                DimExpr::Binary(_, left, right) => mentions(left, name) || mentions(right, name),
                DimExpr::Wildcard | DimExpr::Const(_) => false,
            }
        }
        let patterns = self.handler.params.iter().filter_map(|param| param.dims).map(Pattern);
        let mut used = patterns.flat_map(Pattern::exprs);
        !matches!(self.handler.shape, ShapeRule::Dims) || used.any(|expr| mentions(expr, name))
    }

    /// Arguments for dtypes that no other argument determines.
    fn dtypes(&mut self) {
        let params = self.handler.params;
        let bound = |var| params.iter().any(|param| param.role != Role::Ret && param.dtype == DTypeRule::Var(var));
        // A descriptor gives the dtypes of its results itself.
        let described = matches!(self.handler.shape, ShapeRule::Results(_));
        let results = self.results.iter().filter(|_| !described).map(|&index| (index, &params[index]));
        let free_results: Vec<usize> =
            results.filter(|(_, param)| param.dtype == DTypeRule::Any).map(|(index, _)| index).collect();
        let free: Vec<usize> = (0..self.handler.type_params.len())
            .filter(|&var| !bound(var) && self.handler.type_params[var].dtypes.len() > 1)
            .collect();
        let alone = free.len() + free_results.len() == 1;
        for var in free {
            let name = if alone { "dtype".to_owned() } else { self.handler.type_params[var].name.to_lowercase() };
            self.push(&name, Type::plain(Base::ScalarType), None, false, Source::TypeParam(var));
        }
        for index in free_results {
            let name = if alone { "dtype".to_owned() } else { format!("{}_dtype", params[index].name) };
            let ty = Type { optional: true, ..Type::plain(Base::ScalarType) };
            self.push(&name, ty, Some("None".to_owned()), false, Source::ResultDType(index));
        }
    }
}

/// A default in the notation of schemas, if the expression is a literal of the type.
fn default(source: &str, base: Base) -> Option<String> {
    match (base, literal(source)?) {
        (Base::Int | Base::SymInt, value) => value.as_i64().map(|value| value.to_string()),
        (Base::Float, value) => value.as_f64().map(|value| format!("{value:?}")),
        (Base::Bool, Value::Bool(value)) => Some(if value { "True" } else { "False" }.to_owned()),
        (Base::Str, Value::String(text)) => Some(format!("\"{text}\"")),
        _ => None,
    }
}
