//! The handlers' descriptions of themselves.

use oxcall::__private::sys;
use oxcall::descriptor::{Arity, DTypeRule, Op, Role, Stage};
use oxcall::host::{self, HostVersion};
use oxcall::prelude::*;
use oxcall::registry::registry;
use oxcall::testing::call;

use super::host::Frame;

/// First line.
///
/// Second paragraph.
#[custom_call(
    name = "tests.metadata/described@1",
    T = [f32, f64],
    vmap = "broadcast_all",
    vjp = described_vjp,
    command_buffer,
    side_effect
)]
fn described<T: Float>(
    #[attr] k: i64,
    #[attr(default = T::from_f64(1.5))] scale: T,
    #[attr] name: Option<&str>,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n * k)] y: Out<T>,
    rest: Variadic<AnyOut>,
) {
    let _ = (k, scale, name, x, y, rest);
}

#[custom_call(T = [f32, f64])]
fn described_vjp<T: Float>(
    #[attr] k: i64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n * k)] dy: Array<T>,
    drest: Variadic<AnyArray>,
    #[dims(..b, n)] mut dx: Out<T>,
) {
    let _ = (k, x, dy, drest);
    dx.fill(T::from_f64(0.0));
}

#[custom_call(batch = b, vmap = row_sums_of_batch, nondiff = [count], autocast = f32, vjp = row_sums_vjp)]
fn row_sums(
    #[dims(..b, n)] x: Array<f32>,
    #[dims(..b)] mut y: Out<f32>,
    #[dims()]
    #[sum(b)]
    mut count: Out<f32>,
) {
    for (y, x) in y.iter_mut().zip(x.rows()) {
        *y = x.iter().sum();
    }
    count[0] = x.len() as f32;
}

#[custom_call]
fn row_sums_of_batch(#[dims(m, ..b, n)] x: Array<f32>, #[dims(m, ..b)] y: Out<f32>, #[dims(m)] count: Out<f32>) {
    let _ = (x, y, count);
}

#[custom_call]
fn row_sums_vjp(#[dims(..b, n)] x: Array<f32>, #[dims(..b)] dy: Array<f32>, #[dims(..b, n)] mut dx: Out<f32>) {
    let _ = x;
    for (dx, dy) in dx.rows_mut().zip(dy.iter()) {
        dx.fill(*dy);
    }
}

#[custom_call]
fn plain(x: Scalar<f32>, mut y: ScalarOut<f32>) {
    y.set(*x);
}

struct Kept;

#[stage(instantiate)]
fn keep() -> Kept {
    Kept
}

#[custom_call(instantiate = keep)]
fn with_state(#[state] _kept: &Kept, x: Scalar<f32>, mut y: ScalarOut<f32>) {
    y.set(*x);
}

mod platforms {
    use oxcall::prelude::*;

    #[custom_call(name = "on_several")]
    pub(super) fn on_host(#[dims(n)] x: Array<f32>, #[dims(n)] mut y: Out<f32>) {
        y.copy_from_slice(&x);
    }

    #[custom_call(name = "on_several", platform = "CUDA")]
    pub(super) fn on_cuda(stream: Stream, #[dims(n)] x: DeviceArray<f32>, #[dims(n)] mut y: DeviceOut<f32>) {
        assert!(!stream.as_ptr().is_null() && !x.as_ptr().is_null() && !y.as_mut_ptr().is_null());
    }

    #[custom_call(name = "on_several", platform = "Cerebrum9000")]
    pub(super) fn on_another(#[dims(n)] x: DeviceArray<f32>, #[dims(n)] y: DeviceOut<f32>) -> Result<()> {
        let _ = (x, y);
        Err(Error::unavailable("no such chip"))
    }
}

#[test]
fn nothing_is_wrong_with_the_registry() {
    assert!(registry().problems().is_empty(), "{:?}", registry().problems());
    let names: Vec<_> = registry().handlers().iter().map(|handler| (handler.name, handler.platform)).collect();
    assert!(names.is_sorted() && names.len() > 60, "{names:?}");
}

#[test]
fn metadata_on_every_host() {
    for &version in super::HOSTS {
        // SAFETY: the functions of a descriptor are handlers.
        let ask = |handler| unsafe { host::metadata(handler, version) }.unwrap();
        let metadata = ask(described::HANDLER.execute);
        let with_api = version >= HostVersion::V0_8_1;
        let minor = if with_api { version.minor() } else { 1 };
        assert_eq!((metadata.version, metadata.traits, metadata.state_type_id), ((0, minor), 1, None), "{version:?}");
        assert_eq!(ask(plain::HANDLER.execute).traits, 0);
        let instantiate = with_state::HANDLER.stages[0];
        assert_eq!(instantiate.stage, Stage::Instantiate);
        let id = ask(instantiate.handler).state_type_id;
        assert_eq!(id.is_some(), with_api, "{version:?}");
        assert_eq!(id, ask(instantiate.handler).state_type_id, "ids do not change");
    }
}

