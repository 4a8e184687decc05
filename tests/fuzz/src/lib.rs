//! Call frames, call descriptors and requests for shapes with faults in them, given to operations of every kind.
//!
//! An input of the fuzzer is a plan: a sound call, and then faults in it. Memory behind pointers is always as large as
//! what points to it says, so whatever AddressSanitizer finds is the SDK's own mistake. A handler must return success
//! or an error that it made; success leaves arguments as they were; nothing may end the process.

mod build;
mod fault;
mod heap;
mod legacy;
mod ops;
mod plan;
mod run;
mod shapes;

use std::cell::Cell;
use std::sync::Once;

use arbitrary::Unstructured;

thread_local! {
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
}

/// Calls the SDK, whose handlers' panics are theirs to catch, and too many to print.
fn quietly<R>(call: impl FnOnce() -> R) -> R {
    IN_HANDLER.set(true);
    let result = call();
    IN_HANDLER.set(false);
    result
}

/// Runs one input.
///
/// # Panics
/// If the SDK breaks a promise.
pub fn fuzz(data: &[u8]) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IN_HANDLER.get() {
                previous(info);
            }
        }));
    });
    let mut input = Unstructured::new(data);
    match input.arbitrary::<u8>() {
        Ok(0..=31) => legacy::fuzz(&mut input),
        Ok(32..=63) => shapes::fuzz(&mut input),
        Ok(_) => run::fuzz(&mut input),
        Err(_) => return,
    }
    // Inputs that are used up read as zeros from here on; nothing that runs can fail for want of them.
    .unwrap_or_else(|error| assert!(matches!(error, arbitrary::Error::NotEnoughData), "{error}"));
}
