//! Handlers written with jaxlib's own C++ headers, called by this project's host: whether it is the host that they expect.
//!
//! `cargo xtask test` compiles them (`tests/cpp/peers.cc`) for several jaxlibs and says where they are.

use std::{
    ffi::c_void,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use libloading::Library;
use oxcall::{
    Code, DType, Result,
    descriptor::{RawHandler, Stage},
    host::{self, CallFrameBuilder, HostVersion, InvokeContext, StageState, ThreadPool},
};

/// The headers that the peers are compiled with, and the host that speaks their version.
const PEERS: [(&str, HostVersion); 4] = [
    ("0.4.38", HostVersion::V0_4_38),
    ("0.8.3", HostVersion::V0_8_1),
    ("0.10.2", HostVersion::V0_9_2),
    ("0.12.0.1", HostVersion::V0_12),
];

/// States are counted in statics of the libraries: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Peer {
    library: Library,
    version: HostVersion,
}

impl Peer {
    fn handler(&self, name: &str) -> RawHandler {
        // SAFETY: these symbols are handlers.
        unsafe { *self.library.get::<RawHandler>(name.as_bytes()).expect(name) }
    }

    fn context(&self) -> host::InvokeContextBuilder {
        InvokeContext::builder().version(self.version)
    }
}

fn peers() -> Vec<Peer> {
    let folder = std::env::var_os("OXCALL_TEST_PEERS").expect("run by `cargo xtask test`, which compiles the peers");
    let open = |(jaxlib, version): (&str, HostVersion)| {
        let path = PathBuf::from(&folder).join(format!("libpeers-{jaxlib}.so"));
        // SAFETY: made from tests/cpp/peers.cc; loading it runs constructors of the C++ library only.
        Peer { library: unsafe { Library::new(&path) }.expect("a library of peers"), version }
    };
    PEERS.map(open).into()
}

fn call(peer: &Peer, name: &str, frame: &mut CallFrameBuilder, context: &InvokeContext) -> Result<()> {
    let mut frame = frame.build();
    // SAFETY: the frame's buffers outlive the call, and the future, which is waited for.
    let future = unsafe { host::call(peer.handler(name), &mut frame, context, Stage::Execute)? };
    future.map_or(Ok(()), |future| future.wait())
}

#[test]
fn metadata_is_that_of_the_headers() {
    for peer in peers() {
        // SAFETY: a handler.
        let metadata = unsafe { host::metadata(peer.handler("peer_identity"), peer.version) }.unwrap();
        let minor = match peer.version {
            HostVersion::V0_4_38 => 1,
            HostVersion::V0_8_1 => 2,
            HostVersion::V0_9_2 => 3,
            _ => 5,
        };
        assert_eq!(metadata.version, (0, minor), "{:?}", peer.version);
    }
}

#[test]
fn buffers_and_attributes_arrive() {
    let (inputs, mut y) = ([[1f32, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], [0f32; 2]);
    for peer in peers() {
        let mut frame = CallFrameBuilder::new();
        for input in &inputs {
            frame.arg(DType::F32, input.as_ptr().cast(), &[2]);
        }
        frame.ret(DType::F32, y.as_mut_ptr().cast(), &[2]);
        frame.attr("axes", [1i64, 2, 30]).attr("count", 4i64).attr("mode", "sum").attr("scale", 2f32);
        call(&peer, "peer_four", &mut frame, &peer.context().build()).unwrap();
        assert_eq!(y[0], 2.0 * (1.0 + 3.0 + 5.0 + 7.0) + (4 + 30 + 3) as f32, "{:?}", peer.version);
        // The other way round, a wrong frame is what the C++ side says it is.
        let error = call(&peer, "peer_identity", &mut frame, &peer.context().build()).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error:?}");
        assert!(error.message().contains("Wrong number of"), "{error:?}");
    }
}

