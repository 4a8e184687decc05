//! The macro's record of an operation: static data from which decoding errors, shape inference, the manifest and the
//! registration tables are made.

use xla_ffi_sys::xla_ffi as sys;

use crate::shape::{Shape, ShapeContext};
use crate::state::HostType;
#[cfg(feature = "torch")]
use crate::torch::TorchOp;
#[cfg(not(feature = "torch"))]
use crate::without_torch::TorchOp;
use crate::{DType, Result};

/// A stage function or handler with the C signature of `XLA_FFI_Handler`.
pub type RawHandler = unsafe extern "C" fn(*mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error;

/// The platform of host (CPU) handlers, as XLA names it.
pub const HOST: &str = "Host";

/// An execution stage. XLA:CPU runs only [`Stage::Instantiate`] and [`Stage::Execute`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stage {
    /// Once, when the executable is compiled or loaded.
    Instantiate = sys::XLA_FFI_ExecutionStage_INSTANTIATE as u8,
    /// Before each execution: request resources.
    Prepare = sys::XLA_FFI_ExecutionStage_PREPARE as u8,
    /// Before each execution: acquire resources.
    Initialize = sys::XLA_FFI_ExecutionStage_INITIALIZE as u8,
    /// The execution itself.
    Execute = sys::XLA_FFI_ExecutionStage_EXECUTE as u8,
}

impl Stage {
    /// XLA's lower-case name of the stage.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Instantiate => "instantiate",
            Stage::Prepare => "prepare",
            Stage::Initialize => "initialize",
            Stage::Execute => "execute",
        }
    }
}

/// An operation that `#[custom_call]` made; the macro implements it for a type named like the function.
pub trait Op {
    /// The target name.
    const NAME: &'static str;
    /// The operation's handler.
    const HANDLER: &'static Handler;
}

/// One implementation of an operation, for one platform. Only the macro makes these: fields may be added at any time.
#[derive(Debug)]
pub struct Handler {
    /// The target name.
    pub name: &'static str,
    /// `Host`, `CUDA`, `ROCM`, or another platform's name.
    pub platform: &'static str,
    /// The documentation comment of the function, lines joined by newlines.
    pub doc: &'static str,
    /// The module that holds the function (its first segment is the crate).
    pub module: &'static str,
    /// Source file of the function.
    pub file: &'static str,
    /// Source line of the function.
    pub line: u32,
    /// The execute handler.
    pub execute: RawHandler,
    /// The other stages that the operation has.
    pub stages: &'static [StageHandler],
    /// Dtypes that each type parameter stands for.
    pub type_params: &'static [TypeParam],
    /// Parameters in the order of the signature.
    pub params: &'static [Param],
    /// Attributes of all stages together, sorted by name, without duplicates.
    pub attrs: &'static [AttrParam],
    /// Buffers and attributes in the order of the signature.
    pub signature: &'static [Slot],
    /// Whether a parameter lets work go on after the handler has returned.
    pub asynchronous: bool,
    /// Whether attributes that no parameter names are accepted (`#[attr(rest)]`).
    pub extra_attrs: bool,
    /// How output shapes follow from inputs and attributes.
    pub shape: ShapeRule,
    /// The registration traits and Python-side properties.
    pub traits: Traits,
    /// The legacy (API v1 to v3) entry points, when asked for.
    pub legacy: Option<&'static Legacy>,
    /// The namespace, where it is not the crate's.
    pub namespace: Option<&'static str>,
    /// The schema of the torch operator, where it is not the one that follows from the signature.
    pub schema: Option<&'static str>,
    /// The operation as a torch operator.
    pub torch: Option<&'static TorchOp>,
}

/// A parameter in the order of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The buffer of this index in [`Handler::params`].
    Buffer(usize),
    /// The attribute of this name.
    Attr(&'static str),
}

impl Handler {
    /// The handler of a stage; `None` if the operation has none.
    pub fn stage(&self, stage: Stage) -> Option<RawHandler> {
        match stage {
            Stage::Execute => Some(self.execute),
            _ => self.stages.iter().find(|other| other.stage == stage).map(|other| other.handler),
        }
    }

    /// The handlers of all stages, as hosts register them. The record stage (API 0.4) cannot be written with this SDK.
    pub fn bundle(&self) -> sys::XLA_FFI_Handler_Bundle {
        let stage = |stage| self.stage(stage).map(|handler| handler as _);
        sys::XLA_FFI_Handler_Bundle {
            instantiate: stage(Stage::Instantiate),
            prepare: stage(Stage::Prepare),
            initialize: stage(Stage::Initialize),
            execute: stage(Stage::Execute),
            record: None,
        }
    }
}

