//! Custom calls by the interfaces v1 to v3.

use std::ffi::{c_char, c_void};

use oxcall::Code;
use oxcall::host::{LegacyFunction, Source, register_legacy};
use oxcall_hlo::{CustomCall, CustomCallApiVersion};

use super::custom_call::emit;
use super::*;

unsafe extern "C" {
    fn XlaCustomCallStatusSetFailure(status: *mut c_void, message: *const c_char, len: usize);
}

/// `out[0] = in[0] + in[1]`, of one element each.
unsafe extern "C" fn add(out: *mut c_void, ins: *mut *const c_void) {
    // SAFETY: the programs below give two scalars, and take one.
    unsafe { *out.cast::<f32>() = **ins.cast::<*const f32>() + **ins.add(1).cast::<*const f32>() }
}

/// Two results: the operand, and its double. A negative one is a failure.
unsafe extern "C" fn double(out: *mut *mut f32, ins: *mut *const f32, status: *mut c_void) {
    // SAFETY: the programs below give one scalar, and take two.
    unsafe {
        let x = **ins;
        if x < 0.0 {
            XlaCustomCallStatusSetFailure(status, c"negative".as_ptr(), 8);
        }
        **out = x;
        **out.add(1) = x + x;
    }
}

/// The length of the opaque string.
unsafe extern "C" fn length(out: *mut f32, _: *mut *const c_void, text: *const c_char, len: usize, _: *mut c_void) {
    // SAFETY: the programs below take one scalar, and give a string that ends with `c`.
    unsafe {
        assert_eq!(text.cast::<u8>().add(len - 1).read(), b'c');
        *out = len as f32;
    }
}

fn call(target: &str, api_version: CustomCallApiVersion, opaque: &str) -> CustomCall {
    CustomCall {
        backend_config: Attribute::String(opaque.into()),
        attributes: Vec::new(),
        api_version,
        ..super::custom_call::call(target, &[])
    }
}

#[test]
fn signatures_of_the_cpu() {
    for (name, address) in [
        ("engine_v1", add as *const c_void),
        ("engine_v2", double as *const c_void),
        ("engine_v3", length as *const c_void),
    ] {
        // SAFETY: the programs below call each by the version that its name says.
        unsafe { register_legacy(Source::Client, name, "Host", LegacyFunction(address)) }.unwrap();
    }
    let scalar = f32s([]);
    let module = func(|f| {
        let x = f.param(scalar.clone());
        let sum = emit(f, call("engine_v1", CustomCallApiVersion::Original, ""), &[x, x], &[scalar.clone().into()])?[0];
        let two = [scalar.clone().into(), scalar.clone().into()];
        let both = emit(f, call("engine_v2", CustomCallApiVersion::StatusReturning, ""), &[sum], &two)?;
        let opaque = call("engine_v3", CustomCallApiVersion::StatusReturningUnified, "abc");
        let length = emit(f, opaque, &[], &[scalar.into()])?[0];
        Ok(vec![sum, both[0], both[1], length])
    });
    let engine = engine();
    let program = compile(&engine, module);
    let results = program.run(vec![shared(&engine, &[3f32])]).unwrap();
    let got: Vec<f32> = results.iter().map(|result| values::<f32>(result)[0]).collect();
    assert_eq!(got, [6.0, 6.0, 12.0, 3.0]);
    let error = program.run(vec![shared(&engine, &[-3f32])]).unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Internal, "custom call to engine_v2: negative"));
}

#[test]
fn unknown_functions_and_versions_fail_when_compiled() {
    let compile =
        |call: CustomCall| engine().compile(func(|f| emit(f, call, &[], &[f32s([]).into()]))).map(|_| ()).unwrap_err();
    let error = compile(call("engine_v9", CustomCallApiVersion::Original, ""));
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("No registered implementation for custom call to engine_v9"), "{error}");
    let error = compile(call("engine_v1", CustomCallApiVersion::Unspecified, ""));
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("Unknown custom-call API version enum value"), "{error}");
}
