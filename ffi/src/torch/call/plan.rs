//! Plans of operators: per-operator data, computed at registration.

use xla_ffi_sys::xla_ffi as sys;

use super::attrs::AttrNames;
use super::context::Contexts;
use crate::descriptor::{Arity, DTypeRule, DimExpr, DimPattern, HOST, Handler, Param, Role, ShapeRule};
use crate::shape::Pattern;
use crate::torch::libtorch::device::Device;
use crate::torch::libtorch::dtype::with_names_of_torch;
use crate::torch::libtorch::shim::Shim;
use crate::torch::schema::{AttrSource, Operator, Source, Type};
use crate::{DType, Error, Result, panics};

/// The translation of an operator's calls to calls of its operation.
pub(crate) struct Plan {
    pub(crate) shim: &'static Shim,
    pub(crate) handler: &'static Handler,
    /// The operator's name.
    pub(crate) name: String,
    /// The use of each value on the stack.
    pub(crate) inputs: Vec<Input>,
    /// The parameters of the arguments; the last one may be variadic.
    pub(crate) args: Vec<&'static Param>,
    /// Whether the last argument is variadic.
    pub(crate) variadic: bool,
    /// Whether each argument is present exactly once.
    pub(crate) fixed: bool,
    /// The arguments that are updated in place.
    pub(crate) in_place: Vec<usize>,
    /// The results in the operation's order, including those in place.
    pub(crate) outputs: Vec<Output>,
    /// Whether a user's function gives the shapes.
    pub(crate) by_function: bool,
    /// Whether results have the memory format of the first argument.
    pub(crate) keeps_memory_format: bool,
    pub(crate) names: AttrNames,
    /// The device of the results, unless it is that of the first argument.
    pub(crate) device: Device,
    /// Whether the operation runs on the host, and its results are there.
    pub(crate) on_host: bool,
    pub(crate) contexts: Contexts,
}

/// The use of a value on the stack.
#[derive(Debug)]
pub(crate) enum Input {
    /// A tensor: the argument of this index.
    Tensor(usize),
    /// A number: the attribute of this index, with this dtype.
    Scalar(usize, sys::XLA_FFI_DataType),
    /// Any other value.
    Other(Type, Destination),
}

/// The destination of a value that is neither a plain tensor nor a plain number.
#[derive(Debug)]
pub(crate) enum Destination {
    /// The argument of this index; for a list, all arguments from there on.
    Arg(usize),
    /// An attribute.
    Attr(AttrSource),
    /// The dtype of a type parameter.
    TypeParam(usize),
    /// The dtype of the result of this parameter.
    ResultDType(usize),
}

/// One result of the operation, or the results of a variadic parameter.
#[derive(Debug)]
pub(crate) struct Output {
    /// The index of its parameter.
    pub(crate) param: usize,
    pub(crate) kind: OutputKind,
    pub(crate) dtype: OutputDType,
}