#[cfg(test)]
impl Handler {
    /// An operation without parameters whose execute handler is never called.
    pub(crate) const UNCALLED: Handler = {
        unsafe extern "C" fn never_called(_: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
            unreachable!()
        }
        Handler {
            name: "uncalled",
            platform: HOST,
            doc: "",
            module: "tests",
            file: file!(),
            line: line!(),
            execute: never_called,
            stages: &[],
            type_params: &[],
            params: &[],
            attrs: &[],
            signature: &[],
            asynchronous: false,
            extra_attrs: false,
            shape: ShapeRule::Dims,
            traits: Traits::NONE,
            legacy: None,
            namespace: None,
            schema: None,
            torch: None,
        }
    };
}

/// A handler of a stage other than execute.
#[derive(Clone, Copy, Debug)]
pub struct StageHandler {
    /// The stage.
    pub stage: Stage,
    /// The handler.
    pub handler: RawHandler,
    /// The registration of its state's type.
    #[doc(hidden)]
    pub host_type: fn() -> &'static HostType,
    /// Its state's type.
    #[doc(hidden)]
    pub state: fn() -> std::any::TypeId,
}

/// A type parameter of a handler function and the dtypes it is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct TypeParam {
    /// The parameter's name, `T`.
    pub name: &'static str,
    /// The dtypes, in the order of the macro's list.
    pub dtypes: &'static [DType],
}

/// Properties of an operation that a host or the Python package acts on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traits {
    /// May be recorded into a CUDA/HIP graph (`XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE`).
    pub command_buffer: bool,
    /// Must run even when its results are not used, and not be merged with an equal call.
    pub side_effect: bool,
    /// The list of dimensions that are independent: `b` for `..b`. A call on a batch does what calls on its parts do.
    pub batch: Option<&'static str>,
    /// `vmap_method` of `jax.ffi.ffi_call`.
    pub vmap: Option<&'static str>,
    /// The operation that computes a batch of calls.
    pub vmap_op: Option<&'static str>,
    /// The operation that computes the vector-Jacobian product.
    pub vjp: Option<&'static str>,
    /// The operation that computes the Jacobian-vector product.
    pub jvp: Option<&'static str>,
    /// The operation that computes the results together with residuals for `vjp` and `jvp`.
    pub fwd: Option<&'static str>,
    /// The operation that computes the transpose of this one, which is linear.
    pub transpose: Option<&'static str>,
    /// Parameters whose derivatives are zero.
    pub nondiff: &'static [&'static str],
    /// What `torch.autocast` casts arguments to: `f32`, or `lowest` for its own dtype.
    pub autocast: Option<&'static str>,
    /// Whether operands of other shapes and dtypes are broadcast and promoted before the call, as NumPy does.
    pub broadcast: bool,
    /// Whether the operation tells hosts its expression.
    pub recorded: Recorded,
}

impl Traits {
    /// Whether the handler broadcasts arguments itself, by NumPy's rules: one may lack leading dimensions, and have
    /// dimensions of 1 where results have more.
    pub const fn expands(&self) -> bool {
        matches!(self.recorded, Recorded::Pointwise)
    }
}

/// The functions that tell hosts their expressions. Their numbers belong to the interface between libraries and hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// Other functions.
    #[default]
    Never = 0,
    /// Those of `#[pointwise]`: all results have one shape, to which operands are broadcast.
    Pointwise = 1,
    /// Those of `#[rowwise]`: some may be without the last dimension.
    Rowwise = 2,
}

impl Traits {
    /// No properties.
    pub const NONE: Traits = Traits {
        command_buffer: false,
        side_effect: false,
        batch: None,
        vmap: None,
        vmap_op: None,
        vjp: None,
        jvp: None,
        fwd: None,
        transpose: None,
        nondiff: &[],
        autocast: None,
        broadcast: false,
        recorded: Recorded::Never,
    };

    /// The bits of `XLA_FFI_Handler_Traits`.
    pub const fn bits(&self) -> sys::XLA_FFI_Handler_Traits {
        if self.command_buffer { sys::XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE } else { 0 }
    }
}

/// A buffer parameter of a handler function. Attributes and contexts are not listed here.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The parameter's name in the signature.
    pub name: &'static str,
    /// Argument, result, or both.
    pub role: Role,
    /// The dtype it takes.
    pub dtype: DTypeRule,
    /// The rank it takes, when static.
    pub rank: Option<usize>,
    /// The dimension pattern of `#[dims(...)]`.
    pub dims: Option<&'static [DimPattern]>,
    /// How often it may occur.
    pub arity: Arity,
    /// Whether this result sums over the dimensions of [`Traits::batch`], which it lacks.
    pub sum: bool,
}

/// Whether a buffer parameter is an argument, a result, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An argument: read only.
    Arg,
    /// A result: written.
    Ret,
    /// An argument and a result in the same memory.
    InOut,
}

