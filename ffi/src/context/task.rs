//! Completion after the handler has returned.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use xla_ffi_sys::xla_ffi as sys;

use super::{Context, FromContext};
use crate::api::HostApi;
use crate::sync::{Condvar, Mutex};
use crate::{Error, Result, panics};

/// The right to complete this call later. A handler with this parameter returns a [`Future`].
///
/// The host keeps the buffers until the future is complete, so that the work may use them meanwhile. Contexts and
/// attributes end when the handler returns and cannot be taken along: take `String` and `Vec` attributes instead of
/// `&str` and slices.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// Doubles, on a thread of its own.
/// #[custom_call]
/// fn twice_later<'f>(
///     #[dims(..s)] x: Array<'f, f32>,
///     #[dims(..s)] mut y: Out<'f, f32>,
///     later: Async<'f>,
/// ) -> Result<Future<'f>> {
///     later.spawn(move || {
///         for (y, x) in y.iter_mut().zip(x.iter()) {
///             *y = 2.0 * x;
///         }
///         Ok(())
///     })
/// }
/// # let out = oxcall::testing::call::<twice_later>().arg(vec![1f32, 2.]).run().unwrap();
/// # assert_eq!(out.get::<f32>(0).as_slice().unwrap(), [2., 4.]);
/// ```
///
/// The work may borrow neither the handler's variables:
///
/// ```compile_fail,E0597
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn later<'f>(x: Array<'f, f32>, mut y: Out<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
///     let sum = x.iter().sum();
///     let sum = &sum;
///     later.spawn(move || {
///         y.fill(*sum);
///         Ok(())
///     })
/// }
/// # fn main() {}
/// ```
///
/// nor attributes:
///
/// ```compile_fail,E0621
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn later<'f>(#[attr] name: &str, mut y: ScalarOut<'f, u64>, later: Async<'f>) -> Result<Future<'f>> {
///     later.spawn(move || {
///         y.set(name.len() as u64);
///         Ok(())
///     })
/// }
/// # fn main() {}
/// ```
pub struct Async<'f> {
    context: Context<'f>,
}

/// The return value of an asynchronous handler: the host waits until its promise is kept.
#[must_use = "the host waits only for the future that the handler returns"]
pub struct Future<'f> {
    _call: PhantomData<&'f ()>,
}

/// The duty to complete a call. Dropping it completes the call with an error.
pub struct Promise {
    api: HostApi<'static>,
    future: *mut sys::XLA_FFI_Future,
    op: &'static str,
}

// SAFETY: hosts allow futures to be completed from any thread.
unsafe impl Send for Promise {}
// SAFETY: a shared promise gives no access.
unsafe impl Sync for Promise {}

/// A call's work beyond its return; lives on the stack of the handler's entry.
///
/// It has no drop, which every handler would pay for: [`end`](Pending::end) frees what asynchronous ones leave.
#[derive(Default)]
pub(crate) struct Pending(OnceCell<ManuallyDrop<Box<Started>>>);

#[derive(Default)]
struct Started {
    future: Cell<Option<*mut sys::XLA_FFI_Future>>,
    ended: Cell<Option<Arc<Ended>>>,
    dims: Cell<Vec<Vec<i64>>>,
    /// The dimensions of work that has started: the handler's own parameters refer to them until it has returned, even
    /// if the work has ended before.
    shared: Cell<Option<Arc<Vec<Vec<i64>>>>>,
}

/// Told when borrowed work has ended.
#[derive(Default)]
struct Ended {
    ended: Mutex<bool>,
    told: Condvar,
}

impl Pending {
    fn started(&self) -> &Started {
        self.0.get_or_init(Default::default)
    }

    /// Dimensions moved to where they outlive the call frame, whose memory a host may free when the handler returns.
    ///
    /// # Safety
    /// The reference may be used while the work of this call lasts.
    pub(crate) unsafe fn keep<'f>(&self, dims: &[i64]) -> &'f [i64] {
        // No box: moving one would end the validity of references to its content.
        let kept = dims.to_vec();
        // SAFETY: a vector's content stays where it is; the handler's entry and the job that uses it share it.
        let reference = unsafe { std::slice::from_raw_parts(kept.as_ptr(), kept.len()) };
        let started = self.started();
        let mut all = started.dims.take();
        all.push(kept);
        started.dims.set(all);
        reference
    }

    /// The future for the host to wait on, if the handler made one.
    #[inline(always)]
    pub(crate) fn future(&self) -> Option<*mut sys::XLA_FFI_Future> {
        self.0.get().and_then(|started| started.future.get())
    }

    /// Frees what the call has left.
    pub(crate) fn end(self) {
        drop(self.0.into_inner().map(ManuallyDrop::into_inner));
    }

