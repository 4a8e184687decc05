//! Custom calls for platforms whose memory the host can read: handlers from the registry, called without `unsafe`.

use std::ffi::c_void;
use std::sync::Arc;

use oxcall::DType;
use oxcall::descriptor::{RawHandler, Stage};
use oxcall::host::{
    AttrValue, CallFrame, CallFrameBuilder, HostVersion, InvokeContext, Registration, StageState, call, find_handler,
};

use crate::{DeviceId, Error, ExecutionOptions, Result};

/// A custom call of a program: a handler that was registered for the platform, instantiated with its attributes.
///
/// Handlers are registered through the server's FFI extension or [`oxcall::host`]. Whoever registers one for a platform
/// vouches that it obeys the XLA FFI and takes this platform's stream; that is why calling it is safe here.
#[derive(Debug)]
pub struct CustomCall {
    target: String,
    handler: Registration,
    attrs: Vec<(String, AttrValue)>,
    state: Arc<StageState>,
}

/// An argument in host memory.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    /// The type of the elements.
    pub dtype: DType,
    /// The dimensions.
    pub dims: &'a [i64],
    /// All elements in row-major order.
    pub data: &'a [u8],
}

/// A result in host memory.
#[derive(Debug)]
pub struct TensorMut<'a> {
    /// The type of the elements.
    pub dtype: DType,
    /// The dimensions.
    pub dims: &'a [i64],
    /// Room for all elements in row-major order.
    pub data: &'a mut [u8],
}

/// Where and with what a custom call runs.
#[derive(Debug)]
pub struct CallContext<'a, S> {
    /// The device.
    pub device: DeviceId,
    /// A number that is the same for all calls of one execution.
    pub run_id: i64,
    /// The platform's stream, if it has such a thing: handlers get its address.
    pub stream: Option<&'a S>,
    /// The execution's options, for their user data.
    pub options: &'a ExecutionOptions,
}

impl CustomCall {
    /// Looks up the handler of a target, and runs its instantiate stage.
    ///
    /// # Errors
    /// `NOT_FOUND` if there is no such handler on this platform; what its instantiate stage returns.
    pub fn new(target: &str, platform: &str, attrs: Vec<(String, AttrValue)>) -> Result<CustomCall> {
        let handler = find_handler(target, platform)?;
        let this = CustomCall { target: target.to_owned(), handler, attrs, state: Arc::default() };
        if let Some(instantiate) = handler.instantiate {
            let context = this.builder().build();
            // XLA passes only attributes to this stage.
            this.stage(instantiate, Stage::Instantiate, &mut this.frame(&[], &mut [])?, &context)?;
        }
        Ok(this)
    }

    /// Runs the other stages, and waits until the call is over.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for tensors whose data does not fit their dimensions; what the handler returns.
    pub fn run<S: Sync>(
        &self,
        args: &[TensorRef<'_>],
        rets: &mut [TensorMut<'_>],
        context: &CallContext<'_, S>,
    ) -> Result<()> {
        let mut builder = self.builder().device_ordinal(context.device.0).run_id(context.run_id);
        if let Some(stream) = context.stream {
            builder = builder.stream(std::ptr::from_ref(stream).cast_mut().cast::<c_void>());
        }
        for data in &context.options.user_data {
            builder = builder.user_data(data.type_id, data.address as *mut c_void);
        }
        let context = builder.build();
        let mut frame = self.frame(args, rets)?;
        let stages = [
            (self.handler.prepare, Stage::Prepare),
            (self.handler.initialize, Stage::Initialize),
            (Some(self.handler.execute), Stage::Execute),
        ];
        for (handler, stage) in stages {
            if let Some(handler) = handler {
                self.stage(handler, stage, &mut frame, &context)?;
            }
        }
        Ok(())
    }

    /// The host that the handler was built for, with the state of this call.
    fn builder(&self) -> oxcall::host::InvokeContextBuilder {
        let version = HostVersion::of_minor(self.handler.minor);
        InvokeContext::builder().version(version).state(Stage::Instantiate, self.state.clone())
    }

    fn frame(&self, args: &[TensorRef<'_>], rets: &mut [TensorMut<'_>]) -> Result<CallFrame> {
        let mut frame = CallFrameBuilder::new();
        for arg in args {
            self.check(arg.dtype, arg.dims, arg.data)?;
            frame.arg(arg.dtype, arg.data.as_ptr().cast(), arg.dims);
        }
        for ret in rets {
            self.check(ret.dtype, ret.dims, ret.data)?;
            frame.ret(ret.dtype, ret.data.as_mut_ptr().cast(), ret.dims);
        }
        for (name, value) in &self.attrs {
            frame.attr(name, value.clone());
        }
        Ok(frame.build())
    }

    fn check(&self, dtype: DType, dims: &[i64], data: &[u8]) -> Result<()> {
        let count = dims.iter().try_fold(1usize, |count, &dim| count.checked_mul(usize::try_from(dim).ok()?));
        if count.and_then(|count| dtype.size_in_bytes(count)) == Some(data.len()) {
            return Ok(());
        }
        let message = format!("{}: a buffer of {dtype}{dims:?} got {} bytes", self.target, data.len());
        Err(Error::invalid_argument(message))
    }

    fn stage(&self, handler: RawHandler, stage: Stage, frame: &mut CallFrame, context: &InvokeContext) -> Result<()> {
        // SAFETY: handlers in the registry obey the XLA FFI, and take the stream and user data of this platform, as
        // whoever registered them vouched. The frame's buffers are borrowed slices of the right length, which outlive
        // the call, since it is waited for.
        let outcome = unsafe { call(handler, frame, context, stage) }.and_then(|future| match future {
            Some(future) => future.wait(),
            None => Ok(()),
        });
        outcome.map_err(|error| error.context(format!("custom call '{}'", self.target)))
    }
}
