//! Fast path for the calls that most operators get: a fixed number of row-major tensors and numbers, and results with
//! the shape of an argument. All constants are prepared, nothing is on the heap, and arguments are not moved: a call
//! that turns out to be unusual leaves the stack unchanged, and takes the slow path.

mod call;

use std::ffi::c_void;
use std::ptr;

use xla_ffi_sys::xla_ffi as sys;

use super::context::{Contexts, shared};
use super::plan::{Input, OutputDType, OutputKind, Plan};

use crate::descriptor::{DTypeRule, Param, RawHandler};
use crate::host::HostVersion;
use crate::torch::libtorch::dtype::DTypes;
use crate::torch::libtorch::shim::{RequiresGrad, Status, TensorHandle};

/// The largest number of arguments, of results, and of attributes.
const MAX: usize = 6;

/// The constants of an operator's calls, in as few cache lines as possible and in the order of use: between two calls,
/// Python evicts most of the cache.
#[repr(C, align(64))]
pub(crate) struct FastPath {
    execute: RawHandler,
    dim: unsafe extern "C" fn(TensorHandle, *mut i64) -> Status,
    sizes: unsafe extern "C" fn(TensorHandle, *mut *mut i64) -> Status,
    strides: unsafe extern "C" fn(TensorHandle, *mut *mut i64) -> Status,
    dtype: unsafe extern "C" fn(TensorHandle, *mut i32) -> Status,
    data_ptr: unsafe extern "C" fn(TensorHandle, *mut *mut c_void) -> Status,
    storage_offset: unsafe extern "C" fn(TensorHandle, *mut i64) -> Status,
    storage_size: unsafe extern "C" fn(TensorHandle, *mut i64) -> Status,
    num_args: u8,
    num_outputs: u8,
    num_numbers: u8,
    /// Whether an argument may share memory with one that is updated in place.
    may_overlap: bool,
    /// Whether the call promotes and broadcasts its arguments.
    promotes: bool,
    /// Whether there is one argument and one result, and nothing else.
    unary: bool,
    /// The codes of torch for the dtypes that arguments may have, as bits, where they are promoted.
    codes: u64,
    args: [Arg; MAX],

    delete_tensor: unsafe extern "C" fn(TensorHandle) -> Status,
    /// Present where arguments are updated in place.
    bump_version: Option<unsafe extern "C-unwind" fn(TensorHandle)>,
    /// Present in the same case; autograd must not have to record the update.
    requires_grad: Option<RequiresGrad>,
    grad_mode: unsafe extern "C" fn() -> bool,
    api: *const sys::XLA_FFI_Api,
    ctx: *mut sys::XLA_FFI_InvokeContext,
    /// The names of the attributes.
    names: *mut *mut sys::XLA_FFI_ByteSpan,
    /// The kinds of operands; those of attributes are below.
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
    /// Its place on the stack.
    slot: u8,
    /// torch's code and XLA's code of the dtype that it must have; XLA's is 0 if it may have several.
    code: u8,
    dtype: u8,
    /// The size of an element of that dtype, in bytes.
    bytes: u8,
}

// SAFETY: constant; the pointers refer to static tables, a shared context, and the plan's names, which live as long.
unsafe impl Send for FastPath {}
// SAFETY: as above.
unsafe impl Sync for FastPath {}

/// A number: its place on the stack, and its attribute.
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
    /// The argument that has the same dtype, unless the dtype is fixed.
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

impl FastPath {
    /// The fast path of an operator; `None` if its calls do not fit.
    pub(crate) fn new(plan: &Plan) -> Option<FastPath> {
        let usual = plan.fixed
            && plan.on_host
            && !plan.by_function
            && !plan.keeps_memory_format
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
                code.map_or(Arg::default(), |code| Arg {
                    slot: 0,
                    code,
                    dtype: dtype.code() as u8,
                    bytes: (dtype.bits() / 8) as u8,
                })
            }
            _ => Arg::default(),
        };
        let mut args = [Arg::default(); MAX];
        for (compact, param) in args.iter_mut().zip(&plan.args) {
            *compact = arg(param);
        }
        let mut fast = FastPath {
            execute: plan.handler.execute,
            dim: shim.dim,
            sizes: shim.sizes,
            strides: shim.strides,
            dtype: shim.dtype,
            data_ptr: shim.data_ptr,
            storage_offset: shim.storage_offset,
            storage_size: shim.storage_size,
            num_args: plan.args.len() as u8,
            num_outputs: plan.outputs.len() as u8,
            num_numbers: plan.names.len() as u8,
            unary: plan.args.len() == 1 && plan.outputs.len() == 1 && plan.names.len() == 0,
            may_overlap: !plan.in_place.is_empty() && plan.args.len() > 1,
            promotes: plan.handler.traits.broadcast,
            codes: codes(plan)?,
            args,
            delete_tensor: shim.delete_tensor,
            bump_version: shim.bump_version.filter(|_| !plan.in_place.is_empty()),
            requires_grad: shim.requires_grad.filter(|_| !plan.in_place.is_empty()),
            grad_mode: shim.grad_mode,
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
                // All arguments have one shape, or the call is an unusual one.
                OutputKind::Broadcast(_) => Kind::Like(0),
                OutputKind::Rank0 => Kind::Rank0,
                _ => return None,
            };
            match output.dtype {
                OutputDType::Fixed(dtype, code) => compact.codes = (u8::try_from(code).ok()?, dtype.code() as u8),
                OutputDType::Like(index) => compact.typed_by = Some(index as u8),
                OutputDType::TypeParam(_) | OutputDType::Requested(_) => {
                    // A result in place has the dtype of its argument.
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

/// The codes of the dtypes that arguments may have, if they are promoted. `None` if the arguments have more than one
/// type parameter.
fn codes(plan: &Plan) -> Option<u64> {
    if !plan.handler.traits.broadcast {
        return Some(0);
    }
    if plan.args.iter().any(|param| param.dtype != DTypeRule::Var(0)) {
        return None;
    }
    let dtypes = plan.handler.type_params[0].dtypes;
    let codes = dtypes.iter().filter_map(|dtype| plan.shim.dtypes.code(*dtype));
    Some(codes.fold(0, |codes, code| codes | 1u64.checked_shl(code as u32).unwrap_or(0)))
}
