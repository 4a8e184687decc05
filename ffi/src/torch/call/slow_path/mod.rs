//! Slow path for calls of every kind: it owns arguments, copies tensors that are not row-major, and copies updates
//! back.

mod arguments;
mod promoted;
mod results;
mod stack;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use smallvec::SmallVec;
use xla_ffi_sys::xla_ffi as sys;

use super::attrs::CallAttrs;
use super::buffer::{buffer, types};
use super::context::OnDevice;
use super::plan::{Destination, Plan};
use crate::torch::dispatch_key::dispatch_key;
use crate::torch::libtorch::exception::throw;
use crate::torch::libtorch::shim::check;
use crate::torch::libtorch::tensor::Tensor;
use crate::{DType, Error, Result, panics};

/// The number of operands up to which no heap is needed.
const INLINE: usize = 6;

/// One call. Dropping it frees everything that it owns, however it ends.
pub(crate) struct Call<'p> {
    pub(crate) plan: &'p Plan,
    /// Whether tensors have no data.
    pub(crate) meta: bool,
    /// The rank of the results that are to be in the format `channels_last`, if any are.
    pub(crate) channels_last: Option<usize>,
    /// The arguments; absent ones of optional parameters are `None`.
    pub(crate) args: SmallVec<[Option<Tensor>; INLINE]>,
    /// The results that are separate tensors, in order.
    pub(crate) results: SmallVec<[Tensor; INLINE]>,
    /// Descriptions of the arguments, and then of all results.
    pub(crate) buffers: SmallVec<[sys::XLA_FFI_Buffer; INLINE]>,
    pub(crate) attrs: CallAttrs,
    /// Dtypes that the caller gave, for type parameters and results.
    pub(crate) dtypes: Vec<(Destination, DType)>,
    /// The dimensions in memory of arguments that are broadcast views: their index, and 1 for what is repeated.
    views: Vec<(usize, Vec<i64>)>,
    /// Arguments that were replaced by a copy and have to be updated at the end: the index, and the original tensor.
    originals: Vec<(usize, Tensor)>,
}

/// The body of every kernel: takes the arguments from the stack, calls `work`, and leaves the results on the stack;
/// throws errors.
///
/// # Safety
/// torch calls it: the stack has the arguments of the plan's operator, and room for its results.
#[inline(never)]
pub(in crate::torch) unsafe fn call<'p>(plan: &'p Plan, stack: *mut u64, work: fn(&mut Call<'p>) -> Result<()>) {
    let mut call = Call::new(plan);
    // SAFETY: as the caller guarantees.
    let done = guarded(|| unsafe {
        call.take_inputs(stack)?;
        work(&mut call)
    });
    let done = done.and_then(|()| {
        // SAFETY: panics are caught by now, and the call still owns everything if this throws.
        unsafe { call.bump_versions() };
        // SAFETY: the arguments have been taken, so that there is room for the results.
        guarded(|| unsafe { call.leave_results(stack) })
    });
    drop(call);
    if let Err(error) = done {
        throw(plan.shim, plan.named(error));
    }
}

/// Converts a panic to an error.
#[inline]
fn guarded(body: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(Error::internal(panics::describe(payload))))
}

