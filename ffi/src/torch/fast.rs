//! The calls that most operators get: a fixed number of row-major tensors and numbers, results with the shape of an
//! argument. All that is constant is prepared, nothing is on the heap, and arguments are not moved: what turns out to be
//! unusual leaves the stack as it was, and takes the general way.

use std::{
    ffi::c_void,
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use xla_ffi_sys::xla_ffi as sys;

use super::{
    context::{Contexts, shared},
    dtype::DTypes,
    plan::{Input, OutputDType, OutputKind, Plan},
    shim::{Status, TensorHandle},
};
use crate::{
    Result,
    descriptor::{DTypeRule, Param, RawHandler},
    host::{Future, HostVersion, take_error},
};

/// The most arguments, results, and attributes each.
const MAX: usize = 6;

/// The most dimensions of a result.
const MAX_RANK: usize = 8;

/// What is constant in the calls of an operator, in as few cache lines as it takes, and in the order of its use: between
/// two calls Python has used most of the cache.
#[repr(C, align(64))]
pub(crate) struct Fast {
    execute: RawHandler,
    dim: unsafe extern "C" fn(TensorHandle, *mut i64) -> Status,
    sizes: unsafe extern "C" fn(TensorHandle, *mut *mut i64) -> Status,
    strides: unsafe extern "C" fn(TensorHandle, *mut *mut i64) -> Status,
    dtype: unsafe extern "C" fn(TensorHandle, *mut i32) -> Status,
    data_ptr: unsafe extern "C" fn(TensorHandle, *mut *mut c_void) -> Status,
    num_args: u8,
    num_outputs: u8,
    num_numbers: u8,
    /// Whether an argument may share memory with one that is updated in place.
    may_overlap: bool,
    args: [Arg; MAX],

    delete_tensor: unsafe extern "C" fn(TensorHandle) -> Status,
    api: *const sys::XLA_FFI_Api,
    ctx: *mut sys::XLA_FFI_InvokeContext,
    /// The names of the attributes.
    names: *mut *mut sys::XLA_FFI_ByteSpan,
    /// The kinds of operands, and of attributes below.
    buffers: [u32; MAX],
    outputs: [Output; MAX],

    empty_strided: unsafe extern "C" fn(i64, *const i64, *const i64, i32, i32, i32, *mut TensorHandle) -> Status,
    device: i32,
    scalars: [u32; MAX],
    numbers: [Number; MAX],
    dtypes: DTypes,
}

/// A tensor among the arguments.
#[derive(Clone, Copy, Default)]
struct Arg {
    /// Where it is on the stack.
    slot: u8,
    /// torch's code of the dtype that it must have, and XLA's; 0 for the latter if it may have several.
    code: u8,
    dtype: u8,
}

// SAFETY: constant; the pointers are to static tables, a shared context, and the plan's names, which live as long.
unsafe impl Send for Fast {}
// SAFETY: as above.
unsafe impl Sync for Fast {}

/// A number: where it is on the stack, and the attribute that it is.
#[derive(Clone, Copy, Default)]
struct Number {
    slot: u8,
    attr: u8,
    dtype: u8,
}

/// A result.
#[derive(Clone, Copy)]
struct Output {
    kind: Kind,
    /// The argument with the dtype, unless that is fixed.
    typed_by: Option<u8>,
    /// The codes of a fixed dtype in torch and in XLA.
    codes: (u8, u8),
}

#[derive(Clone, Copy)]
enum Kind {
    /// In the memory of an argument.
    InPlace(u8),
    /// New, with the dimensions of an argument.
    Like(u8),
    /// New, without dimensions.
    Rank0,
}

impl Fast {
    /// `None` if the operator's calls are of another kind.
    pub(crate) fn new(plan: &Plan) -> Option<Fast> {
        let usual = plan.fixed
            && plan.on_host
            && !plan.by_function
            && matches!(plan.contexts, Contexts::Shared)
            && plan.args.len().max(plan.outputs.len()).max(plan.names.len()) <= MAX
            && plan.inputs.len() == plan.args.len() + plan.names.len();
        if !usual {
            return None;
        }
        let shim = plan.shim;
        let arg = |param: &&'static Param| match param.dtype {
            DTypeRule::One(dtype) => {
                let code = shim.dtypes.code(dtype).and_then(|code| u8::try_from(code).ok());
                code.map_or(Arg::default(), |code| Arg { slot: 0, code, dtype: dtype.code() as u8 })
            }
            _ => Arg::default(),
        };
        let mut args = [Arg::default(); MAX];
        for (compact, param) in args.iter_mut().zip(&plan.args) {
            *compact = arg(param);
        }
        let mut fast = Fast {
            execute: plan.handler.execute,
            dim: shim.dim,
            sizes: shim.sizes,
            strides: shim.strides,
            dtype: shim.dtype,
            data_ptr: shim.data_ptr,
            num_args: plan.args.len() as u8,
            num_outputs: plan.outputs.len() as u8,
            num_numbers: plan.names.len() as u8,
            may_overlap: !plan.in_place.is_empty() && plan.args.len() > 1,
            args,
            delete_tensor: shim.delete_tensor,
            api: HostVersion::default().api(),
            ctx: shared().as_raw(),
            names: plan.names.as_ptr(),
            buffers: [sys::XLA_FFI_ArgType_BUFFER; MAX],
            outputs: [Output { kind: Kind::Rank0, typed_by: None, codes: (0, 0) }; MAX],
            empty_strided: shim.empty_strided,
            device: plan.device.ty,
            scalars: [sys::XLA_FFI_AttrType_SCALAR; MAX],
            numbers: [Number::default(); MAX],
            dtypes: shim.dtypes,
        };
        let mut numbers = fast.numbers.iter_mut();
        for (slot, input) in plan.inputs.iter().enumerate() {
            match input {
                Input::Tensor(index) => fast.args[*index].slot = slot as u8,
                Input::Scalar(attr, dtype) => {
                    *numbers.next()? = Number { slot: slot as u8, attr: *attr as u8, dtype: *dtype as u8 };
                }
                Input::Other(..) => return None,
            }
        }
        for (output, compact) in plan.outputs.iter().zip(&mut fast.outputs) {
            compact.kind = match output.kind {
                OutputKind::InPlace(index) => Kind::InPlace(index as u8),
                OutputKind::Like(index) if index < plan.args.len() => Kind::Like(index as u8),
                OutputKind::Rank0 => Kind::Rank0,
                _ => return None,
            };
            match output.dtype {
                OutputDType::Fixed(dtype, code) => compact.codes = (u8::try_from(code).ok()?, dtype.code() as u8),
                OutputDType::Like(index) => compact.typed_by = Some(index as u8),
                OutputDType::TypeParam(_) | OutputDType::Given(_) => {
                    // What is in place has the dtype of its argument.
                    if !matches!(compact.kind, Kind::InPlace(_)) {
                        return None;
                    }
                }
            }
        }
        Some(fast)
    }

    /// The frame of a call.
    #[inline(always)]
    fn frame(&self, args: *mut *mut c_void, rets: *mut *mut c_void, attrs: *mut *mut c_void) -> sys::XLA_FFI_CallFrame {
        sys::XLA_FFI_CallFrame {
            struct_size: sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            api: self.api,
            ctx: self.ctx,
            stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
            args: sys::XLA_FFI_Args {
                struct_size: sys::XLA_FFI_Args_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: i64::from(self.num_args),
                types: self.buffers.as_ptr().cast_mut(),
                args,
            },
            rets: sys::XLA_FFI_Rets {
                struct_size: sys::XLA_FFI_Rets_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: i64::from(self.num_outputs),
                types: self.buffers.as_ptr().cast_mut(),
                rets,
            },
            attrs: sys::XLA_FFI_Attrs {
                struct_size: sys::XLA_FFI_Attrs_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: i64::from(self.num_numbers),
                types: self.scalars.as_ptr().cast_mut(),
                names: self.names,
                attrs,
            },
            future: ptr::null_mut(),
        }
    }
}

