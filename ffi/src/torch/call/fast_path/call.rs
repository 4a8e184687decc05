//! A call on the fast path.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use xla_ffi_sys::xla_ffi as sys;

use super::{Arg, FastPath, Kind, MAX};
use crate::Result;
use crate::host::{Future, take_error};
use crate::torch::libtorch::ivalue;
use crate::torch::libtorch::shim::{TensorHandle, requires_grad};

/// The largest rank of a result.
const MAX_RANK: usize = 8;

/// A scalar attribute and the C struct that points to it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cell {
    scalar: sys::XLA_FFI_Scalar,
    bits: u64,
}

/// An argument or a result. Its address is also that of the buffer.
#[derive(Clone, Copy)]
#[repr(C)]
struct Operand {
    buffer: sys::XLA_FFI_Buffer,
    /// torch's code of the dtype.
    code: i32,
    /// The number of elements.
    len: i64,
}

/// The results made so far; deleted unless they are handed over.
struct NewResults<'f> {
    fast: &'f FastPath,
    handles: [MaybeUninit<TensorHandle>; MAX],
    len: usize,
}

impl Drop for NewResults<'_> {
    #[inline]
    fn drop(&mut self) {
        for handle in &self.handles[..self.len] {
            // SAFETY: initialised below `len`; the tensor is ours.
            unsafe { (self.fast.delete_tensor)(handle.assume_init()) };
        }
    }
}

/// The arguments on the stack, deleted on drop.
struct Arguments<'f> {
    fast: &'f FastPath,
    stack: *mut u64,
    count: usize,
}

impl Arguments<'_> {
    /// # Safety
    /// They are on the stack, described and not deleted.
    #[inline(always)]
    unsafe fn take(fast: &FastPath, stack: *mut u64, count: usize) -> Arguments<'_> {
        Arguments { fast, stack, count }
    }
}

impl Drop for Arguments<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        for tensor in &self.fast.args[..self.count] {
            // SAFETY: as `take` demands.
            unsafe { (self.fast.delete_tensor)(handle(self.stack, tensor.slot)) };
        }
    }
}

impl FastPath {
    /// Makes a call, unless it is an unusual one: then it returns `None`, and the stack is unchanged.
    ///
    /// # Safety
    /// As for [`Kernel::run`](crate::torch::call::Kernel::run).
    #[inline]
    pub(in crate::torch) unsafe fn call(&self, stack: *mut u64) -> Option<Result<()>> {
        // SAFETY: as the caller guarantees.
        unsafe { if self.unary { call_of::<true>(self, stack) } else { call_of::<false>(self, stack) } }
    }
}

