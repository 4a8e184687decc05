//! Calls through the XLA FFI.

use std::ptr;
use std::sync::Arc;

use oxcall::descriptor::{RawHandler, Stage};
use oxcall::host::{
    self, CallFrame, CallFrameBuilder, Future, HostVersion, InvokeContext, Registration, Source, StageState,
};
use oxcall::{DType, Error};
use oxcall_hlo::{Attribute, TensorType};
use oxcall_kernels::environment::with_default_environment;
use oxcall_kernels::memory::RawBuffer;

use super::context::ExecutionInfo;
use super::{Host, attributes, context, target};

/// An instantiated call of a handler.
pub(super) struct Typed {
    registration: Registration,
    /// The host version for which the handler was made.
    pub(super) version: HostVersion,
    frame: CallFrameBuilder,
    /// The state from instantiation, in a separate context; `None` if the handler has no stage except execute.
    pub(super) stages: Option<Arc<StageState>>,
}

impl Typed {
    pub(super) fn new(
        host: &Host,
        name: &str,
        attrs: &Attribute,
        operands: &[Option<&TensorType>],
        results: &[Option<&TensorType>],
    ) -> Result<Typed, Error> {
        let registration = target::typed(name, &host.platform)?;
        let mut frame = CallFrameBuilder::new();
        let mut only_attrs = CallFrameBuilder::new();
        for (name, value) in attributes::convert(attrs)? {
            frame.attr(name.clone(), value.clone());
            only_attrs.attr(name, value);
        }
        for (index, operand) in operands.iter().enumerate() {
            let (dtype, dims) = described("operand", index, *operand)?;
            frame.arg(dtype, ptr::null(), &dims);
        }
        for (index, result) in results.iter().enumerate() {
            let (dtype, dims) = described("result", index, *result)?;
            frame.ret(dtype, ptr::null_mut(), &dims);
        }
        let version = HostVersion::of_minor(registration.minor);
        let others = [registration.instantiate, registration.prepare, registration.initialize];
        let stages = others.iter().any(Option::is_some).then(Arc::default);
        let typed = Typed { registration, version, frame, stages };
        typed.instantiate(host, &mut only_attrs.build())?;
        Ok(typed)
    }

    fn instantiate(&self, host: &Host, frame: &mut CallFrame) -> Result<(), Error> {
        let Some(handler) = self.registration.instantiate else { return Ok(()) };
        let info = ExecutionInfo { run_id: 0, device_ordinal: 0, user_data: &[] };
        let context = context::build(host, self.version, &info, self.stages.clone());
        // SAFETY: a registered handler; the frame has no buffers; the context has neither stream nor user data.
        match with_default_environment(|| unsafe { host::call(handler, frame, &context, Stage::Instantiate) })? {
            Some(future) => future.wait(),
            None => Ok(()),
        }
    }

    pub(super) fn handler(&self, stage: Stage) -> Option<RawHandler> {
        match stage {
            Stage::Instantiate => self.registration.instantiate,
            Stage::Prepare => self.registration.prepare,
            Stage::Initialize => self.registration.initialize,
            Stage::Execute => Some(self.registration.execute),
        }
    }

    /// Whether the handler is compiled into the plugin.
    pub(super) fn is_linked(&self) -> bool {
        self.registration.source == Source::Linked
    }

    pub(super) fn execute(&self) -> RawHandler {
        self.registration.execute
    }

    /// A frame for one execution.
    pub(super) fn frame(&self) -> CallFrame {
        self.frame.build()
    }

    /// Calls the handler of a stage.
    ///
    /// # Safety
    /// The buffers have the sizes that the program gives them, and are valid until the call completes; meanwhile
    /// nothing else writes the inputs or uses the outputs. User data of the context has the type that the handler
    /// expects.
    pub(super) unsafe fn call(
        &self,
        frame: &mut CallFrame,
        context: &InvokeContext,
        stage: Stage,
        inputs: &[RawBuffer],
        outputs: &[RawBuffer],
    ) -> Result<Option<Future>, Error> {
        let Some(handler) = self.handler(stage) else { return Ok(None) };
        for (index, input) in inputs.iter().enumerate() {
            frame.set_arg_data(index, input.data.cast());
        }
        for (index, output) in outputs.iter().enumerate() {
            frame.set_ret_data(index, output.data.cast());
        }
        // SAFETY: a registered handler obeys the contract; the caller guarantees the rest.
        unsafe { host::call(handler, frame, context, stage) }
    }
}

/// A buffer's dtype and dimensions for call frames.
fn described(what: &str, index: usize, leaf: Option<&TensorType>) -> Result<(DType, Vec<i64>), Error> {
    let Some(ty) = leaf else { return Ok((DType::Token, Vec::new())) };
    let dtype = ty.element.dtype().ok_or_else(|| {
        Error::unimplemented(format!("{what} {index}: the XLA FFI does not support element type {}", ty.element))
    })?;
    let too_large = |_| Error::invalid_argument(format!("{what} {index}: a dimension of {ty} does not fit in 64 bits"));
    let dim = |&dim: &usize| i64::try_from(dim).map_err(too_large);
    Ok((dtype, ty.dims.iter().map(dim).collect::<Result<_, _>>()?))
}
