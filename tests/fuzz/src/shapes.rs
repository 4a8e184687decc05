//! Requests for the shapes of results.

use std::ffi::{c_char, c_void};

use arbitrary::{Result, Unstructured};
use oxcall::registry::registry;
use serde_json::{Value, json};

// Exported by the SDK.
unsafe extern "C" {
    fn oxcall_infer(
        handler: usize,
        request: *const u8,
        len: usize,
        sink: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
        user: *mut c_void,
    );
}

/// Keeps the response.
unsafe extern "C" fn keep(user: *mut c_void, text: *const c_char, len: usize) {
    // SAFETY: the vector that was given along, and a text of that length.
    unsafe { (*user.cast::<Vec<String>>()).push(text_of(text, len)) }
}

/// # Safety
/// `text` points to `len` bytes.
unsafe fn text_of(text: *const c_char, len: usize) -> String {
    // SAFETY: as the caller guarantees.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) };
    String::from_utf8(bytes.to_vec()).expect("responses are UTF-8")
}

/// Asks, and checks that the answer is one.
pub(crate) fn fuzz(input: &mut Unstructured<'_>) -> Result<()> {
    let handlers = registry().handlers().len();
    let handler = input.int_in_range(0..=handlers)?;
    let request =
        if input.ratio(1, 8)? { input.bytes(input.len().min(200))?.to_vec() } else { request(input, handler)? };
    let mut responses: Vec<String> = Vec::new();
    // SAFETY: the request is there; the sink takes the vector.
    crate::quietly(|| unsafe {
        oxcall_infer(handler, request.as_ptr(), request.len(), keep, (&raw mut responses).cast());
    });
    let [response] = responses.as_slice() else { panic!("{} responses", responses.len()) };
    let response: Value = serde_json::from_str(response).expect("responses are JSON");
    match (&response["results"], &response["error"]) {
        (Value::Array(results), Value::Null) => {
            for result in results {
                let dims = result["dims"].as_array().expect("dims");
                assert!(dims.iter().all(|dim| dim.as_i64().is_some_and(|dim| dim >= 0)), "{response}");
                assert!(oxcall::DType::from_name(result["dtype"].as_str().expect("dtype")).is_some(), "{response}");
            }
        }
        (Value::Null, Value::Object(error)) => assert!(error["message"].is_string() && error["code"].is_string()),
        _ => panic!("{response}"),
    }
    Ok(())
}

fn request(input: &mut Unstructured<'_>, handler: usize) -> Result<Vec<u8>> {
    const DTYPES: [&str; 12] = ["f32", "f64", "bf16", "s32", "u8", "s64", "s16", "pred", "token", "s4", "c64", "x"];
    const DIMS: [i64; 10] = [0, 1, 2, 3, 4, 6, 1 << 31, i64::MAX, -1, i64::MIN];
    let count = input.int_in_range(0..=4)?;
    let mut args = Vec::new();
    for _ in 0..count {
        let rank = input.int_in_range(0..=3)?;
        let common = if input.ratio(4, 5)? { 6 } else { DIMS.len() };
        let dims = (0..rank).map(|_| input.choose(&DIMS[..common]).copied());
        let dims = dims.collect::<Result<Vec<_>>>()?;
        args.push(json!({"dtype": input.choose(&DTYPES)?, "dims": dims}));
    }
    let mut attrs = json!({});
    if let Some(handler) = registry().handlers().get(handler) {
        for attr in handler.attrs {
            if input.arbitrary()? {
                attrs[attr.name] = json_value(input, 3)?;
            }
        }
    }
    let mut request = json!({"args": args, "attrs": attrs});
    if input.arbitrary()? {
        request["dtypes"] = json!({"T": input.choose(&DTYPES)?, "U": input.choose(&DTYPES)?});
    }
    if input.arbitrary()? {
        request["num_results"] = json!(input.choose(&[0u64, 1, 2, 3, 100, 1 << 20, 1 << 40, u64::MAX])?);
    }
    if input.ratio(1, 10)? {
        let key = *input.choose(&["args", "attrs", "dtypes", "num_results"])?;
        request[key] = json_value(input, 2)?;
    }
    Ok(request.to_string().into_bytes())
}

fn json_value(input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    Ok(match input.int_in_range(0..=if depth > 0 { 8 } else { 6 })? {
        0 => Value::Null,
        1 => json!(input.arbitrary::<bool>()?),
        2 => json!(input.choose(&[0i64, 1, 2, 3, -1, i64::MAX, i64::MIN])?),
        3 => json!(u64::MAX),
        4 => json!(1.5),
        5 => json!(1e300),
        6 => json!(*input.choose(&["", "fast", "f32", "x\0y"])?),
        7 => json!([json_value(input, depth - 1)?, json_value(input, depth - 1)?]),
        _ => json!({"k": json_value(input, depth - 1)?}),
    })
}
