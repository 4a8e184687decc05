//! The place of a call on a GPU.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaStream, sys};

use super::device::Current;
use super::{CudaDevice, driver, known};
use crate::context::{Context, FromContext, Stream};
use crate::{Error, Result};

/// The device of a call, with its primary context current on this thread, and the stream on which work must be
/// enqueued: XLA's stream, or the current one of torch.
///
/// A parameter of handlers for `platform = "CUDA"`. The context that was current before is current again when it is
/// dropped.
pub struct Cuda<'f> {
    device: CudaDevice,
    stream: Stream<'f>,
    _current: Current,
    /// The context is current on one thread.
    _thread: PhantomData<*mut ()>,
}

impl Cuda<'_> {
    /// The device.
    pub fn device(&self) -> CudaDevice {
        self.device
    }

    /// The stream as the driver's handle.
    pub fn raw_stream(&self) -> sys::CUstream {
        self.stream.as_ptr().cast()
    }

    /// The stream for `cudarc`, which does not destroy it.
    ///
    /// # Safety
    /// Neither it nor a clone of it is used after the handler has returned.
    pub unsafe fn stream(&self) -> Arc<CudaStream> {
        // SAFETY: a stream of this context, which was checked; the caller sees to the rest.
        unsafe { self.device.context().wrap_borrowed_stream(self.raw_stream()) }
    }

    /// Whether the stream is being captured into a CUDA graph.
    ///
    /// # Errors
    /// That of the driver.
    pub fn is_capturing(&self) -> Result<bool> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: a live stream, and room for the answer.
        let asked = unsafe { sys::cuStreamIsCapturing(self.raw_stream(), &raw mut status) }.result();
        asked.map_err(|error| driver::error("asking whether the stream is being captured", error))?;
        Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }
}

impl fmt::Debug for Cuda<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("device", &self.device).field("stream", &self.stream.as_ptr()).finish()
    }
}

impl<'f> FromContext<'f> for Cuda<'f> {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Cuda<'f>> {
        let device: CudaDevice = context.get()?;
        let stream: Stream<'f> = context.get()?;
        let current = device.enter()?;
        // The null stream is that of whichever context is current.
        if !stream.as_ptr().is_null() && !known::is_stream_of(stream.as_ptr().cast(), device)? {
            return Err(Error::invalid_argument(format!(
                "expected a stream of the primary context of {device}, got a stream of another context: pass a stream \
                 of JAX or torch on this device"
            )));
        }
        Ok(Cuda { device, stream, _current: current, _thread: PhantomData })
    }
}
