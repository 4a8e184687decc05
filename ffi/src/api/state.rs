//! Handlers, types and states, registered with the host.

use std::ffi::c_void;

use xla_ffi_sys::{v0_1, v0_2, xla_ffi as sys};

use super::{HostApi, Slot, span};
use crate::Result;
use crate::descriptor::Stage;

impl HostApi<'_> {
    /// Registers a handler bundle under a name and platform.
    pub(crate) fn register_handler(
        self,
        name: &str,
        platform: &str,
        bundle: sys::XLA_FFI_Handler_Bundle,
        traits: sys::XLA_FFI_Handler_Traits,
    ) -> Result<()> {
        // The stage RECORD and its place in the bundle came with API 0.4; the shorter struct is accepted for ever.
        #[repr(C)]
        struct RegisterArgs {
            struct_size: usize,
            extension_start: *mut sys::XLA_FFI_InternalExtension,
            name: sys::XLA_FFI_ByteSpan,
            platform: sys::XLA_FFI_ByteSpan,
            bundle: [sys::XLA_FFI_Handler; 4],
            traits: sys::XLA_FFI_Handler_Traits,
        }
        let mut args = RegisterArgs {
            struct_size: std::mem::offset_of!(RegisterArgs, traits) + size_of::<sys::XLA_FFI_Handler_Traits>(),
            extension_start: std::ptr::null_mut(),
            name: span(name),
            platform: span(platform),
            bundle: [bundle.instantiate, bundle.prepare, bundle.initialize, bundle.execute],
            traits,
        };
        // SAFETY: the layout of API 0.1 to 0.3, which later hosts tell by its size.
        unsafe { self.call(Slot::HandlerRegister, &mut args) }
    }

    /// Registers a state type and writes its id.
    ///
    /// # Safety
    /// `type_info` lives as long as the host, and its deleter destroys states of this type.
    pub(crate) unsafe fn register_type(
        self,
        name: &str,
        type_id: &mut sys::XLA_FFI_TypeId,
        type_info: *const sys::XLA_FFI_TypeInfo,
    ) -> Result<()> {
        let mut args = sys::XLA_FFI_Type_Register_Args {
            struct_size: sys::XLA_FFI_Type_Register_Args_STRUCT_SIZE as usize,
            name: span(name),
            type_id,
            type_info,
            ..Default::default()
        };
        // SAFETY: API 0.1 reads up to the type id, later ones the type info as well.
        unsafe { self.call(Slot::TypeRegister, &mut args) }
    }

    /// Hands a state to the context; on success the host owns it.
    ///
    /// # Safety
    /// `state` is of the type with `type_id`, and `deleter` destroys it.
    pub(crate) unsafe fn set_state(
        self,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        stage: Stage,
        type_id: &mut sys::XLA_FFI_TypeId,
        state: *mut c_void,
        deleter: unsafe extern "C" fn(*mut c_void),
    ) -> Result<()> {
        match self.minor() {
            // The one state would be taken for the instantiate stage's.
            ..=2 if stage != Stage::Instantiate => Err(self.one_state()),
            ..=1 => {
                let mut args = v0_1::XLA_FFI_State_Set_Args {
                    struct_size: size_of::<v0_1::XLA_FFI_State_Set_Args>(),
                    ctx,
                    type_id,
                    state,
                    deleter: Some(deleter),
                    ..Default::default()
                };
                // SAFETY: the layout of API 0.1.
                unsafe { self.call(Slot::StateSet, &mut args) }
            }
            2 => {
                let mut args = v0_2::XLA_FFI_State_Set_Args {
                    struct_size: size_of::<v0_2::XLA_FFI_State_Set_Args>(),
                    ctx,
                    type_id,
                    state,
                    ..Default::default()
                };
                // SAFETY: the layout of API 0.2.
                unsafe { self.call(Slot::StateSet, &mut args) }
            }
            _ => {
                let mut args = sys::XLA_FFI_State_Set_Args {
                    struct_size: sys::XLA_FFI_State_Set_Args_STRUCT_SIZE as usize,
                    ctx,
                    stage: stage as sys::XLA_FFI_ExecutionStage,
                    type_id,
                    state,
                    ..Default::default()
                };
                // SAFETY: the layout since API 0.3.
                unsafe { self.call(Slot::StateSet, &mut args) }
            }
        }
    }

    /// The state that a stage left in the context.
    pub(crate) fn state(
        self,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        stage: Stage,
        type_id: &mut sys::XLA_FFI_TypeId,
    ) -> Result<*mut c_void> {
        if self.minor() <= 2 {
            // Before API 0.3 there was one state, the instantiate stage's.
            if stage != Stage::Instantiate {
                return Err(self.one_state());
            }
            let mut args = v0_1::XLA_FFI_State_Get_Args {
                struct_size: size_of::<v0_1::XLA_FFI_State_Get_Args>(),
                ctx,
                type_id,
                ..Default::default()
            };
            // SAFETY: the layout of API 0.1 and 0.2.
            unsafe { self.call(Slot::StateGet, &mut args)? };
            return Ok(args.state);
        }
        let mut args = sys::XLA_FFI_State_Get_Args {
            struct_size: sys::XLA_FFI_State_Get_Args_STRUCT_SIZE as usize,
            ctx,
            stage: stage as sys::XLA_FFI_ExecutionStage,
            type_id,
            ..Default::default()
        };
        // SAFETY: the layout since API 0.3.
        unsafe { self.call(Slot::StateGet, &mut args)? };
        Ok(args.state)
    }
}
