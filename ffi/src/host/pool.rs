//! The thread pool that a host lends to handlers.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread::{self, JoinHandle};

use xla_ffi_sys::xla_ffi as sys;

use super::slot::{context, slot};
use crate::sync::{Condvar, Mutex};
use crate::{Error, Result};

/// Runs tasks of handlers, in any order and on any thread.
pub trait TaskPool: Send + Sync {
    /// Runs `task` once, now or later.
    fn schedule(&self, task: Box<dyn FnOnce() + Send>);

    /// How many tasks may run at once.
    fn num_threads(&self) -> usize;
}

/// A pool of a fixed number of threads with one queue.
///
/// Dropping it runs the queued tasks, then joins the threads.
pub struct ThreadPool {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    /// Tasks never run while it is locked.
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    tasks: VecDeque<Box<dyn FnOnce() + Send>>,
    closed: bool,
}

impl Queue {
    /// Waits for a task; `None` once the queue is closed and empty.
    fn next(&self) -> Option<Box<dyn FnOnce() + Send>> {
        let mut state = self.state.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state);
        }
    }
}

impl ThreadPool {
    /// A pool of `num_threads` threads; with none, tasks are run by [`schedule`](TaskPool::schedule) itself.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` when the system gives no more threads.
    pub fn new(num_threads: usize) -> Result<ThreadPool> {
        let mut pool = ThreadPool { queue: Arc::default(), threads: Vec::with_capacity(num_threads) };
        for index in 0..num_threads {
            let queue = Arc::clone(&pool.queue);
            let work = move || {
                while let Some(task) = queue.next() {
                    // A panic is the task's own affair: the thread lives on for the others.
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(task)) {
                        super::slot::panic_message(payload);
                    }
                }
            };
            let thread = thread::Builder::new()
                .name(format!("oxcall-host-{index}"))
                .spawn(work)
                .map_err(|error| Error::resource_exhausted(format!("cannot start a thread of the pool: {error}")))?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }
}

impl TaskPool for ThreadPool {
    fn schedule(&self, task: Box<dyn FnOnce() + Send>) {
        if self.threads.is_empty() {
            return task();
        }
        self.queue.state.lock().tasks.push_back(task);
        self.queue.changed.notify_one();
    }

    fn num_threads(&self) -> usize {
        self.threads.len()
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.queue.state.lock().closed = true;
        self.queue.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A task may hold the last reference to the pool; its thread cannot join itself.
            if thread.thread().id() != thread::current().id() {
                // The threads catch all panics.
                let _ = thread.join();
            }
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("num_threads", &self.num_threads()).finish()
    }
}

/// A C task and its data.
struct Task(unsafe extern "C" fn(*mut std::ffi::c_void), *mut std::ffi::c_void);

// SAFETY: the handler that schedules a task allows it to run on any thread (contract of `ThreadPool_Schedule`).
unsafe impl Send for Task {}

impl Task {
    fn run(self) {
        // SAFETY: the handler's function with the data it gave for it, called once.
        unsafe { (self.0)(self.1) }
    }
}

/// A pool whose threads start with the first task, since most operations need none; and once more in a child process,
/// as threads do not survive a fork.
pub(crate) struct LazyPool {
    threads: usize,
    /// Null, or a box of the latest pool; earlier ones belong to processes before a fork. No lock, as a child may find
    /// one taken for ever.
    started: AtomicPtr<Started>,
}

/// A pool and the process that has its threads.
struct Started {
    process: u32,
    /// Absent where the system has no threads to spare.
    pool: Option<ThreadPool>,
}

impl LazyPool {
    /// A pool of `threads` threads, which start with the first task.
    pub(crate) fn new(threads: usize) -> LazyPool {
        LazyPool { threads, started: AtomicPtr::default() }
    }

    /// The pool of this process.
    fn pool(&self) -> Option<&ThreadPool> {
        let process = std::process::id();
        let known = self.started.load(Ordering::Acquire);
        // SAFETY: null, or a box that is neither changed nor freed before `self` is dropped.
        if let Some(started) = unsafe { known.as_ref() }.filter(|started| started.process == process) {
            return started.pool.as_ref();
        }
        let new = Box::into_raw(Box::new(Started { process, pool: ThreadPool::new(self.threads).ok() }));
        // A pool of the parent process is left alone: its threads are not here, and dropping it would wait for them.
        let latest = match self.started.compare_exchange(known, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => new,
            Err(first) => {
                // SAFETY: made above and not shared.
                drop(unsafe { Box::from_raw(new) });
                first
            }
        };
        // SAFETY: as above; another thread of this process made it if this one did not.
        unsafe { &*latest }.pool.as_ref()
    }
}

impl Drop for LazyPool {
    fn drop(&mut self) {
        let started = *self.started.get_mut();
        // SAFETY: as in `pool`; nobody uses it any more.
        if unsafe { started.as_ref() }.is_some_and(|started| started.process == std::process::id()) {
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(started) });
        }
    }
}

impl TaskPool for LazyPool {
    fn schedule(&self, task: Box<dyn FnOnce() + Send>) {
        match self.pool() {
            Some(pool) => pool.schedule(task),
            // The task runs all the same.
            None => task(),
        }
    }

    fn num_threads(&self) -> usize {
        self.threads
    }
}

slot! {
    /// `XLA_FFI_ThreadPool_Schedule`.
    pub(super) fn schedule(
        args: sys::XLA_FFI_ThreadPool_Schedule_Args,
        "XLA_FFI_ThreadPool_Schedule_Args",
        sys::XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE
    ) {
        let pool = context((*args).ctx)?.pool()?;
        let task = (*args).task.ok_or_else(|| Error::invalid_argument("the task is null"))?;
        let task = Task(task, (*args).data);
        pool.schedule(Box::new(move || task.run()));
        Ok(())
    }
}

slot! {
    /// `XLA_FFI_ThreadPool_NumThreads`.
    pub(super) fn num_threads(
        args: sys::XLA_FFI_ThreadPool_NumThreads_Args,
        "XLA_FFI_ThreadPool_NumThreads_Args",
        sys::XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE
    ) {
        let threads = context((*args).ctx)?.pool()?.num_threads();
        *(*args).num_threads.as_mut().ok_or_else(|| Error::invalid_argument("num_threads is null"))? =
            i64::try_from(threads).unwrap_or(i64::MAX);
        Ok(())
    }
}
