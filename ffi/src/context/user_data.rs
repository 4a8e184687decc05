//! User data: objects that the caller of a program passes to its handlers.

use std::marker::PhantomData;
use std::ops::Deref;

use super::{Context, FromContext};
use crate::state::{HostType, State};
use crate::{Error, Result};

/// A type of user data, known to hosts under a name. Made by [`user_data!`](crate::user_data).
///
/// # Safety
/// `host_type` is the registration of `Self` and of nothing else; programs that set user data under its name set a
/// pointer to a `Self`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not registered as user data",
    note = "write `oxcall::user_data!(unsafe {Self} as \"name\")`, with the name under which the program registers it"
)]
pub unsafe trait UserDataType: State {
    /// The registration.
    fn host_type() -> &'static HostType;
}

/// User data that was set for this execution through the host's C API; `jax.ffi` cannot set any.
#[derive(Clone, Copy, Debug)]
pub struct UserData<'f, T> {
    data: &'f T,
    /// Ends with the call: not to be sent to another thread.
    _call: PhantomData<*const ()>,
}

impl<T> Deref for UserData<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data
    }
}

impl<'f, T: UserDataType> FromContext<'f> for UserData<'f, T> {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        let mut id = T::host_type().id(context.api)?;
        let data = context.api.user_data(context.ctx, &mut id)?;
        // SAFETY: data under this type's id is a `T` (`UserDataType`), live while the context is.
        match unsafe { data.cast::<T>().as_ref() } {
            Some(data) => Ok(UserData { data, _call: PhantomData }),
            None => Err(Error::not_found(format!("no user data of type {}", std::any::type_name::<T>()))),
        }
    }
}

/// Registers a type as user data under a name that the program which sets it knows.
///
/// The `unsafe` is a promise: programs set only pointers to this type under this name.
///
/// ```
/// struct Weights { data: Vec<f32> }
/// oxcall::user_data!(unsafe Weights as "my_project.weights");
/// ```
#[macro_export]
macro_rules! user_data {
    (unsafe $ty:ty as $name:literal) => {
        // SAFETY: promised by whoever wrote the macro's `unsafe`.
        unsafe impl $crate::context::UserDataType for $ty {
            fn host_type() -> &'static $crate::__private::HostType {
                static TYPE: $crate::__private::HostType = $crate::__private::HostType::public::<$ty>($name);
                &TYPE
            }
        }
    };
}
