//! The kernel: a call by torch as a call of the operation.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use smallvec::SmallVec;
use xla_ffi_sys::xla_ffi as sys;

use super::attrs::CallAttrs;
use super::context::OnDevice;
use super::error::throw;
use super::fast;
use super::memory_format::is_channels_last;
use super::operand::{buffer, bytes, copy, describe, types};
use super::plan::{Goes, Input, Plan};
use super::registration::dispatch_key;
use super::taken::{Attribute, Taken};
use super::tensor::{Tensor, check};
use crate::{DType, Error, Result, panics};

/// As many operands as this need no heap.
const INLINE: usize = 6;

/// One call. What it owns is freed when it is dropped, however it ends.
pub(super) struct Call<'p> {
    pub(super) plan: &'p Plan,
    /// Whether tensors have no data.
    pub(super) meta: bool,
    /// The rank of the results that are to be in the format `channels_last`, if any are.
    pub(super) channels_last: Option<usize>,
    /// The arguments; absent ones of optional parameters are `None`.
    pub(super) args: SmallVec<[Option<Tensor>; INLINE]>,
    /// The results that are tensors of their own, in order.
    pub(super) results: SmallVec<[Tensor; INLINE]>,
    /// Descriptions of the arguments, and then of all results.
    pub(super) buffers: SmallVec<[sys::XLA_FFI_Buffer; INLINE]>,
    pub(super) attrs: CallAttrs,
    /// Dtypes that the caller gave: for type parameters and results.
    pub(super) dtypes: Vec<(Goes, DType)>,
    /// Tensors that an argument was copied from, to be updated at the end: the argument's index.
    originals: Vec<(usize, Tensor)>,
}

/// The body of the kernels that call the operation.
///
/// # Safety
/// As for [`kernel`].
#[inline]
pub(super) unsafe fn run(plan: &Plan, stack: *mut u64) {
    if let Some(fast) = &plan.fast {
        // SAFETY: as the caller guarantees.
        match unsafe { fast::call(fast, stack) } {
            Some(Ok(())) => return,
            Some(Err(error)) => return throw(plan.shim, named(plan, error)),
            None => {}
        }
    }
    // SAFETY: as the caller guarantees; the stack is as it was.
    unsafe { kernel(plan, stack, Call::run) }
}

/// The body of every kernel: takes the arguments from the stack, and leaves the results there; throws errors. `work` is
/// what happens in between.
///
/// # Safety
/// Called by torch: the stack has the arguments of the operator that the plan is for, and room for its results.
#[inline(never)]
pub(super) unsafe fn kernel<'p>(plan: &'p Plan, stack: *mut u64, work: fn(&mut Call<'p>) -> Result<()>) {
    let mut call = Call::new(plan);
    // SAFETY: as the caller guarantees.
    let done = guarded(|| unsafe {
        call.take_inputs(stack)?;
        work(&mut call)
    });
    let done = done.and_then(|()| {
        // SAFETY: panics are caught by now, and the call still owns all that it has if this throws.
        unsafe { call.bump_versions() };
        // SAFETY: the arguments have been taken, so that there is room for the results.
        guarded(|| unsafe { call.leave_results(stack) })
    });
    drop(call);
    if let Err(error) = done {
        throw(plan.shim, named(plan, error));
    }
}

/// A panic as an error.
#[inline]
fn guarded(body: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(Error::internal(panics::describe(payload))))
}

/// The error with the operator's name in front, in the place of the operation's, which a stated schema may rename.
#[cold]
pub(super) fn named(plan: &Plan, error: Error) -> Error {
    let own = error.message().strip_prefix(plan.handler.name).filter(|rest| rest.starts_with([':', ' ']));
    match own {
        Some(_) if plan.name == plan.handler.name => error,
        Some(rest) => Error::new(error.code(), format!("{}{rest}", plan.name)),
        None => error.context(&plan.name),
    }
}

/// The values of a stack that have not been taken yet; they are freed with it.
struct Stack<'p> {
    plan: &'p Plan,
    slots: *mut u64,
    next: usize,
}

impl Drop for Stack<'_> {
    fn drop(&mut self) {
        while let Some(input) = self.plan.inputs.get(self.next) {
            // SAFETY: one value for each input, not taken yet.
            unsafe {
                let value = self.slots.add(self.next).read();
                self.next += 1;
                match input {
                    Input::Tensor(_) => drop(Tensor::own(self.plan.shim, handle(value))),
                    Input::Scalar(..) => {}
                    Input::Other(ty, _) => drop(Taken::take(self.plan.shim, *ty, value)),
                }
            }
        }
    }
}

