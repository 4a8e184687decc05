//! The model between parsing and expansion: one checked `#[custom_call]` function.

use proc_macro2::{Ident, Span};
use syn::{Expr, ItemFn, LitStr, Path, Type};

/// A checked `#[custom_call]` function.
pub(crate) struct CustomCall {
    /// The options of the attribute.
    pub(crate) options: Options,
    /// The user's function, its helper attributes (`#[attr]`, `#[dims]`, ...) removed, otherwise untouched.
    pub(crate) function: ItemFn,
    /// The dispatched type parameters, in the order of the generics.
    pub(crate) type_params: Vec<TypeParam>,
    /// The parameters in the order of the signature.
    pub(crate) params: Vec<Param>,
}

/// A checked `#[stage(...)]` function.
pub(crate) struct StageFn {
    /// The stage that it runs in.
    pub(crate) stage: Stage,
    /// `crate = path`, or `::oxcall`.
    pub(crate) krate: Path,
    /// The user's function, helper attributes removed.
    pub(crate) function: ItemFn,
    /// Parameters: attributes, contexts and states only.
    pub(crate) params: Vec<Param>,
    /// The state's type: the return type, or its `Ok` type.
    pub(crate) state: Type,
    /// Whether the function returns a `Result`.
    pub(crate) fallible: bool,
}

/// A stage before execute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(crate) enum Stage {
    Instantiate,
    Prepare,
    Initialize,
}

/// The options of `#[custom_call(...)]`.
pub(crate) struct Options {
    /// `name = "..."`: the target name; default: the function's name.
    pub(crate) name: LitStr,
    /// `platform = "..."`; default `Host`.
    pub(crate) platform: LitStr,
    /// `crate = path`: where the support code is; default `::oxcall`.
    pub(crate) krate: Path,
    /// `instantiate = path`, `prepare = path`, `initialize = path`: functions with `#[stage]`.
    pub(crate) stages: Vec<(Stage, Path)>,
    /// `shape = path`: a function that gives the output shapes.
    pub(crate) shape: Option<Path>,
    /// `vmap = "..."` or `vmap = path`.
    pub(crate) vmap: Option<Vmap>,
    /// `vjp = path`, `jvp = path`, `fwd = path`, `transpose = path`.
    pub(crate) rules: Vec<(Rule, Path)>,
    /// `nondiff = [x, y]`: parameters whose derivatives are zero.
    pub(crate) nondiff: Vec<Ident>,
    /// `batch = b`: the list of dimensions that are independent.
    pub(crate) batch: Option<Ident>,
    /// `autocast = f32` or `autocast = lowest`: what `torch.autocast` casts arguments to.
    pub(crate) autocast: Option<Ident>,
    /// `namespace = "..."`: the namespace of the torch operator; default: the crate's.
    pub(crate) namespace: Option<LitStr>,
    /// `schema = "..."`: the schema of the torch operator; default: what follows from the signature.
    pub(crate) schema: Option<LitStr>,
    /// `legacy`: also callable as API v1, v2 and v3.
    pub(crate) legacy: bool,
    /// `side_effect`
    pub(crate) side_effect: bool,
    /// `command_buffer`
    pub(crate) command_buffer: bool,
    /// Whether callers broadcast the operands; of `#[pointwise]` and `#[rowwise]`.
    pub(crate) broadcast: bool,
    /// Whether it tells hosts its expression.
    pub(crate) recorded: Recorded,
}

/// The functions that tell hosts their expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    Never,
    Pointwise,
    Rowwise,
}

/// How calls are batched.
pub(crate) enum Vmap {
    /// By the `vmap_method` of `jax.ffi.ffi_call` that has this name.
    Method(LitStr),
    /// By another operation.
    Op(Path),
}

/// A rule of differentiation, which names another operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(crate) enum Rule {
    Vjp,
    Jvp,
    Fwd,
    Transpose,
}

impl Options {
    /// The operation that `vmap` names.
    pub(crate) fn vmap_op(&self) -> Option<&Path> {
        match &self.vmap {
            Some(Vmap::Op(path)) => Some(path),
            _ => None,
        }
    }

    /// The operation that a rule names.
    pub(crate) fn rule(&self, rule: Rule) -> Option<&Path> {
        self.rules.iter().find(|(other, _)| *other == rule).map(|(_, path)| path)
    }
}

/// A type parameter and the element types it is compiled for: `T = [f32, f64]` or `T = floats`.
pub(crate) struct TypeParam {
    pub(crate) ident: Ident,
    /// Element types as Rust types; named sets are expanded to paths under `<krate>::__private`.
    pub(crate) elements: Vec<Type>,
}

/// One parameter of the signature.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    /// The type as written.
    pub(crate) ty: Type,
    pub(crate) kind: ParamKind,
    /// Where messages about this parameter point.
    pub(crate) span: Span,
}

/// The role of a parameter.
pub(crate) enum ParamKind {
    /// A buffer of the call frame.
    Buffer(Buffer),
    /// `#[attr]`
    Attr(Attr),
    /// `#[attr(rest)]`: all attributes that no other parameter names.
    AttrRest,
    /// `#[state]`, `#[state(prepare)]`, `#[state(initialize)]`: `ty` is `&S`; here `S` and the stage.
    State { stage: Stage, ty: Type },
    /// A context: anything that implements `FromContext`.
    Context,
}

/// A buffer parameter.
pub(crate) struct Buffer {
    pub(crate) role: Role,
    pub(crate) arity: Arity,
    /// The type inside `Option` or `Variadic`; the parameter's type where arity is one.
    pub(crate) ty: Type,
    /// Index of the dispatched type parameter that the type mentions as its element, if any.
    pub(crate) var: Option<usize>,
    /// `#[dims(...)]`
    pub(crate) dims: Option<Vec<DimPattern>>,
    /// `#[sum(b)]`: the list of dimensions that a result is a sum over.
    pub(crate) sum: Option<Ident>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Arg,
    Ret,
    InOut,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arity {
    One,
    Optional,
    Variadic,
}

/// An attribute parameter.
pub(crate) struct Attr {
    /// The attribute's name: the parameter's, or `#[attr(name = "...")]`.
    pub(crate) name: String,
    /// Index of the dispatched type parameter where the type is one (`value: T`).
    pub(crate) var: Option<usize>,
    /// The type inside `Option<...>`, or the parameter's type.
    pub(crate) ty: Type,
    pub(crate) presence: Presence,
}

pub(crate) enum Presence {
    Required,
    Optional,
    Default(Expr),
}

/// One token of `#[dims(...)]`.
pub(crate) enum DimPattern {
    /// `..`
    Any,
    /// `..name`
    List(Ident),
    /// anything else
    Dim(DimExpr),
}

/// The value of a dimension.
#[derive(Clone)]
pub(crate) enum DimExpr {
    /// `_`
    Wildcard(Span),
    /// `4`
    Const(i64, Span),
    /// `n`
    Name(Ident),
    /// `h * w`
    Binary(DimOp, Box<DimExpr>, Box<DimExpr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DimOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}
