//! Panics of every kind, wherever Rust code runs.

use oxcall::AttrEnum;
use oxcall::prelude::*;

/// The payload of a panic.
#[derive(AttrEnum, Clone, Copy, Debug, PartialEq)]
pub enum Payload {
    /// A `&str`.
    Str,
    /// A `String`.
    String,
    /// A type that is no text.
    Custom,
    /// A type whose own drop panics.
    Bomb,
}

/// Where it happens.
#[derive(AttrEnum, Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// In the instantiate stage.
    Instantiate,
    /// In the prepare stage, which only some hosts run.
    Prepare,
    /// In the initialize stage, which only some hosts run.
    Initialize,
    /// In the execute stage.
    Execute,
    /// In the drop of the state.
    Drop,
    /// On a thread that completes the call.
    Thread,
    /// On the threads of a parallel loop.
    Pool,
    /// Nowhere.
    Nowhere,
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload's drop panics too");
    }
}

fn go_off(payload: Payload, place: &str) {
    match payload {
        Payload::Str => panic!("a str panics"),
        Payload::String => panic!("a String panics in {place}"),
        Payload::Custom => std::panic::panic_any(42u64),
        Payload::Bomb => std::panic::panic_any(Bomb),
    }
}

/// A state that may panic when it is dropped.
#[derive(Debug)]
pub struct Fuse(Option<Payload>);

impl Drop for Fuse {
    fn drop(&mut self) {
        if let Some(payload) = self.0 {
            go_off(payload, "drop");
        }
    }
}

macro_rules! stages {
    ($($name:ident($stage:ident) at $place:ident;)*) => {$(
        #[doc = concat!("The ", stringify!($stage), " stage.")]
        #[stage($stage)]
        fn $name(#[attr] place: Place, #[attr] payload: Payload) -> Fuse {
            if place == Place::$place {
                go_off(payload, stringify!($stage));
            }
            Fuse((place == Place::Drop && Place::$place == Place::Instantiate).then_some(payload))
        }
    )*};
}
stages! {
    panic_at_first(instantiate) at Instantiate;
    panic_before(prepare) at Prepare;
    panic_soon(initialize) at Initialize;
}

/// Copies `x`, or panics where and how it is told to.
///
/// # Errors
/// If the host makes no future.
#[custom_call(instantiate = panic_at_first, prepare = panic_before, initialize = panic_soon)]
pub fn panic_in<'f>(
    #[attr] place: Place,
    #[attr] payload: Payload,
    #[dims(..s)] x: Array<'f, f32>,
    #[dims(..s)] mut y: Out<'f, f32>,
    pool: ThreadPool<'f>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    if place == Place::Execute {
        go_off(payload, "execute");
    }
    if place == Place::Pool {
        pool.parallel_for(8, 1, |_| go_off(payload, "pool"));
    }
    later.spawn(move || {
        if place == Place::Thread {
            go_off(payload, "thread");
        }
        y.copy_from_slice(&x);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use oxcall::testing::{Call, call};

    use super::*;

    fn told(place: &str, payload: &str) -> Call {
        call::<panic_in>().arg([1f32, 2.0]).attr("place", place).attr("payload", payload)
    }

    #[test]
    fn every_payload_in_every_place_is_an_error() {
        for place in ["instantiate", "prepare", "initialize", "execute", "thread", "pool"] {
            for (payload, text) in [
                ("str", "a str panics"),
                ("string", &format!("a String panics in {place}")),
                ("custom", "a payload that is not a string"),
                ("bomb", "a payload that is not a string"),
            ] {
                let error = told(place, payload).run().unwrap_err();
                assert_eq!(error.code(), Code::Internal);
                assert!(error.message().starts_with("panic_in: ") && error.message().contains(text), "{error}");
            }
        }
    }

    #[test]
    fn states_whose_drop_panics_are_harmless() {
        for payload in ["str", "string", "custom", "bomb"] {
            let outputs = told("drop", payload).run().unwrap();
            assert_eq!(outputs.get::<f32>(0).as_slice().unwrap(), [1.0, 2.0]);
        }
        assert!(told("nowhere", "str").run().is_ok());
    }
}
