use super::*;
use crate::{Code, Error};

#[test]
fn tables_have_the_sizes_and_versions_of_their_hosts() {
    let expected = [(88, 1), (88, 1), (192, 1), (192, 2), (192, 3), (200, 4), (208, 5)];
    for (version, (size, minor)) in HostVersion::ALL.into_iter().zip(expected) {
        let api = version.api();
        assert_eq!((api.struct_size, api.api_version.minor_version), (size, minor), "{version:?}");
        assert_eq!(api.api_version.major_version, 0);
        for index in 0..20 {
            slot(api, index);
        }
        assert_eq!(HostVersion::from_index(version as u8), version);
    }
    for minor in 1..=5 {
        assert_eq!(api(minor).api_version.minor_version, minor);
    }
    assert_eq!(api(9).api_version.minor_version, 5);
}

#[test]
fn slot_twelve_tells_the_two_oldest_layouts_apart() {
    let probe = |version: HostVersion| invoke(slot(version.api(), 12), &mut [0usize; 8]).unwrap_err();
    let old = probe(HostVersion::V0_4_34);
    assert!(old.message().starts_with("Unexpected XLA_FFI_Future_Create size: expected 16, got 0"), "{old}");
    let new = probe(HostVersion::V0_4_38);
    assert!(new.message().starts_with("Unexpected XLA_FFI_ThreadPool_NumThreads_Args size: expected 32"), "{new}");
    assert_eq!(new.code(), Code::InvalidArgument);
}

#[test]
fn functions_past_the_end_of_a_table_fail() {
    for (version, index) in
        [(HostVersion::V0_4_34, 15), (HostVersion::V0_4_38, 16), (HostVersion::V0_9_2, 18), (HostVersion::V0_11_1, 19)]
    {
        assert_eq!(invoke(slot(version.api(), index), &mut [64usize; 8]).unwrap_err().code(), Code::Internal);
    }
}

fn create(api: &sys::XLA_FFI_Api, code: u32, message: &std::ffi::CStr) -> *mut sys::XLA_FFI_Error {
    let mut args =
        sys::XLA_FFI_Error_Create_Args { struct_size: 28, message: message.as_ptr(), errc: code, ..Default::default() };
    // SAFETY: the args are complete.
    unsafe { api.XLA_FFI_Error_Create.unwrap()(&raw mut args) }
}

#[test]
fn errors_keep_code_and_message() {
    for version in HostVersion::ALL {
        for &code in Code::ALL {
            let error = create(version.api(), code as u32, c"no such thing");
            let mut args = sys::XLA_FFI_Error_GetDetails_Args { struct_size: 36, error, ..Default::default() };
            // SAFETY: the args are complete; the message lives as long as the error.
            unsafe {
                version.api().XLA_FFI_Error_GetDetails.unwrap()(&raw mut args);
                assert_eq!(std::ffi::CStr::from_ptr(args.message), c"no such thing");
            }
            assert_eq!(args.errc, if version.minor() >= 4 { code as u32 } else { 0 });
            let mut args = sys::XLA_FFI_Error_Destroy_Args { struct_size: 24, error, ..Default::default() };
            // SAFETY: the error is not used any more.
            unsafe { version.api().XLA_FFI_Error_Destroy.unwrap()(&raw mut args) };
        }
    }
}

#[test]
fn unknown_codes_and_ok_are_errors() {
    for code in [0, 17, u32::MAX] {
        // SAFETY: made by the table.
        let error = unsafe { error::take(create(api(5), code, c"odd")) }.unwrap();
        assert_eq!((error.code(), error.message()), (Code::Unknown, "odd"));
    }
}

#[test]
fn the_args_of_get_message_are_enough_for_get_details() {
    #[repr(C)]
    struct GetMessage {
        struct_size: usize,
        extension: *mut c_void,
        error: *mut sys::XLA_FFI_Error,
        message: *const std::ffi::c_char,
    }
    let error = fail(Error::data_loss("gone\0 for ever"));
    let mut args =
        Box::new(GetMessage { struct_size: 32, extension: std::ptr::null_mut(), error, message: std::ptr::null() });
    // SAFETY: the struct has the 32 bytes that it says.
    unsafe {
        api(5).XLA_FFI_Error_GetDetails.unwrap()((&raw mut *args).cast());
        assert_eq!(std::ffi::CStr::from_ptr(args.message), c"gone\\0 for ever");
        drop(error::take(error));
    }
}

unsafe extern "C" fn failing(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    let (api, _) = unsafe { api_of(frame) };
    create(api, Code::OutOfRange as u32, c"index 3 of 2")
}

#[test]
fn errors_of_handlers_become_errors() {
    for version in HostVersion::ALL {
        let context = InvokeContext::builder().version(version).build();
        let error = run(failing, &context, Stage::Execute).unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::OutOfRange, "index 3 of 2"));
    }
}
