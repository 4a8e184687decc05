//! Panics as errors: what was said, and where.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

thread_local! {
    /// Where the latest panic of this thread happened.
    static LOCATION: Cell<Option<String>> = const { Cell::new(None) };
}

/// Makes panics remember where they happened. The former hook still runs: it prints to stderr.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let location = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
            // A thread that is being destroyed has no storage left, and needs none.
            let _ = LOCATION.try_with(|cell| cell.set(location));
            previous(info);
        }));
    });
}

/// Drops a value of the user's where a panic of its drop must not unwind any further. The payload of such a panic,
/// which may panic in its drop again, is leaked.
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}

/// A line on stderr, for failures that no caller can receive. Unlike `eprintln!` it does not panic if
/// stderr cannot be written.
pub(crate) fn tell(what: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "oxcall: {what}");
}

/// Where the panic that was just caught happened.
pub(crate) fn take_location() -> Option<String> {
    LOCATION.try_with(Cell::take).ok().flatten()
}

/// Makes this thread go on with a panic that was caught on another.
pub(crate) fn resume(payload: Box<dyn Any + Send>, location: Option<String>) -> ! {
    let _ = LOCATION.try_with(|cell| cell.set(location));
    resume_unwind(payload)
}

/// "panicked at src/x.rs:3: message", and the end of the payload.
#[cold]
pub(crate) fn describe(payload: Box<dyn Any + Send>) -> String {
    let said = if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a payload that is not a string".to_owned()
    };
    let location = take_location();
    drop_quietly(payload);
    match location {
        Some(location) => format!("panicked at {location}: {said}"),
        None => format!("panicked: {said}"),
    }
}
