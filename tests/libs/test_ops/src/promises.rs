//! Calls that another thread completes.

use std::thread;
use std::time::Duration;

use oxcall::AttrEnum;
use oxcall::prelude::*;

/// How a promise ends.
#[derive(AttrEnum, Clone, Copy, Debug)]
pub enum Ending {
    /// Kept.
    Kept,
    /// Broken: an error.
    Broken,
    /// Dropped.
    Dropped,
    /// Its job is dropped by the executor.
    Abandoned,
}

/// Completes the call after `milliseconds`.
///
/// # Errors
/// As `ending` says.
#[custom_call]
pub fn promise<'f>(
    #[attr] ending: Ending,
    #[attr(default = 10)] milliseconds: u64,
    #[dims(..s)] x: Array<'f, f32>,
    #[dims(..s)] mut y: Out<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    y.copy_from_slice(&x);
    if let Ending::Abandoned = ending {
        return later.spawn_with(|| Ok(()), drop);
    }
    let (promise, future) = later.promise()?;
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(milliseconds));
        match ending {
            Ending::Kept => promise.set(Ok(())),
            Ending::Broken => promise.set(Err(Error::data_loss("the promise is broken"))),
            Ending::Dropped | Ending::Abandoned => drop(promise),
        }
    });
    Ok(future)
}
