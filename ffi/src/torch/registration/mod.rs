//! Registration with the process's torch, once for each operation.

mod report;

use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) use report::report;

use super::call::Kernel;
use super::call::plan::Plan;
use super::dispatch_key::dispatch_key;
use super::libtorch::shim::{HeaderKernel, LibraryHandle, RawKernel, Shim, Status};
use super::operator::TorchOp;
use super::schema::{Operator, operators, without_lists};
use crate::descriptor::{Handler, Role, ShapeRule, Traits};
use crate::sync::Mutex;
use crate::{namespace, panics};

/// An operator of the process's torch.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    /// `custom_op::top_k`, without the overload.
    pub(crate) name: String,
    pub(crate) overloads: Vec<Overload>,
}

/// One overload of an operator.
#[derive(Clone, Debug)]
pub(crate) struct Overload {
    pub(crate) name: String,
    pub(crate) schema: String,
    /// The parameter, attribute or field behind each argument; `None` for dtypes.
    pub(crate) arguments: Vec<Option<Vec<&'static str>>>,
    /// The reasons why it lacks arguments that it has in a newer torch.
    pub(crate) left_out: Vec<String>,
}

impl Overload {
    fn of(handler: &'static Handler, operator: &Operator, left_out: Vec<String>) -> Overload {
        let Operator { schema, sources } = operator;
        let arguments = sources.iter().map(|source| source.names(handler)).collect();
        Overload { name: schema.overload.clone(), schema: schema.to_string(), arguments, left_out }
    }
}

/// The outcome for an operation: its operator, or the reason why it has none.
pub(crate) type Outcome = Result<Registered, String>;

/// The outcomes, by the handler's address.
static OUTCOMES: Mutex<BTreeMap<usize, Outcome>> = Mutex::new(BTreeMap::new());

/// An operation's description for torch and its namespace; `None` if its crate keeps it out of torch.
fn described(handler: &Handler) -> Option<(&'static TorchOp, &'static str)> {
    handler.torch.zip(namespace::of(handler))
}

/// The outcome for an operation in a torch with all functions; `None` if its crate keeps it out of torch.
pub(crate) fn planned(handler: &'static Handler) -> Option<Outcome> {
    let (_, namespace) = described(handler)?;
    Some(operators(handler).map(|operators| {
        let name = format!("{namespace}::{}", operators[0].schema.name);
        let overloads = operators.iter().map(|operator| Overload::of(handler, operator, Vec::new())).collect();
        Registered { name, overloads }
    }))
}

/// The outcome for an operation; `None` if its crate keeps it out of torch.
pub(crate) fn outcome(shim: &'static Shim, handler: &'static Handler) -> Option<Outcome> {
    let (op, namespace) = described(handler)?;
    let mut outcomes = OUTCOMES.lock();
    let address = std::ptr::from_ref(handler).addr();
    if let Some(known) = outcomes.get(&address) {
        return Some(known.clone());
    }
    // A constructor must not panic, and neither must a function that Python calls.
    let outcome = catch_unwind(AssertUnwindSafe(|| register_once(shim, handler, op, namespace, &outcomes)))
        .unwrap_or_else(|payload| Err(panics::describe(payload)));
    outcomes.insert(address, outcome.clone());
    Some(outcome)
}

fn register_once(
    shim: &'static Shim,
    handler: &'static Handler,
    op: &'static TorchOp,
    namespace: &str,
    others: &BTreeMap<usize, Outcome>,
) -> Outcome {
    let operators = operators(handler)?;
    let possible = |operator: Operator| {
        if shim.has_lists() { Ok((operator, Vec::new())) } else { without_lists(handler, &operator, shim.version) }
    };
    let operators: Vec<(Operator, Vec<String>)> = operators.into_iter().map(possible).collect::<Result<_, _>>()?;
    let key = dispatch_key(handler);
    let place = Place::of(namespace, handler);
    let name = format!("{namespace}::{}", operators[0].0.schema.name);
    // An operation for several platforms is one operator with several kernels.
    let other = others.values().flatten().find(|other| other.name == name);
    let mut overloads = Vec::new();
    for (i, (operator, left_out)) in operators.iter().enumerate() {
        let overload = Overload::of(handler, operator, left_out.clone());
        if let Some(other) = other {
            let known = other.overloads.iter().find(|known| known.name == overload.name);
            if known.is_none_or(|known| known.schema != overload.schema) {
                return Err(format!("the operator `{name}` has a different schema on another platform"));
            }
        } else {
            place.define(shim, &overload.schema)?;
        }
        let new = Plan::new(shim, handler, operator).map_err(|error| error.message().to_owned())?;
        // Nothing else sets it: this runs once for each operation.
        let _ = op.calls[i].set(Box::new(Kernel::new(new)));
        let overloaded = [&operator.schema.name, ".", &overload.name].concat();
        let overloaded = overloaded.trim_end_matches('.');
        place.implement(shim, key, overloaded, op.kernels[i])?;
        if other.is_none() && !has_python_fake(handler) {
            place.implement(shim, "Meta", overloaded, op.meta_kernels[i])?;
        }
        if other.is_none() && lacks_derivative(handler) {
            place.refuse_derivatives(shim, overloaded)?;
        }
        overloads.push(overload);
    }
    Ok(Registered { name, overloads })
}

