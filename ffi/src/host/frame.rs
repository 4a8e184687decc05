//! Call frames: what a host hands to a handler.

use std::ffi::c_void;
use std::{fmt, ptr};

use xla_ffi_sys::xla_ffi as sys;

use super::AttrValue;
use super::arena::Arena;
use super::attrs::{c_len, write_attrs};
use crate::DType;

/// Collects the arguments, results and attributes of a call.
///
/// ```
/// use oxcall::{DType, host::CallFrameBuilder};
/// let (x, mut y) = ([1f32, 2.0], [0f32; 2]);
/// let frame = CallFrameBuilder::new()
///     .arg(DType::F32, x.as_ptr().cast(), &[2])
///     .ret(DType::F32, y.as_mut_ptr().cast(), &[2])
///     .attr("eps", 1e-5f32)
///     .build();
/// assert_eq!((frame.num_args(), frame.num_rets()), (1, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallFrameBuilder {
    args: Vec<Buffer>,
    rets: Vec<Buffer>,
    attrs: Vec<(String, AttrValue)>,
    unsorted: bool,
}

#[derive(Clone, Debug)]
struct Buffer {
    dtype: DType,
    data: *mut c_void,
    dims: Vec<i64>,
}

// SAFETY: as for `CallFrame`: no safe method reads or writes what the address leads to.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    fn write(&self, arena: &mut Arena) -> *mut sys::XLA_FFI_Buffer {
        let dims = arena.slice(&self.dims);
        arena.value(sys::XLA_FFI_Buffer {
            struct_size: sys::XLA_FFI_Buffer_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            dtype: self.dtype.code(),
            data: self.data,
            rank: c_len(self.dims.len()),
            dims,
        })
    }
}

impl CallFrameBuilder {
    /// A builder without arguments, results and attributes.
    pub fn new() -> CallFrameBuilder {
        CallFrameBuilder::default()
    }

    /// Adds an argument: `data` points to an array of `dtype` and shape `dims`.
    pub fn arg(&mut self, dtype: DType, data: *const c_void, dims: &[i64]) -> &mut CallFrameBuilder {
        self.args.push(Buffer { dtype, data: data.cast_mut(), dims: dims.to_vec() });
        self
    }

    /// Adds a result: `data` points to memory for an array of `dtype` and shape `dims`.
    pub fn ret(&mut self, dtype: DType, data: *mut c_void, dims: &[i64]) -> &mut CallFrameBuilder {
        self.rets.push(Buffer { dtype, data, dims: dims.to_vec() });
        self
    }

    /// Adds an attribute.
    pub fn attr(&mut self, name: impl Into<String>, value: impl Into<AttrValue>) -> &mut CallFrameBuilder {
        self.attrs.push((name.into(), value.into()));
        self
    }

    /// Leaves attributes, and the entries of dictionaries, in the order in which they were added.
    ///
    /// XLA sorts them by name, and handlers may rely on it: this is for tests.
    pub fn unsorted(&mut self) -> &mut CallFrameBuilder {
        self.unsorted = true;
        self
    }

    /// The call frame.
    pub fn build(&self) -> CallFrame {
        let mut arena = Arena::default();
        let args: Vec<_> = self.args.iter().map(|arg| arg.write(&mut arena)).collect();
        let rets: Vec<_> = self.rets.iter().map(|ret| ret.write(&mut arena)).collect();
        let c_args = sys::XLA_FFI_Args {
            struct_size: sys::XLA_FFI_Args_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            size: c_len(args.len()),
            types: arena.slice(&vec![sys::XLA_FFI_ArgType_BUFFER; args.len()]),
            args: arena.slice(&args).cast(),
        };
        let c_rets = sys::XLA_FFI_Rets {
            struct_size: sys::XLA_FFI_Rets_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            size: c_len(rets.len()),
            types: arena.slice(&vec![sys::XLA_FFI_RetType_BUFFER; rets.len()]),
            rets: arena.slice(&rets).cast(),
        };
        let attrs = write_attrs(&mut arena, &self.attrs, !self.unsorted);
        let frame = arena.value(sys::XLA_FFI_CallFrame {
            struct_size: sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            api: ptr::null(),
            ctx: ptr::null_mut(),
            stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
            args: c_args,
            rets: c_rets,
            attrs,
            future: ptr::null_mut(),
        });
        CallFrame { frame, args, rets, _arena: arena }
    }
}

/// A call frame that owns everything but the buffers' data. It is built once, and patched for each call.
///
/// It may be moved between calls and threads: the C structs inside keep their addresses.
pub struct CallFrame {
    frame: *mut sys::XLA_FFI_CallFrame,
    args: Vec<*mut sys::XLA_FFI_Buffer>,
    rets: Vec<*mut sys::XLA_FFI_Buffer>,
    _arena: Arena,
}

// SAFETY: the frame owns all that its pointers lead to, except the buffers' data, which no safe method reads or
// writes; whoever makes the (unsafe) call answers for them.
unsafe impl Send for CallFrame {}
// SAFETY: as above; `&CallFrame` gives no way to change it.
unsafe impl Sync for CallFrame {}

impl CallFrame {
    /// Number of arguments.
    pub fn num_args(&self) -> usize {
        self.args.len()
    }

    /// Number of results.
    pub fn num_rets(&self) -> usize {
        self.rets.len()
    }

    /// Points argument `index` to other data of the same dtype and shape.
    ///
    /// # Panics
    /// If there is no such argument.
    pub fn set_arg_data(&mut self, index: usize, data: *const c_void) {
        // SAFETY: the buffer lies in the arena, and `&mut self` excludes other users.
        unsafe { (*self.args[index]).data = data.cast_mut() }
    }

    /// Points result `index` to other memory for the same dtype and shape.
    ///
    /// # Panics
    /// If there is no such result.
    pub fn set_ret_data(&mut self, index: usize, data: *mut c_void) {
        // SAFETY: as in `set_arg_data`.
        unsafe { (*self.rets[index]).data = data }
    }

    /// The C struct, for drivers that call a handler themselves or damage a frame on purpose. It reports
    /// `XLA_FFI_CallFrame_STRUCT_SIZE` as its size, and is valid until the frame is dropped.
    pub fn as_ptr(&mut self) -> *mut sys::XLA_FFI_CallFrame {
        self.frame
    }
}

impl fmt::Debug for CallFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFrame").field("num_args", &self.num_args()).field("num_rets", &self.num_rets()).finish()
    }
}
