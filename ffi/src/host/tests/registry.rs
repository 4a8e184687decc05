use super::*;
use crate::Code;
use crate::descriptor::{RawHandler, Recorded};
use crate::host::registry::{FOUR_HANDLERS_SIZE, FourHandlerArgs};

/// Answers a metadata query like a handler that was made for API 0.`MINOR`.
unsafe extern "C" fn handler<const MINOR: i32, const ID: u8>(
    frame: *mut sys::XLA_FFI_CallFrame,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a metadata query.
    unsafe {
        assert_eq!(((*frame).struct_size, (*frame).stage), (168, sys::XLA_FFI_ExecutionStage_EXECUTE));
        let extension = (*frame).extension_start.cast::<sys::XLA_FFI_Metadata_Extension>();
        assert_eq!(((*extension).extension_base.type_, (*extension).extension_base.struct_size), (1, 32));
        let metadata = (*extension).metadata;
        assert_eq!((*metadata).struct_size, 36);
        (*metadata).api_version.major_version = 0;
        (*metadata).api_version.minor_version = MINOR;
        (*metadata).traits = u32::from(ID);
        if !(*frame).api.is_null() {
            (*metadata).state_type_id.type_id = 40 + i64::from(ID);
        }
    }
    std::ptr::null_mut()
}

unsafe extern "C" fn silent(_: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    std::ptr::null_mut()
}

/// Like the C++ headers since jaxlib 0.8.0, which write a field that older hosts do not have.
unsafe extern "C" fn too_far(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: the query of this crate has room for the field.
    unsafe {
        let metadata = (*(*frame).extension_start.cast::<sys::XLA_FFI_Metadata_Extension>()).metadata;
        (*metadata).api_version = sys::XLA_FFI_Api_Version { struct_size: 24, minor_version: 1, ..Default::default() };
        (*metadata).state_type_id.type_id = 0;
    }
    std::ptr::null_mut()
}

#[test]
fn metadata_carries_the_api_since_0_8_1() {
    for version in HostVersion::ALL {
        // SAFETY: the handlers obey the contract.
        let told = unsafe { metadata(handler::<1, 1>, version) }.unwrap();
        let state_type_id = (version >= HostVersion::V0_8_1).then_some(41);
        assert_eq!(told, Metadata { version: (0, 1), traits: 1, state_type_id, recorded: Recorded::Never });
        // SAFETY: as above.
        assert_eq!(unsafe { metadata(silent, version) }.unwrap_err().code(), Code::Internal);
    }
    // SAFETY: as above.
    let error = unsafe { metadata(too_far, HostVersion::V0_6) }.unwrap_err();
    assert!(error.message().contains("past the 40 bytes"), "{error}");
    // SAFETY: as above.
    assert_eq!(unsafe { metadata(too_far, HostVersion::V0_8_1) }.unwrap().state_type_id, None);
}

fn span(text: &str) -> sys::XLA_FFI_ByteSpan {
    sys::XLA_FFI_ByteSpan { ptr: text.as_ptr().cast(), len: text.len() }
}

/// Registers with the 84-byte args, as a library does that runs on all hosts.
fn register(version: HostVersion, name: &str, platform: &str, execute: RawHandler) -> Result<()> {
    let mut args = FourHandlerArgs {
        struct_size: 84,
        extension_start: std::ptr::null_mut(),
        name: span(name),
        platform: span(platform),
        instantiate: None,
        prepare: None,
        initialize: None,
        execute: Some(execute),
        traits: 0,
    };
    invoke(slot(version.api(), 3), &mut args)
}

#[test]
fn handlers_are_registered_found_and_listed() {
    assert_eq!(FOUR_HANDLERS_SIZE, 84);
    // One pointer: a generic function may have several addresses.
    let execute: RawHandler = handler::<1, 1>;
    for version in HostVersion::ALL {
        register(version, "tests.four", "Host", execute).unwrap();
    }
    let found = find_handler("tests.four", "cpu").unwrap();
    assert_eq!((found.traits, found.minor), (1, 1));
    assert!(found.instantiate.is_none() && found.record.is_none());
    register(HostVersion::V0_12, "tests.four", "CUDA", handler::<1, 2>).unwrap();
    let platforms: Vec<_> =
        registered_handlers().into_iter().filter(|(name, ..)| name == "tests.four").map(|(_, p, _)| p).collect();
    assert_eq!(platforms, ["cuda", "host"]);
    let error = find_handler("tests.four", "ROCM").unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().starts_with("No FFI handler registered for tests.four"), "{error}");
}