/// Whether `glue/shapes.py` infers the results: from patterns, for which shapes stay symbolic. A user's function sees
/// numbers.
fn has_python_fake(handler: &Handler) -> bool {
    let operands = handler.params.iter().any(|param| param.role != Role::Ret);
    operands && matches!(handler.shape, ShapeRule::Dims)
}

/// Whether torch has to refuse derivatives. `glue/derivatives.py` registers declared derivatives, for operators that
/// update none of their arguments.
fn lacks_derivative(handler: &Handler) -> bool {
    let has = |role| handler.params.iter().any(|param| param.role == role);
    let Traits { vjp, jvp, fwd, transpose, .. } = handler.traits;
    let is_declared = [vjp, jvp, fwd, transpose].iter().any(Option::is_some);
    has(Role::InOut) || (!is_declared && has(Role::Arg))
}

/// The place of an operator's definition: its namespace, and the source location that torch shows.
struct Place {
    namespace: CString,
    file: CString,
    line: u32,
}

impl Place {
    fn of(namespace: &str, handler: &Handler) -> Place {
        Place { namespace: c_string(namespace), file: c_string(handler.file), line: handler.line }
    }

    /// A library of torch: its registrations stay as long as it is kept, which is forever.
    fn library(
        &self,
        shim: &Shim,
        open: impl FnOnce(*const c_char, *const c_char, u32, *mut LibraryHandle) -> Status,
    ) -> Result<LibraryHandle, String> {
        let mut library = std::ptr::null_mut();
        match open(self.namespace.as_ptr(), self.file.as_ptr(), self.line, &raw mut library) {
            0 => Ok(library),
            _ => Err(refused(shim, "the namespace", &self.namespace.to_string_lossy())),
        }
    }

    fn define(&self, shim: &Shim, schema: &str) -> Result<(), String> {
        // SAFETY: C strings that live during the call.
        let library = self.library(shim, |ns, file, line, out| unsafe { (shim.init_fragment)(ns, file, line, out) })?;
        let text = c_string(schema);
        // SAFETY: a library that was just opened, and a C string.
        match unsafe { (shim.define)(library, text.as_ptr()) } {
            0 => Ok(()),
            _ => Err(refused(shim, "the schema", schema)),
        }
    }

    /// A library for the kernels of a dispatch key.
    fn kernels(&self, shim: &Shim, key: &str) -> Result<LibraryHandle, String> {
        let key = c_string(key);
        let open = |ns, file, line, out| {
            // SAFETY: C strings that live during the call.
            unsafe { (shim.init_impl)(ns, key.as_ptr(), file, line, out) }
        };
        self.library(shim, open)
    }

    fn refuse_derivatives(&self, shim: &Shim, name: &str) -> Result<(), String> {
        if let Some(no_derivative) = &shim.no_derivative {
            let library = self.kernels(shim, "Autograd")?;
            // SAFETY: a library for this key that was just opened; the operator is defined.
            unsafe { no_derivative.register(library, &c_string(name)) };
        }
        Ok(())
    }

    fn implement(&self, shim: &Shim, key: &str, name: &str, kernel: RawKernel) -> Result<(), String> {
        let library = self.kernels(shim, key)?;
        let name_text = c_string(name);
        // SAFETY: the same function; the header's type does not say that it may throw.
        let kernel: HeaderKernel = unsafe { std::mem::transmute::<RawKernel, HeaderKernel>(kernel) };
        // SAFETY: a library that was just opened, a C string, and a kernel for the operator's schema.
        match unsafe { (shim.implement)(library, name_text.as_ptr(), kernel) } {
            0 => Ok(()),
            _ => Err(refused(shim, "the kernel for", key)),
        }
    }
}

fn refused(shim: &Shim, what: &str, which: &str) -> String {
    let reason = shim.reason().unwrap_or_else(|| "it says why on stderr".to_owned());
    format!("torch refused {what} `{which}`: {reason}")
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}
