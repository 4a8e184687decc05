//! A descriptor that was checked: an operator, its handler, and its kernel.

use std::panic::catch_unwind;
use std::sync::OnceLock;

use super::arguments::Signature;
use super::check::Checked;
use super::descriptor::{Definition, Outputs, PartialOutputMetaData};
use super::execute::{execute, execute_inferred, results};
use super::{Registered, Stack};
use crate::descriptor::{HOST, Handler, ShapeRule, Traits};
use crate::registry::{Registry, registry};
use crate::shape::Shape;
use crate::torch::TorchOp;
use crate::{Error, Result, names, panics};

/// Where a descriptor is.
#[derive(Clone, Copy)]
pub struct Site {
    /// The documentation comment.
    pub doc: &'static str,
    /// The module.
    pub module: &'static str,
    /// The source file.
    pub file: &'static str,
    /// The source line.
    pub line: u32,
}

/// A registered operator.
pub struct CustomOp {
    handler: &'static Handler,
    pub(super) checked: Checked,
    kernel: OnceLock<&'static Handler>,
}

impl CustomOp {
    /// Checks a descriptor and makes the operator's handler.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` that says what to change.
    pub fn new<D: Registered>(descriptor: fn() -> Definition, site: Site) -> Result<CustomOp> {
        // Evaluated by a constructor of the library, which must not panic.
        let definition = catch_unwind(descriptor).map_err(|payload| {
            Error::internal(format!("the expression of the descriptor failed: {}", panics::describe(payload)))
        })?;
        let checked = Checked::new(definition)?;
        let Signature { params, attrs, slots } = checked.signature();
        let namespace = checked.namespace.clone().map(|namespace| &*namespace.leak());
        let handler = Handler {
            name: checked.schema.name.clone().leak(),
            platform: HOST,
            doc: site.doc,
            module: site.module,
            file: site.file,
            line: site.line,
            execute: execute::<D>,
            stages: &[],
            type_params: &[],
            params: params.leak(),
            attrs: attrs.leak(),
            signature: slots.leak(),
            asynchronous: false,
            extra_attrs: false,
            shape: ShapeRule::Results(results::<D>),
            traits: Traits::default(),
            legacy: None,
            namespace,
            schema: None,
            torch: Some(Box::leak(Box::new(
                TorchOp::new::<D>().keeping_memory_format().executing(execute_inferred::<D>),
            ))),
        };
        Ok(CustomOp { handler: Box::leak(Box::new(handler)), checked, kernel: OnceLock::new() })
    }

    /// The operator's handler.
    pub fn handler(&self) -> &'static Handler {
        self.handler
    }

    /// Dtypes and shapes of the results.
    pub(super) fn results(&self, stack: &Stack<'_>) -> Result<Vec<Shape>> {
        let metas = match &self.checked.outputs {
            Outputs::Function(function) => function(stack)?,
            Outputs::Listed(outputs) => {
                let meta = |output: &super::OutputDesc| {
                    let shape = output.shape.map_or_else(|| Ok(stack.tensor(0)?.dims.clone()), |shape| shape(stack))?;
                    Ok(PartialOutputMetaData { dtype: output.dtype, shape })
                };
                outputs.iter().map(meta).collect::<Result<_>>()?
            }
        };
        let returns = self.checked.schema.returns.len();
        if metas.len() != returns {
            return Err(Error::invalid_argument(format!(
                "the output-meta function gives {} outputs, but the schema has {returns} results",
                metas.len()
            )));
        }
        Ok(metas.into_iter().map(|meta| Shape { dtype: meta.dtype, dims: meta.shape }).collect())
    }

    /// The kernel, which is looked up once, when all crates have registered theirs.
    pub(super) fn kernel(&self) -> Result<&'static Handler> {
        if let Some(kernel) = self.kernel.get() {
            return Ok(kernel);
        }
        let kernel = self.find_kernel(registry())?;
        Ok(self.kernel.get_or_init(|| kernel))
    }

    /// Checks that the registry has the kernel, and that it fits.
    ///
    /// # Errors
    /// `NOT_FOUND` or `INVALID_ARGUMENT`, named after the operator.
    pub(crate) fn check_kernel(&self, registry: &Registry) -> Result<()> {
        self.find_kernel(registry).map(drop).map_err(|error| error.context(self.handler.name))
    }

    fn find_kernel(&self, registry: &Registry) -> Result<&'static Handler> {
        let guid = &self.checked.guid;
        let Some(kernel) = registry.find(guid, HOST) else {
            let hint = names::did_you_mean(guid, registry.handlers().iter().map(|handler| handler.name));
            return Err(Error::not_found(format!(
                "there is no kernel `{guid}`{hint} (a kernel is a function with `#[custom_call(name = \"...\")]`, in this \
                 crate or in one that `oxcall::library! {{ ops: [...] }}` names)"
            )));
        };
        self.checked.check_kernel(kernel)?;
        Ok(kernel)
    }
}
