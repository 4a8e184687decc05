//! `PJRT_Event`.

use xla_ffi_sys::pjrt::{
    PJRT_Event, PJRT_Event_Await_Args, PJRT_Event_Create_Args, PJRT_Event_Destroy_Args, PJRT_Event_Error_Args,
    PJRT_Event_IsReady_Args, PJRT_Event_OnReady_Args, PJRT_Event_Set_Args,
};

use super::raw::{Object, object, release, text};
use super::slot::slot;
use super::{error, limits};
use crate::{Error, Event, Result};

// SAFETY: events are made by `Object::into_raw` only.
unsafe impl Object for Event {
    type Raw = PJRT_Event;
}

/// The event behind a pointer.
///
/// # Safety
/// As for [`object`].
unsafe fn event<'a>(raw: *const PJRT_Event) -> Result<&'a Event> {
    // SAFETY: passed on from the caller.
    unsafe { object("event", raw) }
}

slot! {
    /// `PJRT_Event_Destroy`.
    fn destroy(args: PJRT_Event_Destroy_Args) {
        release::<Event>((*args).event);
        Ok(())
    }

    /// `PJRT_Event_IsReady`.
    fn is_ready(args: PJRT_Event_IsReady_Args) {
        (*args).is_ready = event((*args).event)?.is_ready();
        Ok(())
    }

    /// `PJRT_Event_Error`: the error is the function's own.
    fn error_of(args: PJRT_Event_Error_Args) {
        let pending = || Err(Error::failed_precondition("PJRT_Event_Error: the event is not ready"));
        event((*args).event)?.outcome().unwrap_or_else(pending)
    }

    /// `PJRT_Event_Await`: the error is the function's own.
    fn wait(args: PJRT_Event_Await_Args) {
        event((*args).event)?.wait()
    }

    /// `PJRT_Event_OnReady`. The callback owns the error.
    fn on_ready(args: PJRT_Event_OnReady_Args) {
        let callback = (*args).callback.ok_or_else(|| Error::invalid_argument("callback is null"))?;
        let user_arg = (*args).user_arg as usize;
        event((*args).event)?.on_ready(move |outcome| {
            // The caller gave a function for exactly one call, on any thread, with this argument.
            callback(error::into_raw(outcome), user_arg as *mut _);
        });
        Ok(())
    }

    /// `PJRT_Event_Create`.
    fn create(args: PJRT_Event_Create_Args) {
        let (promise, event) = Event::pending();
        promise.forget();
        (*args).event = event.into_raw();
        Ok(())
    }

    /// `PJRT_Event_Set`.
    fn set(args: PJRT_Event_Set_Args) {
        let message = text("error_message", (*args).error_message, (*args).error_message_size, limits::MESSAGE)?;
        if event((*args).event)?.set(error::outcome((*args).error_code, message)) {
            return Ok(());
        }
        Err(Error::failed_precondition("PJRT_Event_Set: the event is already complete"))
    }
}
