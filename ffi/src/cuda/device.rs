//! Devices, and their primary contexts: those that XLA and torch use.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::{CudaContext, result, sys};

use super::driver;
use crate::context::{Context, DeviceOrdinal, FromContext};
use crate::sync::Mutex;
use crate::{Error, Result};

/// A device with its primary context. As a parameter it is the device of the call.
#[derive(Clone, Copy)]
pub struct CudaDevice {
    known: &'static Known,
}

/// The properties of a device, kept until the process ends.
struct Known {
    context: Arc<CudaContext>,
    compute_capability: (i32, i32),
    driver_version: i32,
}

impl CudaDevice {
    /// The device of a number.
    ///
    /// # Errors
    /// Without a driver, or without such a device.
    pub fn new(ordinal: i32) -> Result<CudaDevice> {
        static DEVICES: Mutex<Vec<&'static Known>> = Mutex::new(Vec::new());
        let wanted = usize::try_from(ordinal).map_err(|_| {
            Error::invalid_argument(format!("CUDA device {ordinal} does not exist: ordinals start at 0"))
        })?;
        let mut devices = DEVICES.lock();
        if let Some(known) = devices.iter().find(|known| known.context.ordinal() == wanted) {
            return Ok(CudaDevice { known });
        }
        driver::require()?;
        let failed = |error| driver::error(format_args!("opening CUDA device {ordinal}"), error);
        let before = Current::get().map_err(failed)?;
        let context = CudaContext::new(wanted).map_err(failed)?;
        // Whoever called had another device, or none.
        let restored = Current { before, changed: true };
        // SAFETY: memory of this context is not cudarc's own, so that it has no events to keep.
        unsafe { context.disable_event_tracking() };
        let compute_capability = context.compute_capability().map_err(failed)?;
        let mut driver_version = 0;
        // SAFETY: it writes the version.
        unsafe { sys::cuDriverGetVersion(&raw mut driver_version) }.result().map_err(failed)?;
        drop(restored);
        // One for each device, for ever: modules and the contexts of other threads refer to it.
        let known: &'static Known = Box::leak(Box::new(Known { context, compute_capability, driver_version }));
        devices.push(known);
        Ok(CudaDevice { known })
    }

    /// The device's number.
    pub fn ordinal(&self) -> usize {
        self.known.context.ordinal()
    }

    /// Its primary context, for other uses of `cudarc`.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.known.context
    }

    /// Its compute capability: major and minor number.
    pub fn compute_capability(&self) -> (i32, i32) {
        self.known.compute_capability
    }

    /// Whether the driver is of this version or later, `12040` for 12.4.
    pub(super) fn driver_is(&self, version: i32) -> bool {
        self.known.driver_version >= version
    }

    /// Makes the context current on this thread, for as long as the value lives.
    pub(super) fn enter(&self) -> Result<Current> {
        let failed = |error| driver::error(format_args!("making {self} current"), error);
        let before = Current::get().map_err(failed)?;
        let changed = before != Some(self.known.context.cu_ctx());
        if changed {
            self.known.context.bind_to_thread().map_err(failed)?;
        }
        Ok(Current { before, changed })
    }
}

impl fmt::Display for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUDA device {}", self.ordinal())
    }
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for CudaDevice {
    fn eq(&self, other: &CudaDevice) -> bool {
        std::ptr::eq(self.known, other.known)
    }
}

impl<'f> FromContext<'f> for CudaDevice {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<CudaDevice> {
        if let Ok(DeviceOrdinal(ordinal)) = context.get() {
            return CudaDevice::new(ordinal);
        }
        // Hosts before jaxlib 0.6 do not tell, but make the context of the device current.
        driver::require()?;
        let mut ordinal = 0;
        // SAFETY: it writes the device's number.
        let asked = unsafe { sys::cuCtxGetDevice(&raw mut ordinal) }.result();
        asked.map_err(|error| driver::error("asking for the current device", error))?;
        CudaDevice::new(ordinal)
    }
}

/// A context that is current on this thread; the one before is current again after it, since torch and others keep
/// their device in it.
pub(super) struct Current {
    before: Option<sys::CUcontext>,
    changed: bool,
}

impl Current {
    fn get() -> Result<Option<sys::CUcontext>, result::DriverError> {
        match result::ctx::get_current() {
            // The first call of the driver in this process.
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_NOT_INITIALIZED)) => Ok(None),
            current => current,
        }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if self.changed {
            // SAFETY: it was current on this thread. A failure shows in the next call.
            let _ = unsafe { sys::cuCtxSetCurrent(self.before.unwrap_or(std::ptr::null_mut())) };
        }
    }
}
