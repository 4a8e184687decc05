//! `PJRT_Memory`, and the function table at its head.

use std::ffi::c_void;
use std::ptr::null_mut;

use xla_ffi_sys::pjrt::{
    PJRT_Memory, PJRT_Memory_AddressableByDevices_Args, PJRT_Memory_DebugString_Args, PJRT_Memory_Id_Args,
    PJRT_Memory_Kind_Args, PJRT_Memory_Kind_Id_Args, PJRT_Memory_ToString_Args,
};
use xla_ffi_sys::pjrt_later::{PJRT_Memory_FunctionTable, PJRT_Memory_FunctionTable_STRUCT_SIZE};

use super::client_object::MemoryObject;
use super::raw::object;
use super::slot::slot;
use crate::Platform;

/// The destructor of user data.
type Destructor = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// User data that a framework attached to a memory. Only the framework knows its type.
pub(super) struct UserDatum {
    data: *mut c_void,
    destructor: Destructor,
}

// SAFETY: nothing here follows the pointer, and the framework allows its functions to be called on any thread.
unsafe impl Send for UserDatum {}

impl Drop for UserDatum {
    fn drop(&mut self) {
        if let Some(destructor) = self.destructor {
            // SAFETY: the framework gave the function for one call with this data.
            unsafe { destructor(self.data) };
        }
    }
}

struct Table<P: Platform>(P);

impl<P: Platform> Table<P> {
    const VTABLE: &'static PJRT_Memory_FunctionTable = &PJRT_Memory_FunctionTable {
        struct_size: PJRT_Memory_FunctionTable_STRUCT_SIZE,
        extension_start: null_mut(),
        instance_struct_size: size_of::<MemoryObject<P>>(),
        get_user_data: Some(get_user_data::<P>),
        set_user_data: Some(set_user_data::<P>),
    };
}

/// The functions at the head of each memory.
pub(super) fn vtable<P: Platform>() -> &'static PJRT_Memory_FunctionTable {
    Table::<P>::VTABLE
}

unsafe extern "C" fn get_user_data<P: Platform>(memory: *mut PJRT_Memory, key: *const c_void) -> *mut c_void {
    // SAFETY: the framework gives a memory of this plugin.
    let memory = unsafe { object::<MemoryObject<P>>("memory", memory) };
    memory.map_or(null_mut(), |memory| {
        let data = memory.user_data.lock();
        data.get(&(key as usize)).map_or(null_mut(), |datum| datum.data)
    })
}

unsafe extern "C" fn set_user_data<P: Platform>(
    memory: *mut PJRT_Memory,
    key: *const c_void,
    data: *mut c_void,
    destructor: Destructor,
) {
    // SAFETY: the framework gives a memory of this plugin.
    let Ok(memory) = (unsafe { object::<MemoryObject<P>>("memory", memory) }) else { return };
    let datum = UserDatum { data, destructor };
    let former = memory.user_data.lock().insert(key as usize, datum);
    // Its destructor may come back here: the lock is free by now.
    drop(former);
}

slot! {
    /// `PJRT_Memory_Id`.
    fn id<P>(args: PJRT_Memory_Id_Args) {
        let memory: &MemoryObject<P> = object("memory", (*args).memory)?;
        (*args).id = memory.description.id.0;
        Ok(())
    }

    /// `PJRT_Memory_Kind`.
    fn kind<P>(args: PJRT_Memory_Kind_Args) {
        let memory: &MemoryObject<P> = object("memory", (*args).memory)?;
        (*args).kind = memory.description.kind.as_ptr().cast();
        (*args).kind_size = memory.description.kind.len();
        Ok(())
    }

    /// `PJRT_Memory_Kind_Id`.
    fn kind_id<P>(args: PJRT_Memory_Kind_Id_Args) {
        let memory: &MemoryObject<P> = object("memory", (*args).memory)?;
        (*args).kind_id = memory.description.kind_id();
        Ok(())
    }

    /// `PJRT_Memory_DebugString`.
    fn debug_string<P>(args: PJRT_Memory_DebugString_Args) {
        let memory: &MemoryObject<P> = object("memory", (*args).memory)?;
        (*args).debug_string = memory.description.debug_string.as_ptr().cast();
        (*args).debug_string_size = memory.description.debug_string.len();
        Ok(())
    }

    /// `PJRT_Memory_ToString`.
    fn to_string<P>(args: PJRT_Memory_ToString_Args) {
        let memory: &MemoryObject<P> = object("memory", (*args).memory)?;
        (*args).to_string = memory.description.name.as_ptr().cast();
        (*args).to_string_size = memory.description.name.len();
        Ok(())
    }

    /// `PJRT_Memory_AddressableByDevices`.
    fn devices<P>(args: PJRT_Memory_AddressableByDevices_Args) {
        let memory: &MemoryObject<P> = object("memory", (*args).memory)?;
        (*args).devices = memory.devices.as_ptr();
        (*args).num_devices = memory.devices.len();
        Ok(())
    }
}