#[derive(Debug)]
pub(crate) enum OutputKind {
    /// In the memory of the argument of this index.
    InPlace(usize),
    /// A tensor with the dimensions of the argument of this index.
    Like(usize),
    /// A tensor with the dimensions to which the arguments are broadcast; its pattern.
    Broadcast(&'static [DimPattern]),
    /// A tensor without dimensions.
    Rank0,
    /// A tensor whose dimensions a pattern gives.
    Pattern(&'static [DimPattern]),
    /// A tensor whose dimensions a function gives.
    Function,
    /// A list of tensors.
    Variadic,
}

#[derive(Debug)]
pub(crate) enum OutputDType {
    /// A fixed dtype, with torch's code.
    Fixed(DType, i32),
    /// The dtype of the argument of this index.
    Like(usize),
    /// The dtype of a type parameter that no argument is sure to have.
    TypeParam(usize),
    /// Any dtype: the one that the caller gives, or that of the first argument.
    Requested(usize),
}

impl Plan {
    /// The plan of an operator whose schema has these sources, in this order.
    ///
    /// # Errors
    /// If this torch lacks the dtype of a result.
    pub(crate) fn new(shim: &'static Shim, handler: &'static Handler, operator: &Operator) -> Result<Plan> {
        // Makes panics report where they happened.
        panics::install_hook();
        let args: Vec<&'static Param> = handler.params.iter().filter(|param| param.role != Role::Ret).collect();
        let position = |index: usize| {
            let param = &handler.params[index];
            args.iter().position(|arg| std::ptr::eq(*arg, param)).unwrap_or(0)
        };
        let inputs = operator.schema.args.iter().zip(&operator.sources).map(|(arg, source)| {
            let plain = !arg.ty.list && !arg.ty.optional;
            match source {
                Source::Buffer(index) if plain => Input::Tensor(position(*index)),
                Source::Buffer(index) => Input::Other(arg.ty, Destination::Arg(position(*index))),
                Source::Attr(at) => match arg.ty.base.dtype() {
                    Some(dtype) if plain && at.path.is_empty() => Input::Scalar(at.index, dtype.code()),
                    _ => Input::Other(arg.ty, Destination::Attr(at.clone())),
                },
                Source::TypeParam(var) => Input::Other(arg.ty, Destination::TypeParam(*var)),
                Source::ResultDType(index) => Input::Other(arg.ty, Destination::ResultDType(*index)),
            }
        });
        let outputs = handler.params.iter().enumerate().filter(|(_, param)| param.role != Role::Arg).filter(
            // A result that a call may omit is omitted.
            |(_, param)| !(param.role == Role::Ret && param.arity == Arity::Optional),
        );
        let outputs = outputs.map(|(index, param)| {
            Ok(Output {
                param: index,
                kind: output_kind(handler, &args, param),
                dtype: output_dtype(shim, &args, index, param)?,
            })
        });
        Ok(Plan {
            shim,
            handler,
            name: operator.schema.name.clone(),
            inputs: inputs.collect(),
            variadic: args.last().is_some_and(|param| param.arity == Arity::Variadic),
            fixed: args.iter().all(|param| param.arity == Arity::One),
            in_place: (0..args.len()).filter(|&index| args[index].role == Role::InOut).collect(),
            outputs: outputs.collect::<Result<_>>()?,
            by_function: !matches!(handler.shape, ShapeRule::Dims),
            keeps_memory_format: handler.torch.is_some_and(|op| op.keeps_memory_format),
            names: AttrNames::new(handler.attrs),
            device: Device { ty: shim.cpu, index: -1 },
            on_host: handler.platform == HOST,
            contexts: Contexts::new(handler),
            args,
        })
    }

    /// The error in torch's words: with the operator's name in front, instead of the operation's, which a stated schema
    /// may rename, and with torch's names of dtypes.
    #[cold]
    pub(crate) fn named(&self, error: Error) -> Error {
        let own = error.message().strip_prefix(self.handler.name).filter(|rest| rest.starts_with([':', ' ']));
        match own {
            Some(rest) => Error::new(error.code(), format!("{}{}", self.name, with_names_of_torch(rest))),
            None => error.reworded(with_names_of_torch).context(&self.name),
        }
    }

    /// The parameter of the argument of this index.
    pub(crate) fn param(&self, index: usize) -> &'static Param {
        self.args[index.min(self.args.len() - 1)]
    }
}

fn output_kind(handler: &Handler, args: &[&'static Param], param: &'static Param) -> OutputKind {
    if param.role == Role::InOut {
        let index = args.iter().position(|arg| std::ptr::eq(*arg, param));
        return OutputKind::InPlace(index.unwrap_or(0));
    }
    if param.arity == Arity::Variadic {
        return OutputKind::Variadic;
    }
    if !matches!(handler.shape, ShapeRule::Dims) {
        return OutputKind::Function;
    }
    let sure = |arg: &&'static Param| arg.arity == Arity::One;
    match param.dims {
        Some(pattern) if handler.traits.expands() => OutputKind::Broadcast(pattern),
        Some(pattern) => {
            let same = |arg: &&'static Param| sure(arg) && arg.dims.is_some_and(|dims| same_dims(dims, pattern));
            args.iter().position(same).map_or(OutputKind::Pattern(pattern), OutputKind::Like)
        }
        None if param.rank == Some(0) => OutputKind::Rank0,
        // The first member of a variadic argument is present, or the operation has no shape to use.
        None => OutputKind::Like(0),
    }
}

/// Whether two patterns always have the same dimensions.
fn same_dims(a: &[DimPattern], b: &[DimPattern]) -> bool {
    let open = |pattern: &[DimPattern]| {
        pattern.iter().any(|token| matches!(token, DimPattern::Any | DimPattern::Dim(DimExpr::Wildcard)))
    };
    !open(a) && Pattern(a).to_string() == Pattern(b).to_string()
}

fn output_dtype(shim: &Shim, args: &[&'static Param], index: usize, param: &Param) -> Result<OutputDType> {
    match param.dtype {
        DTypeRule::One(dtype) => match shim.dtypes.code(dtype) {
            Some(code) => Ok(OutputDType::Fixed(dtype, code)),
            None => {
                let name = param.name;
                Err(Error::unimplemented(format!("result `{name}` has dtype {dtype}, which this torch does not have")))
            }
        },
        DTypeRule::Var(var) => {
            let bound = |arg: &&'static Param| arg.dtype == DTypeRule::Var(var) && arg.arity == Arity::One;
            Ok(args.iter().position(bound).map_or(OutputDType::TypeParam(var), OutputDType::Like))
        }
        DTypeRule::Any => Ok(OutputDType::Requested(index)),
    }
}