#[test]
fn errors_keep_code_and_message() {
    for peer in peers() {
        let mut frame = CallFrameBuilder::new();
        frame.attr("code", 8i64).attr("message", "out of paper");
        let error = call(&peer, "peer_fail", &mut frame, &peer.context().build()).unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::ResourceExhausted, "out of paper"), "{:?}", peer.version);
    }
}

#[test]
fn states_are_kept_and_dropped_once() {
    let _guard = ONE_AT_A_TIME.lock().unwrap();
    for peer in peers() {
        // SAFETY: these symbols have these types.
        let (type_id, alive, delete) = unsafe {
            let type_id = peer.library.get::<unsafe extern "C" fn() -> *mut i64>(b"peer_counter_type_id").unwrap();
            let alive = peer.library.get::<unsafe extern "C" fn() -> i64>(b"peer_counters_alive").unwrap();
            let delete = *peer.library.get::<unsafe extern "C" fn(*mut c_void)>(b"peer_counter_delete").unwrap();
            (type_id(), alive, delete)
        };
        let deleter = (peer.version != HostVersion::V0_4_38).then_some(delete);
        let name = format!("peer counter {:?}", peer.version);
        // SAFETY: a static of the library, which nobody else writes.
        unsafe { *type_id = host::register_type(peer.version, &name, 0, deleter).unwrap() };
        let state = Arc::new(StageState::new());
        let context = |state: &Arc<StageState>| peer.context().state(Stage::Instantiate, Arc::clone(state)).build();
        let mut y = 0i64;
        let mut attrs = CallFrameBuilder::new();
        attrs.attr("start", 40i64);
        let instantiate = peer.handler("peer_counter_instantiate");
        // SAFETY: the frame has no buffers.
        unsafe { host::call(instantiate, &mut attrs.build(), &context(&state), Stage::Instantiate) }.unwrap();
        // SAFETY: takes nothing.
        assert_eq!(unsafe { alive() }, 1, "{:?}", peer.version);
        for expected in [40, 41, 42] {
            let mut frame = CallFrameBuilder::new();
            frame.ret(DType::S64, (&raw mut y).cast(), &[]).attr("start", 40i64);
            call(&peer, "peer_counter", &mut frame, &context(&state)).unwrap();
            assert_eq!(y, expected, "{:?}", peer.version);
        }
        drop(state);
        // SAFETY: takes nothing.
        assert_eq!(unsafe { alive() }, 0, "{:?}", peer.version);
        let mut frame = CallFrameBuilder::new();
        frame.ret(DType::S64, (&raw mut y).cast(), &[]).attr("start", 40i64);
        let error = call(&peer, "peer_counter", &mut frame, &context(&Arc::new(StageState::new()))).unwrap_err();
        assert!(error.message().contains("State is not set"), "{error:?}");
    }
}

#[test]
fn futures_complete_with_a_value_or_an_error() {
    for peer in peers() {
        let (x, mut y) = ([1.5f32, -2.0], [0f32; 2]);
        for message in ["", "the printer is on fire"] {
            let mut frame = CallFrameBuilder::new();
            frame.arg(DType::F32, x.as_ptr().cast(), &[2]).ret(DType::F32, y.as_mut_ptr().cast(), &[2]);
            frame.attr("message", message);
            let result = call(&peer, "peer_async_square", &mut frame, &peer.context().build());
            match message {
                "" => result.unwrap(),
                _ => {
                    let error = result.unwrap_err();
                    assert_eq!((error.code(), error.message()), (Code::Aborted, message), "{:?}", peer.version);
                }
            }
        }
        assert_eq!(y, [2.25, 4.0], "{:?}", peer.version);
    }
}

#[test]
fn the_thread_pool_tells_its_size() {
    let pool = Arc::new(ThreadPool::new(3).unwrap());
    for peer in peers() {
        let mut y = 0i64;
        let mut frame = CallFrameBuilder::new();
        frame.ret(DType::S64, (&raw mut y).cast(), &[1]);
        call(&peer, "peer_num_threads", &mut frame, &peer.context().pool(pool.clone()).build()).unwrap();
        assert_eq!(y, 3, "{:?}", peer.version);
    }
}