impl<'p> Call<'p> {
    #[inline]
    fn new(plan: &'p Plan) -> Call<'p> {
        Call {
            plan,
            meta: false,
            channels_last: None,
            args: SmallVec::new(),
            results: SmallVec::new(),
            buffers: SmallVec::new(),
            attrs: CallAttrs::default(),
            dtypes: Vec::new(),
            views: Vec::new(),
            originals: Vec::new(),
        }
    }

    /// The work of a kernel: calls the operation.
    pub(crate) fn run(&mut self) -> Result<()> {
        self.refuse_gradients()?;
        self.describe_args()?;
        // They must not move from here on, since the C struct points into them.
        let mut attrs = std::mem::take(&mut self.attrs);
        let c_attrs = attrs.finish(&self.plan.names);
        let num_args = self.buffers.len();
        self.make_results(&attrs)?;
        self.describe_views();
        self.execute(num_args, &attrs, c_attrs)?;
        self.update_originals()
    }

    /// The work of a kernel for tensors without data: infers the results, and checks the shapes as a call would.
    pub(crate) fn infer(&mut self) -> Result<()> {
        self.meta = true;
        self.refuse_gradients()?;
        if !self.plan.fixed {
            self.drop_absent()?;
        }
        self.promote()?;
        self.note_memory_format()?;
        for (index, tensor) in self.args.iter().flatten().enumerate() {
            let describe = || Ok(buffer(tensor.dtype()?, ptr::null_mut(), tensor.sizes()?));
            self.buffers.push(describe().map_err(|error| self.of_argument(index, error))?);
        }
        let mut attrs = std::mem::take(&mut self.attrs);
        attrs.finish(&self.plan.names);
        let num_args = self.buffers.len();
        self.make_results(&attrs)?;
        self.check_shapes(num_args, &attrs)
    }

    /// Refuses an update that autograd would have to record, because it cannot: gradients through it would be wrong.
    fn refuse_gradients(&self) -> Result<()> {
        // SAFETY: it takes no arguments.
        if self.plan.in_place.is_empty() || !unsafe { (self.plan.shim.grad_mode)() } {
            return Ok(());
        }
        match self.args.iter().position(|arg| arg.as_ref().is_some_and(Tensor::requires_grad)) {
            None => Ok(()),
            Some(index) => Err(self.of_argument(
                index,
                Error::unimplemented(
                    "the tensor requires a gradient, and an operation that updates an argument in place has no derivative: \
                     call it under torch.no_grad() or with detach()ed tensors, or return the new values",
                ),
            )),
        }
    }

    /// The device of the call; `None` for the host.
    fn on_device(&self) -> Result<Option<OnDevice>> {
        let plan = self.plan;
        if plan.on_host {
            return Ok(None);
        }
        let ordinal = self.device()?.index;
        let mut stream = ptr::null_mut();
        let status = match plan.shim.cuda_stream.filter(|_| dispatch_key(plan.handler) == "CUDA") {
            // SAFETY: it writes the stream.
            Some(current) => unsafe { current(ordinal, &raw mut stream) },
            None => return Ok(Some(OnDevice { ordinal, stream: None })),
        };
        check(plan.shim, status, "asking for the current stream")?;
        Ok(Some(OnDevice { ordinal, stream: Some(stream) }))
    }

    /// Calls the operation.
    #[inline]
    fn execute(&mut self, num_args: usize, given: &CallAttrs, attrs: sys::XLA_FFI_Attrs) -> Result<()> {
        let mut pointers: SmallVec<[*mut sys::XLA_FFI_Buffer; 2 * INLINE]> =
            self.buffers.iter_mut().map(|buffer| &raw mut *buffer).collect();
        let (args, rets) = pointers.split_at_mut(num_args);
        let mut many = Vec::new();
        let types = types(args.len().max(rets.len()), &mut many);
        let mut frame = sys::XLA_FFI_CallFrame {
            struct_size: sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            // The call fills in its host and context.
            api: ptr::null(),
            ctx: ptr::null_mut(),
            stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
            args: sys::XLA_FFI_Args {
                struct_size: sys::XLA_FFI_Args_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: args.len() as i64,
                types: types.cast_mut(),
                args: args.as_mut_ptr().cast(),
            },
            rets: sys::XLA_FFI_Rets {
                struct_size: sys::XLA_FFI_Rets_STRUCT_SIZE as usize,
                extension_start: ptr::null_mut(),
                size: rets.len() as i64,
                types: types.cast_mut(),
                rets: rets.as_mut_ptr().cast(),
            },
            attrs,
            future: ptr::null_mut(),
        };
        let device = self.on_device()?;
        // SAFETY: the frame is complete; the tensors live until this call ends.
        unsafe { self.plan.contexts.call(self.plan.handler, &mut frame, given, device) }
    }

    /// Copies updates in copies back to the originals.
    fn update_originals(&mut self) -> Result<()> {
        for (index, original) in &self.originals {
            let Some(Some(copy)) = self.args.get(*index) else { continue };
            original.copy_from(copy).map_err(|error| self.of_argument(*index, error))?;
        }
        Ok(())
    }

    /// Tells autograd about updates in place. Copying has reported the arguments that were copied back, unless the
    /// operator has an autograd kernel, below which torch does not count updates.
    ///
    /// # Safety
    /// As for [`Tensor::bump_version`].
    unsafe fn bump_versions(&self) {
        let counted = self.plan.shim.no_derivative.is_none();
        for &index in &self.plan.in_place {
            let original = self.originals.iter().find(|(original, _)| *original == index).map(|(_, original)| original);
            if original.is_some() && counted {
                continue;
            }
            if let Some(updated) = original.or_else(|| self.args.get(index)?.as_ref()) {
                // SAFETY: as the caller guarantees.
                unsafe { updated.bump_version() };
            }
        }
    }

    /// Puts the argument's name in front of an error.
    #[cold]
    pub(crate) fn of_argument(&self, index: usize, error: Error) -> Error {
        let plan = self.plan;
        let name = plan.param(index).name;
        if plan.variadic && index + 1 >= plan.args.len() {
            error.context(format_args!("argument `{name}[{}]`", index + 1 - plan.args.len()))
        } else {
            error.context(format_args!("argument `{name}`"))
        }
    }
}