    /// After a handler that failed although it had started work: waits for the work, which uses the call's buffers.
    #[cold]
    pub(crate) fn wait(&self) {
        if let Some(ended) = self.0.get().and_then(|started| started.ended.take()) {
            let guard = ended.ended.lock();
            let _guard = ended.told.wait_while(guard, |ended| !*ended);
        }
    }
}

impl<'f> Async<'f> {
    /// Runs `work` on a new thread; the call is complete when it returns.
    ///
    /// An error or a panic of `work` becomes the call's error.
    ///
    /// # Errors
    /// If the host makes no future, or the call already has one.
    pub fn spawn(self, work: impl FnOnce() -> Result<()> + Send + 'f) -> Result<Future<'f>> {
        let name = format!("oxcall:{}", self.context.op());
        self.spawn_with(work, |job| {
            // A system without threads to give drops the job, which completes the call with an error.
            let _ = thread::Builder::new().name(name).spawn(job);
        })
    }

    /// As [`spawn`](Async::spawn), but `executor` runs the job, now or later, on any thread.
    ///
    /// An executor that drops the job without running it completes the call with an error.
    ///
    /// # Errors
    /// If the host makes no future, or the call already has one.
    pub fn spawn_with(
        self,
        work: impl FnOnce() -> Result<()> + Send + 'f,
        executor: impl FnOnce(Box<dyn FnOnce() + Send + 'static>),
    ) -> Result<Future<'f>> {
        let pending = self.context.pending()?.started();
        let (promise, future) = self.promise()?;
        let (dims, ended) = (Arc::new(pending.dims.take()), Arc::new(Ended::default()));
        pending.shared.set(Some(Arc::clone(&dims)));
        let work: Box<dyn FnOnce() -> Result<()> + Send + 'f> = Box::new(work);
        // SAFETY: all that lives during 'f does so until the call is complete: the host keeps the buffers until the
        // future is, and if the handler fails after this, its entry waits for `ended`. Both come only after `Job` has
        // consumed or dropped the work.
        let work: Box<dyn FnOnce() -> Result<()> + Send + 'static> = unsafe { std::mem::transmute(work) };
        pending.ended.set(Some(Arc::clone(&ended)));
        let job = Job { work: Some(work), promise: Some(promise), ended, _dims: dims };
        executor(Box::new(move || job.run()));
        Ok(future)
    }

    /// A promise and its future, for work that uses none of the call's buffers.
    ///
    /// # Errors
    /// If the host makes no future, or the call already has one.
    pub fn promise(self) -> Result<(Promise, Future<'f>)> {
        // The host waits for one future: work behind another would use buffers that it takes back.
        if self.context.pending()?.future().is_some() {
            return Err(Error::failed_precondition("this call already has a promise; a call completes once"));
        }
        let raw = self.context.api.create_future()?;
        self.context.pending()?.started().future.set(Some(raw));
        // SAFETY: hosts outlive their futures.
        let api = unsafe { self.context.api.extend() };
        Ok((Promise { api, future: raw, op: self.context.op() }, Future { _call: PhantomData }))
    }
}

/// Work and its promise. Whatever happens, first the work ends, then the call completes, then waiters are told.
struct Job {
    work: Option<Box<dyn FnOnce() -> Result<()> + Send + 'static>>,
    promise: Option<Promise>,
    ended: Arc<Ended>,
    /// Where the dimensions are that the work's buffers refer to.
    _dims: Arc<Vec<Vec<i64>>>,
}

impl Job {
    fn run(mut self) {
        let work = self.work.take();
        let result = match catch_unwind(AssertUnwindSafe(|| work.map_or(Ok(()), |work| work()))) {
            Ok(result) => result,
            Err(payload) => Err(Error::internal(panics::describe(payload))),
        };
        if let Some(promise) = self.promise.take() {
            promise.set(result);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let work = self.work.take();
        panics::drop_quietly(work);
        drop(self.promise.take());
        *self.ended.ended.lock() = true;
        self.ended.told.notify_all();
    }
}

impl Promise {
    /// Completes the call.
    pub fn set(self, result: Result<()>) {
        let error = result.err().map(|error| error.context(self.op));
        self.complete(error.as_ref());
        std::mem::forget(self);
    }

    fn complete(&self, error: Option<&Error>) {
        // SAFETY: made by this host, and completed once: `set` forgets the promise, and drop comes last.
        if let Err(error) = unsafe { self.api.complete_future(self.future, error) } {
            panics::tell(format_args!("{}: the host refused the completion of a future: {error}", self.op));
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let error = Error::aborted(format!("{}: the promise was dropped before it was completed", self.op));
        self.complete(Some(&error));
    }
}

impl<'f> FromContext<'f> for Async<'f> {
    fn from_context(context: &Context<'f>) -> Result<Self> {
        context.pending()?;
        Ok(Async { context: *context })
    }
}