/// A scalar attribute and what it points to.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cell {
    scalar: sys::XLA_FFI_Scalar,
    bits: u64,
}

/// An argument or a result. The address is also that of the buffer.
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
struct Made<'f> {
    fast: &'f Fast,
    handles: [MaybeUninit<TensorHandle>; MAX],
    len: usize,
}

impl Drop for Made<'_> {
    #[inline]
    fn drop(&mut self) {
        for handle in &self.handles[..self.len] {
            // SAFETY: initialised below `len`; the tensor is ours.
            unsafe { (self.fast.delete_tensor)(handle.assume_init()) };
        }
    }
}

/// Makes a call, unless it is an unusual one: `None` leaves the stack as it was.
///
/// # Safety
/// As for [`kernel`](super::kernel::kernel).
#[inline]
pub(super) unsafe fn call(fast: &Fast, stack: *mut u64) -> Option<Result<()>> {
    let mut operands = [const { MaybeUninit::<Operand>::uninit() }; 2 * MAX];
    let mut args = [const { MaybeUninit::<*mut sys::XLA_FFI_Buffer>::uninit() }; MAX];
    let mut rets = [const { MaybeUninit::<*mut sys::XLA_FFI_Buffer>::uninit() }; MAX];
    let num_args = usize::from(fast.num_args).min(MAX);
    let tensors = &fast.args[..num_args];
    for ((tensor, operand), arg) in tensors.iter().zip(&mut operands).zip(&mut args) {
        // SAFETY: a tensor of the stack, which lives until it is deleted below.
        let described = unsafe { describe(fast, tensor, handle(stack, tensor.slot), operand.as_mut_ptr()) };
        if !described {
            return None;
        }
        arg.write(operand.as_mut_ptr().cast());
    }
    if fast.may_overlap {
        // SAFETY: the arguments are described.
        let described = unsafe { operands[..num_args].assume_init_ref() };
        if overlaps(fast, described) {
            return None;
        }
    }
    let mut made = Made { fast, handles: [const { MaybeUninit::uninit() }; MAX], len: 0 };
    for (output, ret) in fast.outputs[..usize::from(fast.num_outputs).min(MAX)].iter().zip(&mut rets) {
        let (rank, dims, like) = match output.kind {
            Kind::InPlace(index) => {
                ret.write(operands[usize::from(index)].as_mut_ptr().cast());
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
    for (number, cell) in fast.numbers[..usize::from(fast.num_numbers).min(MAX)].iter().zip(&mut cells) {
        // SAFETY: a number of the stack.
        let bits = unsafe { stack.add(usize::from(number.slot)).read() };
        let scalar = sys::XLA_FFI_Scalar { dtype: u32::from(number.dtype), value: ptr::null_mut() };
        let cell = cell.write(Cell { scalar, bits });
        cell.scalar.value = (&raw mut cell.bits).cast();
        attrs[usize::from(number.attr)].write(cell);
    }
    let (args, rets, attrs) = (args.as_mut_ptr().cast(), rets.as_mut_ptr().cast(), attrs.as_mut_ptr().cast());
    let mut frame = fast.frame(args, rets, attrs);
    // SAFETY: a whole frame of a handler of this crate; the buffers are valid until it is done.
    let outcome = unsafe { finish((fast.execute)(&raw mut frame), frame.future) };
    for tensor in tensors {
        // SAFETY: the arguments are the kernel's to delete, and not used any more.
        unsafe { (fast.delete_tensor)(handle(stack, tensor.slot)) };
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
unsafe fn handle(stack: *mut u64, slot: u8) -> TensorHandle {
    // SAFETY: as the caller guarantees.
    super::kernel::handle(unsafe { stack.add(usize::from(slot)).read() })
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

/// Writes the description of a row-major tensor of a dtype that operations know; whether the tensor is one.
///
/// # Safety
/// A live tensor; `operand` points to room for the description.
#[inline(always)]
unsafe fn describe(fast: &Fast, arg: &Arg, tensor: TensorHandle, operand: *mut Operand) -> bool {
    let (mut rank, mut code) = (0i64, 0i32);
    let (mut sizes, mut strides, mut data) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: as the caller guarantees. The sizes and strides are as many as the rank says.
    unsafe {
        let status = (fast.dim)(tensor, &raw mut rank)
            | (fast.sizes)(tensor, &raw mut sizes)
            | (fast.strides)(tensor, &raw mut strides)
            | (fast.dtype)(tensor, &raw mut code)
            | (fast.data_ptr)(tensor, &raw mut data);
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
        let dtype = if code == i32::from(arg.code) && arg.dtype != 0 {
            u32::from(arg.dtype)
        } else {
            let Some(dtype) = fast.dtypes.known(code) else { return false };
            dtype.code()
        };
        operand.write(Operand { buffer: buffer(dtype, data, rank, sizes), code, len });
        true
    }
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
fn empty(fast: &Fast, rank: i64, dims: *const i64, len: i64, code: i32) -> Option<TensorHandle> {
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
    let status = unsafe { (fast.empty_strided)(rank, dims, strides.as_ptr(), code, fast.device, -1, &raw mut tensor) };
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