/// A call of an operator with one argument, one result and nothing else, or of any operator.
///
/// # Safety
/// As for [`FastPath::call`].
#[inline(always)]
unsafe fn call_of<const UNARY: bool>(fast: &FastPath, stack: *mut u64) -> Option<Result<()>> {
    let count = |number: u8, unary: usize| if UNARY { unary } else { usize::from(number).min(MAX) };
    let (num_args, num_outputs) = (count(fast.num_args, 1), count(fast.num_outputs, 1));
    let mut operands = [const { MaybeUninit::<Operand>::uninit() }; 2 * MAX];
    let mut args = [const { MaybeUninit::<*mut sys::XLA_FFI_Buffer>::uninit() }; MAX];
    let mut rets = [const { MaybeUninit::<*mut sys::XLA_FFI_Buffer>::uninit() }; MAX];
    let tensors = &fast.args[..num_args];
    if let Some(function) = fast.requires_grad
        // SAFETY: it takes no arguments.
        && unsafe { (fast.grad_mode)() }
        // SAFETY: a tensor of the stack, which lives until it is deleted below.
        && tensors.iter().any(|tensor| unsafe { requires_grad(function, handle(stack, tensor.slot)) })
    {
        return None;
    }
    for ((tensor, operand), arg) in tensors.iter().zip(&mut operands).zip(&mut args) {
        // SAFETY: a tensor of the stack, which lives until it is deleted below.
        let described = unsafe { describe(fast, tensor, handle(stack, tensor.slot), operand.as_mut_ptr()) };
        if !described {
            return None;
        }
        arg.write(operand.as_mut_ptr().cast());
    }
    if !UNARY && fast.may_overlap {
        // SAFETY: the arguments are described.
        let described = unsafe { operands[..num_args].assume_init_ref() };
        if overlaps(fast, described) {
            return None;
        }
    }
    if fast.promotes {
        // SAFETY: the arguments are described.
        let described = unsafe { operands[..num_args].assume_init_ref() };
        let first = described.first()?;
        let is_usual = |operand: &Operand| operand.code == first.code && has_dims_of(operand, first);
        if fast.codes >> first.code & 1 == 0 || !described[1..].iter().all(is_usual) {
            return None;
        }
    }
    let mut made = NewResults { fast, handles: [const { MaybeUninit::uninit() }; MAX], len: 0 };
    for (output, ret) in fast.outputs[..num_outputs].iter().zip(&mut rets) {
        let (rank, dims, like) = match output.kind {
            Kind::InPlace(index) => {
                // The same pointer: another borrow of the operand would end this one.
                *ret = args[usize::from(index)];
                continue;
            }
            Kind::Like(index) => {
                // SAFETY: the argument is described.
                let like = unsafe { operands[usize::from(index)].assume_init_ref() };
                (like.buffer.rank, like.buffer.dims, Some(like))
            }
            Kind::Rank0 => (0, ptr::null_mut(), None),
        };
        let (code, dtype) = match output.typed_by {
            None => (i32::from(output.codes.0), u32::from(output.codes.1)),
            Some(index) => {
                // SAFETY: as above.
                let typed = unsafe { operands[usize::from(index)].assume_init_ref() };
                (typed.code, typed.buffer.dtype)
            }
        };
        let new = empty(fast, rank, dims, like.map_or(1, |like| like.len), code)?;
        made.handles[made.len].write(new);
        let mut data = ptr::null_mut();
        let at = num_args + made.len;
        made.len += 1;
        // SAFETY: the tensor that was just made.
        if unsafe { (fast.data_ptr)(new, &raw mut data) } != 0 {
            return None;
        }
        operands[at].write(Operand { buffer: buffer(dtype, data, rank, dims), code, len: 0 });
        ret.write(operands[at].as_mut_ptr().cast());
    }
    let mut cells = [const { MaybeUninit::<Cell>::uninit() }; MAX];
    let mut attrs = [const { MaybeUninit::<*mut Cell>::uninit() }; MAX];
    for (number, cell) in fast.numbers[..count(fast.num_numbers, 0)].iter().zip(&mut cells) {
        // SAFETY: a number of the stack.
        let bits = unsafe { stack.add(usize::from(number.slot)).read() };
        let scalar = sys::XLA_FFI_Scalar { dtype: u32::from(number.dtype), value: ptr::null_mut() };
        let cell = cell.write(Cell { scalar, bits });
        cell.scalar.value = (&raw mut cell.bits).cast();
        attrs[usize::from(number.attr)].write(cell);
    }
    let (args, rets, attrs) = (args.as_mut_ptr().cast(), rets.as_mut_ptr().cast(), attrs.as_mut_ptr().cast());
    let mut frame = fast.frame(args, rets, attrs);
    // SAFETY: a complete frame of a handler of this crate; the buffers are valid until the call completes.
    let outcome = unsafe { finish((fast.execute)(&raw mut frame), frame.future) };
    // SAFETY: the kernel has to delete the arguments, and does not use them after this block.
    let taken = unsafe { Arguments::take(fast, stack, num_args) };
    if outcome.is_ok()
        && let Some(bump) = fast.bump_version
    {
        for output in &fast.outputs[..num_outputs] {
            if let Kind::InPlace(index) = output.kind {
                // SAFETY: an argument, which lives until it is deleted below, even if this throws.
                unsafe { bump(handle(stack, tensors[usize::from(index)].slot)) };
            }
        }
    }
    drop(taken);
    if outcome.is_ok() {
        for (slot, handle) in made.handles[..made.len].iter().enumerate() {
            // SAFETY: there is room for the results, which then belong to torch.
            unsafe { stack.add(slot).write(handle.assume_init().expose_provenance() as u64) };
        }
        made.len = 0;
    }
    Some(outcome)
}

/// The tensor in a slot of the stack.
///
/// # Safety
/// There is one.
#[inline(always)]
unsafe fn handle(stack: *mut u64, slot: u8) -> TensorHandle {
    // SAFETY: as the caller guarantees.
    ivalue::handle(unsafe { stack.add(usize::from(slot)).read() })
}

/// The outcome of a handler: an error, a future, or nothing.
///
/// # Safety
/// Both are from a call of a handler through this crate's API table, taken for the first time.
#[inline(always)]
unsafe fn finish(error: *mut sys::XLA_FFI_Error, future: *mut sys::XLA_FFI_Future) -> Result<()> {
    if error.is_null() && future.is_null() {
        return Ok(());
    }
    // SAFETY: as the caller guarantees.
    match unsafe { (take_error(error), Future::take(future)) } {
        (Some(error), _) => Err(error),
        (None, Some(future)) => future.wait(),
        (None, None) => Ok(()),
    }
}

