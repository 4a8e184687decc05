//! Calls into the host through its API table, in the layout of the host's version.
//!
//! Layouts changed under the same names (`XLA_FFI_State_Set_Args` three times), and before jaxlib 0.6 the table lies
//! about its size; all that knowledge is here. Struct sizes are the oldest that carry the fields in use: newer hosts
//! accept them.
//!
//! # Facts about hosts
//!
//! Measured on the jaxlib versions of `docs/reference/matrix.md`; the code that relies on each is in brackets.
//!
//! * A call frame reports 168 bytes although its C struct has 176: `future` lies behind the reported end (`frame`,
//!   `host::frame`).
//! * Before jaxlib 0.6, the API table reports 88 bytes, whatever it holds (`HostApi::function`).
//! * jaxlib 0.4.38 inserted `ThreadPool_NumThreads` before the future functions without a new version. A call with an
//!   empty struct is refused by name, which tells the two apart (`HostApi::shift`).
//! * `State_Set` and `State_Get` have three layouts under one name, two of them of the same size; the minor version
//!   decides (`api::state`).
//! * The metadata query has no API table before jaxlib 0.8.1; a handler then reports version 0.1 (`entry`).
//! * XLA accepts a range of handler versions, and before jaxlib 0.8.1 only 0.1. A handler reports the host's version,
//!   at most ours (`entry`).
//! * `TypeInfo` and the deleter moved in jaxlib 0.8.1 (`state`, `HostApi::register_type`).
//! * Hosts free the dimensions of a frame when the handler returns, but keep the buffers: asynchronous handlers copy
//!   the dimensions (`context::task`).
//! * Attributes arrive sorted by name. The fast path looks where they then are; other orders work, more slowly
//!   (`frame`, `attr`).
//! * A Python `float` arrives as `f64` and an `int` as `s64` (`attr::convert`); the Python package sends the declared
//!   types.
//! * Buffers start at multiples of 64 bytes, even empty ones and tokens. Nothing relies on it: the element's alignment
//!   is checked.
//! * XLA:CPU calls neither prepare nor initialize; an error says so (`state`).

mod context;
mod error;
mod future;
mod state;

use std::ffi::c_void;
use std::marker::PhantomData;

use xla_ffi_sys::xla_ffi as sys;

use crate::{Error, Result};

/// The newest minor version of API 0 that this library was written against.
pub(crate) const MINOR: i32 = sys::XLA_FFI_API_MINOR as i32;

/// The table size that hosts before jaxlib 0.6 report, whatever its real size.
const DISHONEST_SIZE: usize = 88;

/// The functions of the table that return an error, by their place in the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Slot {
    ErrorCreate = 0,
    HandlerRegister = 3,
    StreamGet = 4,
    TypeRegister = 5,
    ContextGet = 6,
    StateSet = 7,
    StateGet = 8,
    DeviceMemoryAllocate = 9,
    DeviceMemoryFree = 10,
    ThreadPoolSchedule = 11,
    ThreadPoolNumThreads = 12,
    FutureCreate = 13,
    FutureSetAvailable = 14,
    FutureSetError = 15,
    RunId = 16,
    DeviceOrdinal = 17,
    FindExtension = 18,
    CustomOptions = 19,
}

/// A function of the table: all but two return an error.
type Function = unsafe extern "C" fn(*mut c_void) -> *mut sys::XLA_FFI_Error;

/// A host's API table.
#[derive(Clone, Copy)]
pub(crate) struct HostApi<'f> {
    raw: *const sys::XLA_FFI_Api,
    _frame: PhantomData<&'f sys::XLA_FFI_Api>,
}

// SAFETY: the table is constant, and its functions may be called from any thread.
unsafe impl Send for HostApi<'_> {}
// SAFETY: as above.
unsafe impl Sync for HostApi<'_> {}

