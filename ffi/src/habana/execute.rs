//! A call of a descriptor's operator: arguments to the stack, parameters and operands for the kernel, the kernel.

use std::panic::{AssertUnwindSafe, catch_unwind};

use half::{bf16, f16};
use xla_ffi_sys::xla_ffi as sys;

use super::arguments::dtype_of;
use super::descriptor::InputType;
use super::stack::Stack;
use super::{CustomOp, Registered};
use crate::buffer::BufferRef;
use crate::descriptor::{DTypeRule, Handler, Role, Stage};
use crate::entry::{abort_on_panic, report, report_panic, unreportable, unusual};
use crate::frame::Frame;
use crate::host::{AttrValue, CallFrameBuilder};
use crate::shape::{Shape, ShapeContext};
use crate::{DType, Error, Result, explain, names};

/// The execute handler of the operator `D`.
///
/// # Safety
/// `raw` is null or a call frame as XLA makes them.
pub(super) unsafe extern "C" fn execute<D: Registered>(raw: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as the caller guarantees.
    unsafe { execute_with::<D>(raw, CustomOp::check_results) }
}

/// The same for a host that has just asked [`results`] what to give memory for.
///
/// # Safety
/// As for [`execute`].
pub(super) unsafe extern "C" fn execute_inferred<D: Registered>(
    raw: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as the caller guarantees.
    unsafe { execute_with::<D>(raw, |_, _, _| Ok(())) }
}

/// Compares the results' memory with what the descriptor says of them.
type Check = fn(&CustomOp, &Stack<'_>, &[BufferRef<'_>]) -> Result<()>;

/// # Safety
/// As for [`execute`].
unsafe fn execute_with<D: Registered>(raw: *mut sys::XLA_FFI_CallFrame, check: Check) -> *mut sys::XLA_FFI_Error {
    let op = match D::op() {
        Ok(op) => op,
        // No handler was registered then, so that nobody can have this address; but null would mean success.
        Err(error) => return unreportable(error),
    };
    // SAFETY: as the caller guarantees.
    abort_on_panic(|| op.handler(), || unsafe { execute_frame(op, raw, check) })
}

/// # Safety
/// As for [`execute`].
unsafe fn execute_frame(
    op: &'static CustomOp,
    raw: *mut sys::XLA_FFI_CallFrame,
    check: Check,
) -> *mut sys::XLA_FFI_Error {
    let handler = op.handler();
    // SAFETY: as the caller guarantees; nothing of the frame is used after this function.
    let Some(frame) = (unsafe { Frame::new(raw, Stage::Execute, None) }) else {
        // SAFETY: as the caller guarantees.
        return unsafe { unusual(raw, handler, Stage::Execute, None) };
    };
    match catch_unwind(AssertUnwindSafe(|| op.run(&frame, check))) {
        Ok(Ok(())) => std::ptr::null_mut(),
        Ok(Err(error)) => report(frame.api(), handler, Stage::Execute, &error),
        Err(payload) => report_panic(frame.api(), handler, payload),
    }
}

/// The rule for the results of the operator `D`.
///
/// # Errors
/// Those of the descriptor's functions.
pub(super) fn results<D: Registered>(call: &ShapeContext<'_>) -> Result<Vec<Shape>> {
    match D::op() {
        Ok(op) => op.results(&op.checked.stack_of_shapes(call)?),
        Err(error) => Err(error.clone()),
    }
}

impl CustomOp {
    fn run(&self, frame: &Frame<'_>, check: Check) -> Result<()> {
        let (handler, checked) = (self.handler(), &self.checked);
        let operands = |role| {
            let (least, most) = explain::arity(handler, role);
            frame.between(handler, role, least, most)
        };
        let (args, rets) = (operands(Role::Arg)?, operands(Role::Ret)?);
        let stack = checked.stack_of_call(handler, &args, &frame.sorted_attributes(handler)?)?;
        check(self, &stack, &rets)?;
        let kernel = self.kernel()?;
        let mut call = CallFrameBuilder::new();
        if let Some(params) = &checked.params {
            for (name, value) in (params.fill)(&stack)? {
                call.attr(name, value);
            }
        }
        // The numbers' memory, which the frame points into.
        let mut numbers = Vec::new();
        let mut position = 0;
        for &(ty, index) in &checked.operands {
            if ty == InputType::Scalar {
                let dtype = number_dtype(kernel, position, &stack)?;
                let AttrValue::Scalar(_, bytes) = number(dtype, &stack, index)? else { continue };
                call.arg(dtype, bytes.as_ptr().cast(), &[]);
                numbers.push(bytes);
                position += 1;
                continue;
            }
            for buffer in &args[checked.operands_of(index, args.len())] {
                call.arg(dtype_of(buffer)?, buffer.data().cast_const().cast(), buffer.dims());
                position += 1;
            }
        }
        for ret in &rets {
            call.ret(dtype_of(ret)?, ret.data().cast(), ret.dims());
        }
        // SAFETY: the kernel is a handler without other stages; operands and numbers live until it is done.
        unsafe { frame.call(kernel, &mut call.build()) }.map_err(|error| {
            let message = error.message();
            let rest = message.strip_prefix(kernel.name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
            Error::new(error.code(), format!("kernel `{}`: {rest}", kernel.name))
        })
    }

    /// Compares the memory that the host gives for results with what the descriptor says of them.
    fn check_results(&self, stack: &Stack<'_>, rets: &[BufferRef<'_>]) -> Result<()> {
        for (index, (ret, expected)) in rets.iter().zip(self.results(stack)?).enumerate() {
            if ret.dtype_code() != expected.dtype.code() || ret.dims() != expected.dims {
                return Err(Error::invalid_argument(format!(
                    "result {index} has dtype {} and shape {:?}, but the descriptor gives dtype {} and shape {:?}",
                    names::describe_dtype(ret.dtype_code()),
                    ret.dims(),
                    expected.dtype,
                    expected.dims
                )));
            }
        }
        Ok(())
    }
}

/// The dtype in which the kernel reads a number: the one that it declares, or else that of input 0.
fn number_dtype(kernel: &Handler, position: usize, stack: &Stack<'_>) -> Result<DType> {
    match explain::parameters(kernel, Role::Arg).nth(position).map(|param| param.dtype) {
        Some(DTypeRule::One(dtype)) => Ok(dtype),
        _ => stack.tensor(0).map(|shape| shape.dtype),
    }
}

/// A number as a scalar of a dtype.
fn number(dtype: DType, stack: &Stack<'_>, index: usize) -> Result<AttrValue> {
    macro_rules! integer {
        ($ty:ty) => {
            <$ty>::try_from(stack.int(index)?).map_err(|_| stack.unfit(index, dtype))?.into()
        };
    }
    Ok(match dtype {
        DType::Pred => stack.bool(index)?.into(),
        DType::F16 => f16::from_f64(stack.float(index)?).into(),
        DType::BF16 => bf16::from_f64(stack.float(index)?).into(),
        DType::F32 => (stack.float(index)? as f32).into(),
        DType::F64 => stack.float(index)?.into(),
        DType::S8 => integer!(i8),
        DType::S16 => integer!(i16),
        DType::S32 => integer!(i32),
        DType::S64 => stack.int(index)?.into(),
        DType::U8 => integer!(u8),
        DType::U16 => integer!(u16),
        DType::U32 => integer!(u32),
        DType::U64 => integer!(u64),
        _ => return Err(stack.unfit(index, dtype)),
    })
}
