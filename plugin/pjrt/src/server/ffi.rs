//! The extension for custom calls: types, user data, handlers.

use oxcall::host::{self, HostVersion, Source};
use xla_ffi_sys::pjrt::{
    PJRT_FFI_Register_Handler_Args, PJRT_FFI_Register_Handler_Args_STRUCT_SIZE, PJRT_FFI_Type_Register_Args,
    PJRT_FFI_UserData_Add_Args,
};
use xla_ffi_sys::xla_ffi::{XLA_FFI_Handler, XLA_FFI_Handler_Bundle};

use super::execute::ContextObject;
use super::limits;
use super::raw::{object, text};
use super::slot::slot;
use crate::{Error, UserData};

/// The host that types of clients are registered with. It is not one that handlers usually see: so a client and a
/// handler may both register a name, in either order, and get the same id.
const CLIENTS: HostVersion = HostVersion::V0_4_34;

slot! {
    /// `PJRT_FFI_Type_Register`.
    fn register_type(args: PJRT_FFI_Type_Register_Args) {
        let name = text("type_name", (*args).type_name, (*args).type_name_size, limits::NAME)?;
        let deleter = (*args).type_info.as_ref().and_then(|info| info.deleter);
        (*args).type_id = host::register_type(CLIENTS, name, (*args).type_id, deleter)?;
        Ok(())
    }

    /// `PJRT_FFI_UserData_Add`.
    fn add_user_data(args: PJRT_FFI_UserData_Add_Args) {
        let context: &ContextObject = object("execution context", (*args).context)?;
        let data = &(*args).user_data;
        let mut known = context.user_data.lock();
        if known.iter().any(|other| other.type_id == data.type_id) {
            let message = format!("User data with type id {} already exists in execution context", data.type_id);
            return Err(Error::already_exists(message));
        }
        known.push(UserData { type_id: data.type_id, address: data.data as usize });
        Ok(())
    }

    /// `PJRT_FFI_Register_Handler`: the handler is that of the execute stage.
    fn register_handler<P>(args: PJRT_FFI_Register_Handler_Args) {
        // Version 2 of the extension had another field in the middle.
        let (size, known) = ((*args).struct_size, PJRT_FFI_Register_Handler_Args_STRUCT_SIZE as usize);
        if size != known && size != size_of::<PJRT_FFI_Register_Handler_Args>() {
            return Err(Error::unimplemented(format!(
                "PJRT_FFI_Register_Handler_Args has {size} bytes; only version 3 of the extension, {known} bytes, is supported"
            )));
        }
        let name = text("target_name", (*args).target_name, (*args).target_name_size, limits::NAME)?;
        let platform = text("platform_name", (*args).platform_name, (*args).platform_name_size, limits::NAME)?;
        let platform = if platform.is_empty() { P::name() } else { platform };
        // SAFETY: the C header says that the pointer is a function of this type.
        let execute = std::mem::transmute::<*mut std::ffi::c_void, XLA_FFI_Handler>((*args).handler);
        let bundle = XLA_FFI_Handler_Bundle { execute, ..XLA_FFI_Handler_Bundle::default() };
        host::register_handler(HostVersion::default(), Source::Client, name, platform, &bundle, (*args).traits)
    }
}
