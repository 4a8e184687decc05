//! The ends of programs with callbacks, in the order of their starts.

use std::collections::HashMap;

use oxcall::sync::Mutex;
use oxcall_hlo::{Module, OpKind, Region};
use oxcall_pjrt::{DeviceId, Event};

/// Whether a program calls functions of Python.
pub(crate) fn calls_back(module: &Module) -> bool {
    fn in_region(region: &Region) -> bool {
        region.ops.iter().any(|op| {
            let calls = matches!(&op.kind, OpKind::CustomCall(call) if call.target.starts_with("oxcall_python_"));
            calls || op.regions.iter().any(in_region)
        })
    }
    module.funcs.iter().any(|func| in_region(&func.body))
}

/// An event that completes as `done` does, but not before the programs with callbacks that were started earlier on this
/// device: `jax.effects_barrier` waits for the last one only.
pub(crate) fn after_earlier(device: DeviceId, done: Event) -> Event {
    static LAST: Mutex<Option<HashMap<DeviceId, Event>>> = Mutex::new(None);
    let (promise, ordered) = Event::pending();
    let before = {
        let mut last = LAST.lock();
        last.get_or_insert_default().insert(device, ordered.clone())
    };
    let end = move || done.on_ready(move |outcome| promise.complete(outcome));
    match before {
        // What became of it is its own caller's affair.
        Some(before) => before.on_ready(move |_| end()),
        None => end(),
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_programs_do_not_end_before_earlier_ones() {
        let device = DeviceId(-7);
        let (first, done) = Event::pending();
        let earlier = after_earlier(device, done);
        let later = after_earlier(device, Event::ready());
        assert!(earlier.outcome().is_none() && later.outcome().is_none());
        first.complete(Err(oxcall::Error::internal("of the first")));
        assert!(earlier.outcome().unwrap().is_err() && later.outcome().unwrap().is_ok());
    }
}