impl<'f> HostApi<'f> {
    /// The table at `raw`; `None` if that is null.
    ///
    /// # Safety
    /// Null, or a host's API table that is live during `'f`.
    #[inline(always)]
    pub(crate) unsafe fn new(raw: *const sys::XLA_FFI_Api) -> Option<HostApi<'f>> {
        if raw.is_null() {
            return None;
        }
        Some(HostApi { raw, _frame: PhantomData })
    }

    /// The table at `raw`.
    ///
    /// # Safety
    /// A host's API table that is live during `'f`.
    #[inline(always)]
    pub(crate) unsafe fn known(raw: *const sys::XLA_FFI_Api) -> HostApi<'f> {
        HostApi { raw, _frame: PhantomData }
    }

    /// The same table for as long as the caller knows that the host lives.
    ///
    /// # Safety
    /// The host outlives `'g`.
    pub(crate) unsafe fn extend<'g>(self) -> HostApi<'g> {
        HostApi { raw: self.raw, _frame: PhantomData }
    }

    /// The table itself.
    pub(crate) fn raw(self) -> *const sys::XLA_FFI_Api {
        self.raw
    }

    /// The address of the table: the identity of the host.
    pub(crate) fn identity(self) -> usize {
        self.raw.addr()
    }

    /// The minor version that the host reports.
    #[inline]
    pub(crate) fn minor(self) -> i32 {
        // SAFETY: every table starts with its size; one that is too short for a version is taken for the oldest.
        unsafe { if (*self.raw).struct_size < DISHONEST_SIZE { 1 } else { (*self.raw).api_version.minor_version } }
    }

    /// The function in a slot, if the host has it.
    fn function(self, slot: Slot) -> Option<Function> {
        let index = slot as usize - self.shift(slot);
        let offset = 48 + 8 * index;
        // SAFETY: every table has a size.
        let size = unsafe { (*self.raw).struct_size };
        // Dishonest tables have the thread pool and futures at least; the run id came with 0.5.1, which cannot be told.
        let present = size >= offset + 8 || (size == DISHONEST_SIZE && slot as usize <= Slot::FutureSetError as usize);
        if !present {
            return None;
        }
        // SAFETY: the slot lies inside the table; slots are nullable function pointers.
        unsafe { self.raw.byte_add(offset).cast::<Option<Function>>().read() }
    }

    /// How many places before that in the newest table a slot is: one for the futures of jaxlib 0.4.34 to 0.4.36,
    /// which had no `ThreadPool_NumThreads` before them.
    ///
    /// The version number does not tell, but the host's complaint about a short struct names the struct.
    fn shift(self, slot: Slot) -> usize {
        // SAFETY: every table has a size.
        let dishonest = unsafe { (*self.raw).struct_size } == DISHONEST_SIZE;
        if !dishonest
            || !(Slot::ThreadPoolNumThreads as usize..=Slot::FutureSetError as usize).contains(&(slot as usize))
        {
            return 0;
        }
        // SAFETY: the twelfth slot is inside every dishonest table.
        let candidate = unsafe { self.raw.byte_add(48 + 8 * 12).cast::<Option<Function>>().read() };
        let mut probe = [0usize; 8];
        // SAFETY: both candidates check the struct's size (here 0) before they touch anything else.
        let error = candidate.map(|function| unsafe { function(probe.as_mut_ptr().cast()) });
        let shifted = error.is_some_and(|error| self.take(error).is_err_and(|e| e.message().contains("Future_Create")));
        usize::from(shifted)
    }

    /// Calls the function in a slot.
    ///
    /// # Safety
    /// `args` is the arguments struct of that function in the layout of the host's version.
    unsafe fn call<A>(self, slot: Slot, args: &mut A) -> Result<()> {
        let function = self.function(slot).ok_or_else(|| self.missing(slot))?;
        // SAFETY: as the caller guarantees.
        self.take(unsafe { function((&raw mut *args).cast()) })
    }

    #[cold]
    fn missing(self, slot: Slot) -> Error {
        Error::unimplemented(format!("this host (XLA FFI API 0.{}) has no {slot:?}", self.minor()))
    }

    #[cold]
    fn one_state(self) -> Error {
        let minor = self.minor();
        Error::unimplemented(format!("this host (XLA FFI API 0.{minor}) keeps the state of the instantiate stage only"))
    }
}

fn span(text: &str) -> sys::XLA_FFI_ByteSpan {
    sys::XLA_FFI_ByteSpan { ptr: text.as_ptr().cast(), len: text.len() }
}
