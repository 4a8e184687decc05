//! Host callbacks: custom calls that Python functions answer.
//!
//! Nothing here calls into Python. Calls wait in a queue, from which threads of Python take them;
//! the executions that made them are suspended meanwhile and hold no thread. So a callback may block, or wait for other
//! programs of this client, without holding anybody up.
//!
//! * `handler`, `queue`, `wire`: the handlers of the custom calls; the queue from which threads of Python take calls;
//!   their description.
//! * `exports`, `gil`: the C symbols for Python; Python's lock.
//! * `inspect`: Python functions that are told of shardings.
//! * `order`, `watch`: ends of programs in the order of their starts; the time limit.

oxcall::namespace!(none);

mod exports;
mod gil;
mod handler;
mod inspect;
mod order;
mod queue;
mod watch;
mod wire;

pub(crate) use gil::without_gil;
pub(crate) use inspect::inspected;
pub(crate) use order::{after_earlier, calls_back};
#[cfg(test)]
pub(crate) use queue::answering;
pub(crate) use queue::is_answering;
use wire::describe;

/// Gives up the calls of programs that were interrupted.
pub(crate) fn interrupt() {
    queue::queue().interrupt();
}
