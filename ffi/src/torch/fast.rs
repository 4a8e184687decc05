//! The calls that most operators get: a fixed number of row-major tensors and numbers, results with the shape of an
//! argument. All that is constant is prepared, nothing is on the heap, and arguments are not moved: what turns out to be
//! unusual leaves the stack as it was, and takes the general way.

use std::{
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use xla_ffi_sys::xla_ffi as sys;

use super::{
    context::{Contexts, shared},
    plan::{Input, OutputDType, OutputKind, Plan},
    shim::{Shim, TensorHandle},
};
use crate::{
    Result,
    descriptor::RawHandler,
    host::{Future, HostVersion, take_error},
};

/// The most arguments, results, and attributes each.
const MAX: usize = 6;

/// The most dimensions of a result.
const MAX_RANK: usize = 8;

/// What is constant in the calls of an operator.
pub(crate) struct Fast {
    execute: RawHandler,
    /// The frame but for the addresses of buffers and attributes.
    frame: sys::XLA_FFI_CallFrame,
    /// Where each tensor is on the stack, and each number with its dtype.
    tensors: Box<[usize]>,
    numbers: Box<[Number]>,
    outputs: Box<[Output]>,
    /// Whether an argument may share memory with one that is updated in place.
    may_overlap: bool,
}

// SAFETY: constant; the frame's pointers are to static tables and to the plan's names, which live as long.
unsafe impl Send for Fast {}
// SAFETY: as above.
unsafe impl Sync for Fast {}

/// A number: where it is on the stack, and the attribute that it is.
#[derive(Clone, Copy)]
struct Number {
    slot: usize,
    attr: usize,
    dtype: sys::XLA_FFI_DataType,
}

/// A result.
#[derive(Clone, Copy)]
struct Output {
    kind: Kind,
    /// The dtype's codes in torch and XLA, unless it is that of an argument.
    dtype: Option<(i32, sys::XLA_FFI_DataType)>,
    /// The argument with the dtype.
    typed_by: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    /// In the memory of an argument.
    InPlace(usize),
    /// New, with the dimensions of an argument.
    Like(usize),
    /// New, without dimensions.
    Rank0,
}

static BUFFERS: [u32; MAX] = [sys::XLA_FFI_ArgType_BUFFER; MAX];
static SCALARS: [u32; MAX] = [sys::XLA_FFI_AttrType_SCALAR; MAX];

impl Fast {
    /// `None` if the operator's calls are of another kind.
    pub(crate) fn new(plan: &Plan) -> Option<Fast> {
        let usual = plan.fixed
            && plan.on_host
            && !plan.by_function
            && matches!(plan.contexts, Contexts::Shared)
            && plan.args.len().max(plan.outputs.len()).max(plan.names.len()) <= MAX;
        if !usual {
            return None;
        }
        let mut tensors = vec![usize::MAX; plan.args.len()];
        let mut numbers = Vec::new();
        for (slot, input) in plan.inputs.iter().enumerate() {
            match input {
                Input::Tensor(index) => tensors[*index] = slot,
                Input::Scalar(attr, dtype) => numbers.push(Number { slot, attr: *attr, dtype: *dtype }),
                Input::Other(..) => return None,
            }
        }
        let outputs = plan.outputs.iter().map(|output| {
            let kind = match output.kind {
                OutputKind::InPlace(index) => Kind::InPlace(index),
                OutputKind::Like(index) if index < tensors.len() => Kind::Like(index),
                OutputKind::Rank0 => Kind::Rank0,
                _ => return None,
            };
            let (dtype, typed_by) = match output.dtype {
                OutputDType::Fixed(dtype, code) => (Some((code, dtype.code())), 0),
                OutputDType::Like(index) => (None, index),
                OutputDType::TypeParam(_) | OutputDType::Given(_) => return None,
            };
            Some(Output { kind, dtype, typed_by })
        });
        let outputs: Box<[Output]> = outputs.collect::<Option<_>>()?;
        let complete = numbers.len() == plan.names.len() && !tensors.contains(&usize::MAX);
        let frame = sys::XLA_FFI_CallFrame {
            struct_size: sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            api: HostVersion::default().api(),
            ctx: shared().as_raw(),
            stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
            args: sys::XLA_FFI_Args {
                struct_size: sys::XLA_FFI_Args_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: tensors.len() as i64,
                types: BUFFERS.as_ptr().cast_mut(),
                args: ptr::null_mut(),
            },
            rets: sys::XLA_FFI_Rets {
                struct_size: sys::XLA_FFI_Rets_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: outputs.len() as i64,
                types: BUFFERS.as_ptr().cast_mut(),
                rets: ptr::null_mut(),
            },
            attrs: sys::XLA_FFI_Attrs {
                struct_size: sys::XLA_FFI_Attrs_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: numbers.len() as i64,
                types: SCALARS.as_ptr().cast_mut(),
                names: plan.names.as_ptr(),
                attrs: ptr::null_mut(),
            },
            future: ptr::null_mut(),
        };
        complete.then(|| Fast {
            execute: plan.handler.execute,
            frame,
            may_overlap: !plan.in_place.is_empty() && tensors.len() > 1,
            tensors: tensors.into(),
            numbers: numbers.into(),
            outputs,
        })
    }
}

/// A scalar attribute and what it points to.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cell {
    scalar: sys::XLA_FFI_Scalar,
    bits: u64,
}