/// How often a parameter may occur in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly once.
    One,
    /// Once or not at all, after all parameters that occur once.
    Optional,
    /// Any number of times, after all others.
    Variadic,
}

/// The dtypes a buffer parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeRule {
    /// Any.
    Any,
    /// This one.
    One(DType),
    /// That of the type parameter with this index.
    Var(usize),
}

/// One token of a `#[dims(...)]` pattern.
#[derive(Clone, Copy, Debug)]
pub enum DimPattern {
    /// `..`: any number of dimensions, tied to nothing.
    Any,
    /// `..name`: any number of dimensions, bound by name.
    List(&'static str),
    /// One dimension.
    Dim(DimExpr),
}

/// The value of a dimension.
#[derive(Clone, Copy, Debug)]
pub enum DimExpr {
    /// `_`: any size, tied to nothing.
    Wildcard,
    /// A fixed size.
    Const(i64),
    /// A name: a dimension, or an integer attribute.
    Name(&'static str),
    /// A binary operation of two expressions.
    Binary(DimOp, &'static DimExpr, &'static DimExpr),
}

/// An operation between dimensions. Division truncates; all values must stay non-negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `a % b`
    Rem,
}

/// How output shapes follow from the inputs.
#[derive(Clone, Copy, Debug)]
pub enum ShapeRule {
    /// From the `#[dims]` patterns; a result without one has the shape of argument 0.
    Dims,
    /// From a function of the user.
    Function(fn(&ShapeContext<'_>) -> Result<Vec<Vec<i64>>>),
    /// Dtypes and shapes, from a descriptor.
    Results(fn(&ShapeContext<'_>) -> Result<Vec<Shape>>),
}

/// An attribute of an operation.
#[derive(Clone, Copy, Debug)]
pub struct AttrParam {
    /// The attribute's name.
    pub name: &'static str,
    /// Its type.
    pub ty: AttrType,
    /// The meaning of its absence.
    pub presence: Presence,
}

/// Whether an attribute must be given.
#[derive(Clone, Copy, Debug)]
pub enum Presence {
    /// It must be given.
    Required,
    /// Absent means `None`.
    Optional,
    /// Absent means this expression's value, shown as source text.
    Default(&'static str),
}

/// The type of an attribute.
#[derive(Clone, Copy, Debug)]
pub enum AttrType {
    /// A scalar.
    Scalar(DType),
    /// A scalar of the dtype of the type parameter with this index.
    Var(usize),
    /// A UTF-8 string.
    String,
    /// A one-dimensional array.
    Array(DType),
    /// An enumeration: its variants' names and values.
    Enum(&'static [(&'static str, i64)]),
    /// A dictionary with known fields.
    Struct(&'static [AttrParam]),
    /// A dictionary with any entries.
    Dictionary,
    /// An address, carried as an `s64`.
    Pointer,
    /// An integer (`s64`) or a float (`f64`), as it was given.
    Number,
    /// A device: a string, `cpu` or `cuda:1`.
    Device,
    /// Anything.
    Any,
}

/// Entry points of the legacy API, as C function addresses. The API version under which the target is
/// called and the platform decide which one a host calls.
#[derive(Clone, Copy, Debug)]
pub struct Legacy {
    /// CPU, API v1: `void(void* out, const void** in)`.
    pub cpu_v1: unsafe extern "C" fn(*mut std::ffi::c_void, *mut *const std::ffi::c_void),
    /// CPU, API v2: as v1, and a status.
    pub cpu_v2: unsafe extern "C" fn(*mut std::ffi::c_void, *mut *const std::ffi::c_void, *mut std::ffi::c_void),
    /// CPU, API v3: `void(void* out, const void** in, const char* opaque, size_t len, XlaCustomCallStatus*)`.
    pub cpu_v3: unsafe extern "C" fn(
        *mut std::ffi::c_void,
        *mut *const std::ffi::c_void,
        *const std::ffi::c_char,
        usize,
        *mut std::ffi::c_void,
    ),
    /// GPU, API v1: `void(stream, void** buffers, const char* opaque, size_t len)`.
    pub gpu_v1: unsafe extern "C" fn(*mut std::ffi::c_void, *mut *mut std::ffi::c_void, *const std::ffi::c_char, usize),
    /// GPU, API v2 and v3: as v1, and a status.
    pub gpu_v2: unsafe extern "C" fn(
        *mut std::ffi::c_void,
        *mut *mut std::ffi::c_void,
        *const std::ffi::c_char,
        usize,
        *mut std::ffi::c_void,
    ),
}

impl Legacy {
    /// Their addresses, in the order of the fields.
    pub fn addresses(&self) -> [*mut std::ffi::c_void; 5] {
        [self.cpu_v1 as _, self.cpu_v2 as _, self.cpu_v3 as _, self.gpu_v1 as _, self.gpu_v2 as _]
    }
}