/// Writes the description of a tensor, and returns whether it is row-major and of a dtype that operations support.
///
/// # Safety
/// A live tensor; `operand` points to room for the description.
#[inline(always)]
unsafe fn describe(fast: &FastPath, arg: &Arg, tensor: TensorHandle, operand: *mut Operand) -> bool {
    let (mut rank, mut code, mut offset, mut stored) = (0i64, 0i32, 0i64, 0i64);
    let (mut sizes, mut strides, mut data) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: as the caller guarantees. The sizes and strides are as many as the rank says.
    unsafe {
        let status = (fast.dim)(tensor, &raw mut rank)
            | (fast.sizes)(tensor, &raw mut sizes)
            | (fast.strides)(tensor, &raw mut strides)
            | (fast.dtype)(tensor, &raw mut code)
            | (fast.data_ptr)(tensor, &raw mut data)
            | (fast.storage_offset)(tensor, &raw mut offset)
            | (fast.storage_size)(tensor, &raw mut stored);
        if status != 0 {
            return false;
        }
        let mut len = 1i64;
        for i in (0..rank as usize).rev() {
            let size = sizes.add(i).read();
            if size != 1 && strides.add(i).read() != len {
                return false;
            }
            len = len.wrapping_mul(size);
        }
        let (dtype, bytes) = if code == i32::from(arg.code) && arg.dtype != 0 {
            (u32::from(arg.dtype), i64::from(arg.bytes))
        } else {
            let Some(dtype) = fast.dtypes.known(code) else { return false };
            (dtype.code(), dtype.bits() as i64 / 8)
        };
        // The storage may have been shrunk below the tensor; the slow path reports that.
        if offset.wrapping_add(len).wrapping_mul(bytes) > stored {
            return false;
        }
        operand.write(Operand { buffer: buffer(dtype, data, rank, sizes), code, len });
        true
    }
}

/// Whether two arguments have the same dimensions.
#[inline(always)]
fn has_dims_of(operand: &Operand, other: &Operand) -> bool {
    let (rank, dims) = (operand.buffer.rank, operand.buffer.dims);
    // SAFETY: as many dimensions as the rank says.
    let is_equal = |at: usize| unsafe { dims.add(at).read() == other.buffer.dims.add(at).read() };
    rank == other.buffer.rank && (0..rank as usize).all(is_equal)
}

#[inline(always)]
fn buffer(dtype: sys::XLA_FFI_DataType, data: *mut c_void, rank: i64, dims: *mut i64) -> sys::XLA_FFI_Buffer {
    sys::XLA_FFI_Buffer {
        struct_size: sys::XLA_FFI_Buffer_STRUCT_SIZE as usize,
        extension_start: ptr::null_mut(),
        dtype,
        data,
        rank,
        dims: NonNull::new(dims).unwrap_or(NonNull::dangling()).as_ptr(),
    }
}

/// A new tensor on the host with `len` elements.
#[inline(always)]
fn empty(fast: &FastPath, rank: i64, dims: *const i64, len: i64, code: i32) -> Option<TensorHandle> {
    let mut strides = [0i64; MAX_RANK];
    let strides = strides.get_mut(..rank as usize)?;
    let mut step = len;
    for (i, stride) in strides.iter_mut().enumerate() {
        // SAFETY: as many as the rank says.
        let size = unsafe { dims.add(i).read() };
        // Without elements, the slow path has the right strides.
        if size == 0 {
            return None;
        }
        step /= size;
        *stride = step;
    }
    let mut tensor = ptr::null_mut();
    // SAFETY: as many sizes and strides as the rank says.
    let status = unsafe { (fast.empty_strided)(rank, dims, strides.as_ptr(), code, fast.device, -1, &raw mut tensor) };
    (status == 0).then_some(tensor)
}

/// Whether an argument shares memory with one that is updated in place.
#[inline(never)]
fn overlaps(fast: &FastPath, args: &[Operand]) -> bool {
    let extent = |operand: &Operand| {
        let bits = crate::DType::from_code(operand.buffer.dtype).map_or(0, crate::DType::bits);
        let start = operand.buffer.data.addr();
        (start, start + operand.len as usize * bits / 8)
    };
    let updated = fast.outputs[..usize::from(fast.num_outputs)].iter().filter_map(|output| match output.kind {
        Kind::InPlace(index) => Some(usize::from(index)),
        _ => None,
    });
    updated.into_iter().any(|index| {
        let (first, last) = extent(&args[index]);
        args.iter().enumerate().any(|(other, operand)| {
            let (start, end) = extent(operand);
            other != index && start < last && first < end
        })
    })
}