/// An argument or a result.
#[derive(Clone, Copy)]
#[repr(C)]
struct Operand {
    buffer: sys::XLA_FFI_Buffer,
    /// torch's code of the dtype.
    code: i32,
    /// The number of elements.
    len: i64,
}

/// The results that are made; deleted unless they are handed over.
struct Made<'s> {
    shim: &'s Shim,
    handles: [MaybeUninit<TensorHandle>; MAX],
    len: usize,
}

impl Drop for Made<'_> {
    #[inline]
    fn drop(&mut self) {
        for handle in &self.handles[..self.len] {
            // SAFETY: initialised below `len`; the tensor is ours.
            unsafe { (self.shim.delete_tensor)(handle.assume_init()) };
        }
    }
}

/// Makes a call, unless it is an unusual one: `None` leaves the stack as it was.
///
/// # Safety
/// As for [`kernel`](super::kernel::kernel).
#[inline]
pub(super) unsafe fn call(plan: &Plan, fast: &Fast, stack: *mut u64) -> Option<Result<()>> {
    let shim = plan.shim;
    let mut operands = [const { MaybeUninit::<Operand>::uninit() }; 2 * MAX];
    let mut args = [ptr::null_mut::<sys::XLA_FFI_Buffer>(); MAX];
    let mut rets = [ptr::null_mut::<sys::XLA_FFI_Buffer>(); MAX];
    let num_args = fast.tensors.len();
    for ((slot, operand), arg) in fast.tensors.iter().zip(&mut operands).zip(&mut args) {
        // SAFETY: a tensor of the stack, which lives until it is deleted below.
        let operand = operand.write(unsafe { describe(shim, handle(stack, *slot))? });
        *arg = &raw mut operand.buffer;
    }
    if fast.may_overlap {
        // SAFETY: the arguments are described.
        let described = unsafe { operands[..num_args].assume_init_ref() };
        if overlaps(fast, described) {
            return None;
        }
    }
    let mut made = Made { shim, handles: [const { MaybeUninit::uninit() }; MAX], len: 0 };
    for (output, ret) in fast.outputs.iter().zip(&mut rets) {
        let (rank, dims, like) = match output.kind {
            Kind::InPlace(index) => {
                *ret = args[index];
                continue;
            }
            Kind::Like(index) => {
                // SAFETY: the argument is described.
                let like = unsafe { operands[index].assume_init_ref() };
                (like.buffer.rank, like.buffer.dims, Some(like))
            }
            Kind::Rank0 => (0, ptr::null_mut(), None),
        };
        let (code, dtype) = output.dtype.unwrap_or_else(|| {
            // SAFETY: as above; the argument with the dtype is one of them.
            let typed = unsafe { operands[output.typed_by].assume_init_ref() };
            (typed.code, typed.buffer.dtype)
        });
        let new = empty(shim, plan.device.ty, rank, dims, like.map_or(1, |like| like.len), code)?;
        made.handles[made.len].write(new);
        let mut data = ptr::null_mut();
        let at = num_args + made.len;
        made.len += 1;
        // SAFETY: the tensor that was just made.
        if unsafe { (shim.data_ptr)(new, &raw mut data) } != 0 {
            return None;
        }
        let operand = operands[at].write(Operand { buffer: buffer(dtype, data, rank, dims), code, len: 0 });
        *ret = &raw mut operand.buffer;
    }
    let mut cells = [const { MaybeUninit::<Cell>::uninit() }; MAX];
    let mut attrs = [ptr::null_mut::<Cell>(); MAX];
    for (number, cell) in fast.numbers.iter().zip(&mut cells) {
        // SAFETY: a number of the stack.
        let bits = unsafe { stack.add(number.slot).read() };
        let scalar = sys::XLA_FFI_Scalar { dtype: number.dtype, value: ptr::null_mut() };
        let cell = cell.write(Cell { scalar, bits });
        cell.scalar.value = (&raw mut cell.bits).cast();
        attrs[number.attr] = cell;
    }
    let mut frame = fast.frame;
    frame.args.args = args.as_mut_ptr().cast();
    frame.rets.rets = rets.as_mut_ptr().cast();
    frame.attrs.attrs = attrs.as_mut_ptr().cast();
    // SAFETY: a whole frame of a handler of this crate; the buffers are valid until it is done.
    let outcome = unsafe { finish((fast.execute)(&raw mut frame), frame.future) };
    for slot in &fast.tensors {
        // SAFETY: the arguments are the kernel's to delete, and not used any more.
        unsafe { (shim.delete_tensor)(handle(stack, *slot)) };
    }
    if outcome.is_ok() {
        for (slot, handle) in made.handles[..made.len].iter().enumerate() {
            // SAFETY: there is room for the results, which belong to torch then.
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
unsafe fn handle(stack: *mut u64, slot: usize) -> TensorHandle {
    // SAFETY: as the caller guarantees.
    super::kernel::handle(unsafe { stack.add(slot).read() })
}

/// What a handler left: an error, a future, or nothing.
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

/// The description of a row-major tensor of a dtype that operations know.
///
/// # Safety
/// A live tensor.
#[inline(always)]
unsafe fn describe(shim: &Shim, tensor: TensorHandle) -> Option<Operand> {
    let (mut rank, mut code) = (0i64, 0i32);
    let (mut sizes, mut strides, mut data) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: as the caller guarantees. The sizes and strides are as many as the rank says.
    unsafe {
        let status = (shim.dim)(tensor, &raw mut rank)
            | (shim.sizes)(tensor, &raw mut sizes)
            | (shim.strides)(tensor, &raw mut strides)
            | (shim.dtype)(tensor, &raw mut code)
            | (shim.data_ptr)(tensor, &raw mut data);
        if status != 0 {
            return None;
        }
        let mut len = 1i64;
        for i in (0..rank as usize).rev() {
            let size = sizes.add(i).read();
            if size != 1 && strides.add(i).read() != len {
                return None;
            }
            len = len.wrapping_mul(size);
        }
        let dtype = shim.dtypes.known(code)?;
        Some(Operand { buffer: buffer(dtype.code(), data, rank, sizes), code, len })
    }
}

#[inline(always)]
fn buffer(dtype: sys::XLA_FFI_DataType, data: *mut std::ffi::c_void, rank: i64, dims: *mut i64) -> sys::XLA_FFI_Buffer {
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
fn empty(shim: &Shim, device: i32, rank: i64, dims: *const i64, len: i64, code: i32) -> Option<TensorHandle> {
    let mut strides = [0i64; MAX_RANK];
    let strides = strides.get_mut(..rank as usize)?;
    let mut step = len;
    for (i, stride) in strides.iter_mut().enumerate() {
        // SAFETY: as many as the rank says.
        let size = unsafe { dims.add(i).read() };
        // Without elements the general way has the right strides.
        if size == 0 {
            return None;
        }
        step /= size;
        *stride = step;
    }
    let mut tensor = ptr::null_mut();
    // SAFETY: as many sizes and strides as the rank says.
    let status = unsafe { (shim.empty_strided)(rank, dims, strides.as_ptr(), code, device, -1, &raw mut tensor) };
    (status == 0).then_some(tensor)
}

/// Whether an argument shares memory with one that is updated in place.
#[inline(never)]
fn overlaps(fast: &Fast, args: &[Operand]) -> bool {
    let extent = |operand: &Operand| {
        let bits = crate::DType::from_code(operand.buffer.dtype).map_or(0, crate::DType::bits);
        let start = operand.buffer.data.addr();
        (start, start + operand.len as usize * bits / 8)
    };
    let updated = fast.outputs.iter().filter_map(|output| match output.kind {
        Kind::InPlace(index) => Some(index),
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