#[test]
fn the_descriptor_says_what_the_signature_says() {
    let handler = described::HANDLER;
    assert_eq!((handler.name, described::NAME, handler.platform), ("tests.metadata/described@1", handler.name, "Host"));
    assert_eq!(handler.doc, "First line.\n\nSecond paragraph.");
    assert_eq!((handler.module, handler.crate_name()), ("expressible::metadata", "expressible"));
    assert!(handler.file.ends_with("metadata.rs") && handler.line > 1);
    let traits = handler.traits;
    assert!(traits.command_buffer && traits.side_effect);
    assert_eq!((traits.vmap, traits.vjp), (Some("broadcast_all"), Some("described_vjp")));
    assert_eq!((handler.type_params[0].name, handler.type_params[0].dtypes), ("T", &[DType::F32, DType::F64][..]));
    let params: Vec<_> = handler.params.iter().map(|p| (p.name, p.role, p.dtype, p.arity, p.rank)).collect();
    assert_eq!(params[0], ("x", Role::Arg, DTypeRule::Var(0), Arity::One, None));
    assert_eq!(params[1], ("y", Role::Ret, DTypeRule::Var(0), Arity::One, None));
    assert_eq!(params[2], ("rest", Role::Ret, DTypeRule::Any, Arity::Variadic, None));
    assert_eq!(handler.attrs.iter().map(|attr| attr.name).collect::<Vec<_>>(), ["k", "name", "scale"]);
    assert!(!handler.extra_attrs && handler.legacy.is_none() && handler.stages.is_empty());
}

#[test]
fn the_descriptor_says_what_the_options_say() {
    let handler = row_sums::HANDLER;
    let traits = handler.traits;
    assert_eq!((traits.batch, traits.vmap, traits.vmap_op), (Some("b"), None, Some("row_sums_of_batch")));
    assert_eq!((traits.vjp, traits.jvp, traits.fwd, traits.transpose), (Some("row_sums_vjp"), None, None, None));
    assert_eq!((traits.nondiff, traits.autocast), (&["count"][..], Some("f32")));
    assert_eq!(handler.params.iter().map(|param| param.sum).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn several_platforms_of_one_operation() {
    let platforms: Vec<_> =
        registry().handlers().iter().filter(|h| h.name == "on_several").map(|h| h.platform).collect();
    assert_eq!(platforms, ["CUDA", "Cerebrum9000", "Host"]);
    let x = [1f32, 2.0];
    let outputs = call::<platforms::on_host>().arg(x).run().unwrap();
    assert_eq!(outputs.get::<f32>(0).as_slice().unwrap(), x);
    let mut stream = 0u8;
    call::<platforms::on_cuda>().arg(x).stream((&raw mut stream).cast()).run().unwrap();
    let error = call::<platforms::on_cuda>().arg(x).run().unwrap_err();
    assert!(error.message().contains("on_several: parameter `stream`"), "{error}");
    let error = call::<platforms::on_another>().arg(x).run().unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Unavailable, "on_several: no such chip"));
}

/// Calls `plain` with 2 in a frame with this extension: its result, and whether it reports an error.
fn with_extension(extension: *mut sys::XLA_FFI_InternalExtension) -> (f32, bool) {
    let (x, mut y) = (2f32, 0f32);
    let y_data = &raw mut y;
    let mut frame = Frame::default().arg(&raw const x, &[]).ret(y_data, &[]).build();
    let frame = frame.as_ptr();
    // SAFETY: the frame is whole, and so are its extensions; the operation asks its context for nothing.
    let error = unsafe {
        (*frame).api = HostVersion::V0_12.api();
        (*frame).extension_start = extension;
        (plain::HANDLER.execute)(frame)
    };
    if !error.is_null() {
        let mut destroy = sys::XLA_FFI_Error_Destroy_Args { struct_size: 24, error, ..Default::default() };
        // SAFETY: an error of this host, destroyed once.
        unsafe { HostVersion::V0_12.api().XLA_FFI_Error_Destroy.unwrap()(&raw mut destroy) };
    }
    // SAFETY: the call is over.
    (unsafe { y_data.read() }, !error.is_null())
}

#[test]
fn extensions_that_ask_for_nothing_known_are_ignored() {
    let other = |next| sys::XLA_FFI_InternalExtension { struct_size: 24, type_: 77, next };
    let mut metadata = sys::XLA_FFI_Metadata { struct_size: 36, ..Default::default() };
    let metadata_data = &raw mut metadata;
    let base = sys::XLA_FFI_InternalExtension { type_: 1, ..other(std::ptr::null_mut()) };
    let query = |struct_size, metadata| sys::XLA_FFI_Metadata_Extension {
        extension_base: sys::XLA_FFI_InternalExtension { struct_size, ..base },
        metadata,
    };
    let mut last = other(std::ptr::null_mut());
    let mut first = other(&raw mut last);
    assert_eq!(with_extension(&raw mut first), (2.0, false));
    // A query may come behind others.
    let mut whole = query(32, metadata_data);
    let mut before = other((&raw mut whole).cast());
    assert_eq!(with_extension(&raw mut before), (0.0, false));
    // SAFETY: the handler has written its answer.
    assert_eq!(unsafe { (*metadata_data).api_version.minor_version }, 5);
    // One without room for the answer is an error.
    for (size, metadata) in [(24, metadata_data), (32, std::ptr::null_mut())] {
        let mut damaged = query(size, metadata);
        assert_eq!(with_extension((&raw mut damaged).cast()), (0.0, true));
    }
    // SAFETY: nobody else uses it.
    unsafe { (*metadata_data).struct_size = 35 };
    assert_eq!(with_extension((&raw mut whole).cast()), (0.0, true));
}
