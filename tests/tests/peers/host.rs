//! Calls through call frames, with the host of each peer's own version.

use std::sync::Arc;

use oxcall::descriptor::Stage;
use oxcall::host::{self, CallFrameBuilder, InvokeContext, InvokeContextBuilder, StageState, ThreadPool};
use oxcall::{Code, DType, Result};

use super::{Label, Peer, one_at_a_time, peers};

fn context(peer: &Peer) -> InvokeContextBuilder {
    InvokeContext::builder().version(peer.version)
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
        let metadata = unsafe { host::metadata(peer.handler("peer_identity"), peer.version) };
        if peer.jaxlib == "0.8.0" {
            // Its headers write a field that the hosts of their API do not have; later hosts ask with room for it.
            assert!(metadata.unwrap_err().message().contains("wrote past the 40 bytes"));
            continue;
        }
        let metadata = metadata.unwrap();
        assert_eq!(metadata.version, (0, peer.version.minor()), "{}", peer.jaxlib);
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
        call(peer, "peer_four", &mut frame, &context(peer).build()).unwrap();
        assert_eq!(y[0], 2.0 * (1.0 + 3.0 + 5.0 + 7.0) + (4 + 30 + 3) as f32, "{}", peer.jaxlib);
        // The other way round, a wrong frame is what the C++ side says it is.
        let error = call(peer, "peer_identity", &mut frame, &context(peer).build()).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error:?}");
        assert!(error.message().contains("Wrong number of"), "{error:?}");
    }
}

#[test]
fn errors_keep_code_and_message() {
    for peer in peers() {
        let mut frame = CallFrameBuilder::new();
        frame.attr("code", 8i64).attr("message", "out of paper");
        let error = call(peer, "peer_fail", &mut frame, &context(peer).build()).unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::ResourceExhausted, "out of paper"), "{}", peer.jaxlib);
    }
}

#[test]
fn states_are_kept_and_dropped_once() {
    let _turn = one_at_a_time();
    for peer in peers() {
        let state = Arc::new(StageState::new());
        let with = |state: &Arc<StageState>| context(peer).state(Stage::Instantiate, Arc::clone(state)).build();
        let mut y = 0i64;
        let mut attrs = CallFrameBuilder::new();
        attrs.attr("start", 40i64);
        let instantiate = peer.handler("peer_counter_instantiate");
        // SAFETY: the frame has no buffers.
        unsafe { host::call(instantiate, &mut attrs.build(), &with(&state), Stage::Instantiate) }.unwrap();
        assert_eq!(peer.counters_alive(), 1, "{}", peer.jaxlib);
        for expected in [40, 41, 42] {
            let mut frame = CallFrameBuilder::new();
            frame.ret(DType::S64, (&raw mut y).cast(), &[]).attr("start", 40i64);
            call(peer, "peer_counter", &mut frame, &with(&state)).unwrap();
            assert_eq!(y, expected, "{}", peer.jaxlib);
        }
        drop(state);
        assert_eq!(peer.counters_alive(), 0, "{}", peer.jaxlib);
        let mut frame = CallFrameBuilder::new();
        frame.ret(DType::S64, (&raw mut y).cast(), &[]).attr("start", 40i64);
        let error = call(peer, "peer_counter", &mut frame, &with(&Arc::new(StageState::new()))).unwrap_err();
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
            let result = call(peer, "peer_async_square", &mut frame, &context(peer).build());
            match message {
                "" => result.unwrap(),
                _ => {
                    let error = result.unwrap_err();
                    assert_eq!((error.code(), error.message()), (Code::Aborted, message), "{}", peer.jaxlib);
                }
            }
        }
        assert_eq!(y, [2.25, 4.0], "{}", peer.jaxlib);
    }
}

#[test]
fn the_thread_pool_tells_its_size() {
    let pool = Arc::new(ThreadPool::new(3).unwrap());
    for peer in peers() {
        let mut y = 0i64;
        let mut frame = CallFrameBuilder::new();
        frame.ret(DType::S64, (&raw mut y).cast(), &[1]);
        call(peer, "peer_num_threads", &mut frame, &context(peer).pool(pool.clone()).build()).unwrap();
        assert_eq!(y, 3, "{}", peer.jaxlib);
    }
}

#[test]
fn user_data_is_found_by_its_type() {
    static LABEL: Label = Label { value: 42 };
    for peer in peers() {
        let mut y = 0i64;
        let mut frame = CallFrameBuilder::new();
        frame.ret(DType::S64, (&raw mut y).cast(), &[]);
        let labelled = context(peer).user_data(peer.type_id("label"), LABEL.as_ptr()).build();
        call(peer, "peer_read_label", &mut frame, &labelled).unwrap();
        assert_eq!(y, 42, "{}", peer.jaxlib);
    }
}