/// The handle in a value of the stack.
#[inline]
pub(super) fn handle<T>(value: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(value as usize)
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
            originals: Vec::new(),
        }
    }

    /// The work of a kernel: calls the operation.
    pub(super) fn run(&mut self) -> Result<()> {
        self.refuse_gradients()?;
        self.describe_args()?;
        // They stay where they are from here on, since the C struct points into them.
        let mut attrs = std::mem::take(&mut self.attrs);
        let c_attrs = attrs.finish(&self.plan.names);
        let num_args = self.buffers.len();
        self.make_results(&attrs)?;
        self.execute(num_args, &attrs, c_attrs)?;
        self.update_originals()
    }

    /// The work of a kernel for tensors without data: infers the results, and checks the shapes as a call would.
    pub(super) fn infer(&mut self) -> Result<()> {
        self.meta = true;
        self.refuse_gradients()?;
        if !self.plan.fixed {
            self.drop_absent()?;
        }
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

    /// Refuses an update that autograd would have to record, which it cannot: gradients through it would be wrong.
    fn refuse_gradients(&self) -> Result<()> {
        // SAFETY: takes nothing.
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

    /// Takes all arguments from the stack.
    ///
    /// # Safety
    /// As for [`kernel`].
    #[inline]
    unsafe fn take_inputs(&mut self, slots: *mut u64) -> Result<()> {
        let plan = self.plan;
        self.args.resize_with(plan.args.len() - usize::from(plan.variadic), || None);
        self.attrs.prepare(plan.names.len());
        let mut stack = Stack { plan, slots, next: 0 };
        while let Some(input) = plan.inputs.get(stack.next) {
            // SAFETY: one value for each input; the counter moves on, so that each is taken once.
            unsafe {
                let value = slots.add(stack.next).read();
                stack.next += 1;
                match input {
                    Input::Tensor(index) => self.args[*index] = Some(Tensor::own(plan.shim, handle(value))),
                    Input::Scalar(index, dtype) => self.attrs.set_scalar(*index, *dtype, value),
                    Input::Other(ty, goes) => {
                        let taken = Taken::take(plan.shim, *ty, value)?;
                        self.place(goes, taken)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a value where it belongs.
    fn place(&mut self, goes: &Goes, value: Taken) -> Result<()> {
        match (goes, value) {
            (_, Taken::None) => {}
            (Goes::Arg(index), Taken::Tensor(tensor)) => self.args[*index] = Some(tensor),
            (Goes::Arg(_), Taken::Tensors(tensors)) => self.args.extend(tensors.into_iter().map(Some)),
            (Goes::Attr(at), Taken::Str(text)) if at.path.is_empty() => self.attrs.set_text(at.index, text)?,
            (Goes::Attr(at), Taken::Scalars(dtype, bits)) if at.path.is_empty() => {
                self.attrs.set_numbers(at.index, dtype, bits);
            }
            (Goes::Attr(at), value) => match value.attribute(self.plan.handler.attrs[at.index].name)? {
                Attribute::Scalar(dtype, bits) if at.path.is_empty() => {
                    self.attrs.set_scalar(at.index, dtype.code(), bits);
                }
                value => self.attrs.set(at.index, &at.path, value.into_value()),
            },
            (Goes::TypeParam(var), Taken::DType(dtype)) => self.dtypes.push((Goes::TypeParam(*var), dtype)),
            (Goes::ResultDType(index), Taken::DType(dtype)) => self.dtypes.push((Goes::ResultDType(*index), dtype)),
            _ => return Err(Error::internal("a value of another type than the schema says")),
        }
        Ok(())
    }

    /// Describes the arguments as buffers, after copying those that are not row-major.
    #[inline]
    fn describe_args(&mut self) -> Result<()> {
        if !self.plan.fixed {
            self.drop_absent()?;
        }
        self.note_memory_format()?;
        if !self.plan.on_host {
            self.check_devices()?;
        }
        // Devices of other kinds may keep elements elsewhere.
        let has_storage = self.plan.on_host || dispatch_key(self.plan.handler) == "CUDA";
        for index in 0..self.args.len() {
            let Some(tensor) = &self.args[index] else { continue };
            let checked = if has_storage { tensor.check_storage() } else { Ok(()) };
            let buffer = checked.and_then(|()| describe(tensor)).map_err(|error| self.of_argument(index, error))?;
            let buffer = match buffer {
                Some(buffer) => buffer,
                None => self.make_contiguous(index).map_err(|error| self.of_argument(index, error))?,
            };
            self.buffers.push(buffer);
        }
        if !self.plan.in_place.is_empty() {
            self.separate_shared_memory()?;
        }
        Ok(())
    }

    /// Finds out which memory format results are to have, where it is that of the first argument.
    #[inline]
    fn note_memory_format(&mut self) -> Result<()> {
        if self.plan.keeps_memory_format
            && let Some(Some(first)) = self.args.first()
        {
            let sizes = first.sizes()?;
            self.channels_last = is_channels_last(sizes, first.strides(sizes.len())?).then_some(sizes.len());
        }
        Ok(())
    }

    /// Torch calls the kernel of a device as soon as one argument is there.
    fn check_devices(&self) -> Result<()> {
        let mut devices = self.args.iter().flatten().map(Tensor::device);
        let Some(first) = devices.next().transpose()? else { return Ok(()) };
        for (index, device) in devices.enumerate() {
            if device? != first {
                let other = Error::invalid_argument("it is on another device than the first argument");
                return Err(self.of_argument(index + 1, other));
            }
        }
        Ok(())
    }

    /// The device that the call is for; `None` for the host.
    fn on_device(&self) -> Result<Option<OnDevice>> {
        let plan = self.plan;
        if plan.on_host {
            return Ok(None);
        }
        let ordinal = self.device()?.index;
        let mut stream = ptr::null_mut();
        let status = match plan.shim.cuda_stream.filter(|_| dispatch_key(plan.handler) == "CUDA") {
            // SAFETY: writes the stream.
            Some(current) => unsafe { current(ordinal, &raw mut stream) },
            None => return Ok(Some(OnDevice { ordinal, stream: None })),
        };
        check(plan.shim, status, "asking for the current stream")?;
        Ok(Some(OnDevice { ordinal, stream: Some(stream) }))
    }

    /// Optional arguments are told by their number alone, so those that are there must come first.
    fn drop_absent(&mut self) -> Result<()> {
        let present = self.args.iter().position(Option::is_none).unwrap_or(self.args.len());
        if let Some(given) = self.args[present..].iter().position(Option::is_some) {
            let name = |index: usize| self.plan.param(index).name;
            return Err(Error::invalid_argument(format!(
                "argument `{}` is given, so `{}` before it must be too",
                name(present + given),
                name(present)
            )));
        }
        self.args.truncate(present);
        Ok(())
    }

    /// Replaces an argument by a row-major copy. One that is updated in place is copied back at the end.
    #[cold]
    fn make_contiguous(&mut self, index: usize) -> Result<sys::XLA_FFI_Buffer> {
        let Some(original) = self.args[index].take() else { return Err(Error::internal("there is no tensor")) };
        let copy = copy(self.plan, &original)?;
        let buffer = describe(&copy)?.ok_or_else(|| Error::internal("a copy is not row-major"))?;
        self.args[index] = Some(copy);
        if self.plan.in_place.contains(&index) {
            self.originals.push((index, original));
        }
        Ok(buffer)
    }

    /// Copies arguments that share memory with one that is updated in place: they keep their old values, as with
    /// torch's own operators.
    fn separate_shared_memory(&mut self) -> Result<()> {
        let extent = |buffer: &sys::XLA_FFI_Buffer| {
            let start = buffer.data.addr();
            (start, start + bytes(buffer))
        };
        for other in 0..self.args.len() {
            if self.plan.in_place.contains(&other) {
                continue;
            }
            let (start, end) = extent(&self.buffers[other]);
            let shared = self.plan.in_place.iter().filter_map(|&index| self.buffers.get(index)).any(|updated| {
                let (first, last) = extent(updated);
                start < last && first < end
            });
            if shared {
                self.buffers[other] = self.make_contiguous(other).map_err(|error| self.of_argument(other, error))?;
            }
        }
        Ok(())
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
        // SAFETY: the frame is whole; the tensors live until this call ends.
        unsafe { self.plan.contexts.call(self.plan.handler, &mut frame, given, device) }
    }

    /// Copies what was updated in a copy back to where the caller sees it.
    fn update_originals(&mut self) -> Result<()> {
        for (index, original) in &self.originals {
            let Some(Some(copy)) = self.args.get(*index) else { continue };
            original.copy_from(copy).map_err(|error| self.of_argument(*index, error))?;
        }
        Ok(())
    }

    /// Tells autograd what was updated in place. Copying has told it of the arguments that were copied back, unless the
    /// operator has a kernel of autograd, below which torch does not count updates.
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

    /// An error with the argument's name in front.
    #[cold]
    pub(super) fn of_argument(&self, index: usize, error: Error) -> Error {
        let plan = self.plan;
        let name = plan.param(index).name;
        match plan.variadic && index + 1 >= plan.args.len() {
            true => error.context(format_args!("argument `{name}[{}]`", index + 1 - plan.args.len())),
            false => error.context(format_args!("argument `{name}`")),
        }
    }
}