#[test]
fn five_handlers_are_taken_since_api_0_4() {
    let mut args = sys::XLA_FFI_Handler_Register_Args {
        struct_size: 92,
        name: span("tests.five"),
        platform: span("Host"),
        bundle: sys::XLA_FFI_Handler_Bundle {
            execute: Some(handler::<4, 2>),
            record: Some(silent),
            instantiate: Some(handler::<4, 3>),
            ..Default::default()
        },
        traits: 4,
        ..Default::default()
    };
    invoke(slot(HostVersion::V0_11_1.api(), 3), &mut args).unwrap();
    let found = find_handler("tests.five", "Host").unwrap();
    assert_eq!((found.traits, found.minor), (6, 4));
    assert!(found.record.is_some() && found.instantiate.is_some());
}

#[test]
fn duplicates_are_refused_unless_they_are_the_same() {
    // One pointer: a generic function may have several addresses.
    let execute: RawHandler = handler::<1, 4>;
    register(HostVersion::V0_12, "tests.twice", "Host", execute).unwrap();
    register(HostVersion::V0_12, "tests.twice", "host", execute).unwrap();
    let error = register(HostVersion::V0_12, "tests.twice", "Host", handler::<2, 5>).unwrap_err();
    assert_eq!(error.code(), Code::AlreadyExists);
    let text = "Duplicate FFI handler registration for tests.twice on platform Host with different bundle addresses";
    assert!(error.message().starts_with(text), "{error}");
}

#[test]
fn of_several_sources_the_first_has_the_name() {
    let handlers: [RawHandler; 3] = [handler::<1, 5>, handler::<1, 6>, handler::<1, 7>];
    let sources = [Source::Client, Source::Library, Source::Linked];
    for (source, execute) in sources.into_iter().zip(handlers) {
        let bundle = sys::XLA_FFI_Handler_Bundle { execute: Some(execute), ..Default::default() };
        // SAFETY: the handlers obey the contract.
        unsafe { register_handler(HostVersion::V0_12, source, "tests.sources", "Host", &bundle, 0) }.unwrap();
        let found = find_handler("tests.sources", "Host").unwrap();
        assert_eq!((found.source, found.execute as usize), (source, execute as usize));
    }
    let listed = registered_handlers().into_iter().filter(|(name, ..)| name == "tests.sources");
    assert_eq!(
        listed.map(|(.., known)| known.source).collect::<Vec<_>>(),
        [Source::Linked, Source::Library, Source::Client]
    );
}

#[test]
fn versions_outside_the_range_of_the_host_are_refused() {
    for (version, reported, accepted) in [
        (HostVersion::V0_6, 1, true),
        (HostVersion::V0_6, 2, false),
        (HostVersion::V0_8_1, 2, true),
        (HostVersion::V0_8_1, 3, false),
        (HostVersion::V0_12, 5, true),
        (HostVersion::V0_12, 0, false),
        (HostVersion::V0_12, 6, false),
    ] {
        let execute: RawHandler = match reported {
            0 => handler::<0, 0>,
            1 => handler::<1, 0>,
            2 => handler::<2, 0>,
            3 => handler::<3, 0>,
            5 => handler::<5, 0>,
            _ => handler::<6, 0>,
        };
        let result = register(version, &format!("tests.{version:?}.{reported}"), "Host", execute);
        assert_eq!(result.is_ok(), accepted, "{version:?} {reported}");
        if let Err(error) = result {
            assert!(error.message().contains(&format!("API version (0.{reported}) is incompatible")), "{error}");
        }
    }
}

#[test]
fn a_bundle_needs_an_execute_handler_and_enough_bytes() {
    let mut args =
        sys::XLA_FFI_Handler_Register_Args { struct_size: 92, name: span("tests.none"), ..Default::default() };
    let error = invoke(slot(api(5), 3), &mut args).unwrap_err();
    assert!(error.message().contains("must provide an execute implementation"), "{error}");
    args.struct_size = 80;
    let error = invoke(slot(api(5), 3), &mut args).unwrap_err();
    assert!(error.message().contains("XLA_FFI_Handler_Register size: expected 84, got 80"), "{error}");
}

unsafe extern "C" fn registers_another(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    register(HostVersion::V0_12, "tests.inner", "Host", handler::<1, 7>).unwrap();
    // SAFETY: passed on.
    unsafe { handler::<1, 6>(frame) }
}

#[test]
fn a_handler_may_register_others_while_it_is_asked() {
    register(HostVersion::V0_12, "tests.outer", "Host", registers_another).unwrap();
    assert!(find_handler("tests.outer", "Host").is_ok() && find_handler("tests.inner", "Host").is_ok());
}
