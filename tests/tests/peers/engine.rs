//! Calls in programs: each handler is registered as `jax.ffi` does it, and gets the API table of the version that it
//! reports from the engine that compiles and executes the program.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use oxcall::__private::sys;
use oxcall::host::{self, HostVersion, Source};
use oxcall::{Code, Error};
use oxcall_engine::{Argument, Buffer, Engine, EngineOptions, ExecuteOptions, Program, UserData};

use super::{Label, Peer, one_at_a_time, peers};

const PLATFORM: &str = "oxcall";

fn engine() -> Arc<Engine> {
    Engine::new(EngineOptions { platform: PLATFORM.to_owned(), num_threads: 2, ..EngineOptions::default() })
}

/// Registers a handler with all its stages, and gives its target.
fn target(peer: &Peer, name: &str) -> String {
    let stage = |stage: &str| peer.handler_if_any(&format!("{name}_{stage}"));
    let bundle = sys::XLA_FFI_Handler_Bundle {
        instantiate: stage("instantiate"),
        prepare: stage("prepare"),
        initialize: stage("initialize"),
        execute: Some(peer.handler(name)),
        record: None,
    };
    let target = format!("{name}@{}", peer.jaxlib);
    // SAFETY: handlers of a library that is never closed.
    unsafe { host::register_handler(HostVersion::default(), Source::Client, &target, PLATFORM, &bundle, 0) }.unwrap();
    target
}

/// A program of one call.
fn program(
    engine: &Arc<Engine>,
    target: &str,
    attributes: &str,
    operands: &[&str],
    result: &str,
) -> Result<Program, Error> {
    let each = |text: &dyn Fn(usize) -> String| (0..operands.len()).map(text).collect::<Vec<_>>().join(", ");
    let text = format!(
        "func.func @main({}) -> {result} {{
           %y = stablehlo.custom_call @\"{target}\"({}) {{mhlo.backend_config = {{{attributes}}}}} : ({}) -> {result}
           return %y : {result}
         }}",
        each(&|i| format!("%x{i}: {}", operands[i])),
        each(&|i| format!("%x{i}")),
        operands.join(", ")
    );
    let module = oxcall_hlo::parse_text(&text).unwrap();
    oxcall_hlo::verify(&module).unwrap();
    engine.compile(module)
}

fn f32s(engine: &Engine, values: &[f32]) -> Argument {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Argument::Shared(Arc::new(Buffer::copy_of(engine.allocator(), &bytes).unwrap()))
}

fn first_f32(results: &[Buffer]) -> f32 {
    f32::from_le_bytes(results[0].as_bytes()[..4].try_into().unwrap())
}

fn s64s(results: &[Buffer]) -> Vec<i64> {
    results[0].as_bytes().chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn handlers_report_the_version_of_their_headers() {
    for peer in peers() {
        let found = host::find_handler(&target(peer, "peer_identity"), PLATFORM).unwrap();
        assert_eq!(found.minor, peer.version.minor(), "{}", peer.jaxlib);
    }
}

#[test]
fn buffers_and_attributes_arrive() {
    let engine = engine();
    for peer in peers() {
        let target = target(peer, "peer_four");
        let attributes = "axes = array<i64: 1, 2, 30>, count = 4 : i64, mode = \"sum\", scale = 2.0 : f32";
        let operands = ["tensor<2xf32>"; 4];
        let compiled = program(&engine, &target, attributes, &operands, "tensor<2xf32>").unwrap();
        let arguments = || [1f32, 3.0, 5.0, 7.0].map(|x| f32s(&engine, &[x, 0.0])).into();
        for _ in 0..2 {
            let results = compiled.run(arguments()).unwrap();
            assert_eq!(first_f32(&results), 2.0 * 16.0 + 37.0, "{}", peer.jaxlib);
        }
        // What C++ says of a wrong call comes with the target's name.
        let wrong = program(&engine, &target, attributes, &operands[..3], "tensor<2xf32>").unwrap();
        let error = wrong.run(arguments().into_iter().take(3).collect()).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().contains("Wrong number of arguments") && error.message().contains(&target), "{error}");
        let renamed = attributes.replace("scale", "skale");
        let wrong = program(&engine, &target, &renamed, &operands, "tensor<2xf32>").unwrap();
        let error = wrong.run(arguments()).unwrap_err();
        assert!(error.message().contains("skale") && error.message().contains(&target), "{error}");
    }
}

#[test]
fn dictionaries_and_remaining_arguments_arrive() {
    let engine = engine();
    for peer in peers() {
        let target = target(peer, "peer_describe");
        let operands = ["tensor<2x3xf32>", "tensor<4xi8>", "tensor<f64>"];
        let attributes = "range = {hi = 42 : i64, lo = 2 : i64}";
        let compiled = program(&engine, &target, attributes, &operands, "tensor<2xi64>").unwrap();
        let arguments = [24, 4, 8]
            .map(|len| Argument::Shared(Arc::new(Buffer::copy_of(engine.allocator(), &vec![0; len]).unwrap())));
        assert_eq!(s64s(&compiled.run(arguments.into()).unwrap()), [11, 40], "{}", peer.jaxlib);
    }
}

#[test]
fn errors_keep_code_and_message() {
    let engine = engine();
    for peer in peers() {
        let target = target(peer, "peer_fail");
        let attributes = "code = 8 : i64, message = \"out of paper\"";
        // It has no result, so nobody would need the call.
        let text = format!(
            "func.func @main() {{
               stablehlo.custom_call @\"{target}\"() {{mhlo.backend_config = {{{attributes}}}, has_side_effect = true}}
                 : () -> ()
               return
             }}"
        );
        let compiled = engine.compile(oxcall_hlo::parse_text(&text).unwrap()).unwrap();
        let error = compiled.run(Vec::new()).unwrap_err();
        let message = format!("custom call to {target}: out of paper");
        assert_eq!((error.code(), error.message()), (Code::ResourceExhausted, message.as_str()));
    }
}

/// As XLA's `CatchException`. With another C++ library than GNU's the text is not known.
#[test]
fn exceptions_are_errors() {
    let engine = engine();
    for peer in peers() {
        let target = target(peer, "peer_throw");
        for (what, text) in [("Ooops!", "Ooops!"), ("", "an exception of type i")] {
            let text_of_program = format!(
                "func.func @main() {{
                   stablehlo.custom_call @\"{target}\"() {{mhlo.backend_config = {{what = \"{what}\"}},
                     has_side_effect = true}} : () -> ()
                   return
                 }}"
            );
            let compiled = engine.compile(oxcall_hlo::parse_text(&text_of_program).unwrap()).unwrap();
            for _ in 0..2 {
                let error = compiled.run(Vec::new()).unwrap_err();
                assert_eq!(error.code(), Code::Unknown, "{error}");
                let known = error.message().ends_with(text) || error.message().ends_with("an exception");
                let named = error.message().starts_with(&format!("custom call to {target}: XLA FFI call failed: "));
                assert!(known && named, "{error}");
            }
        }
    }
}

#[test]
fn states_are_instantiated_shared_and_deleted() {
    let _turn = one_at_a_time();
    let engine = engine();
    for peer in peers() {
        let target = target(peer, "peer_counter");
        let compiled =
            |start: i64| program(&engine, &target, &format!("start = {start} : i64"), &[], "tensor<i64>").unwrap();
        let (first, second) = (compiled(40), compiled(1000));
        assert_eq!(peer.counters_alive(), 2, "{}", peer.jaxlib);
        for round in 0..3 {
            assert_eq!(s64s(&first.run(Vec::new()).unwrap()), [40 + round], "{}", peer.jaxlib);
            assert_eq!(s64s(&second.run(Vec::new()).unwrap()), [1000 + round], "{}", peer.jaxlib);
        }
        drop(second);
        assert_eq!(peer.counters_alive(), 1, "{}", peer.jaxlib);
        // Ten threads at once: every number is given once.
        let numbers = Mutex::new(HashSet::new());
        thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let number = s64s(&first.run(Vec::new()).unwrap())[0];
                        assert!(numbers.lock().unwrap().insert(number), "{number} twice, {}", peer.jaxlib);
                    }
                });
            }
        });
        assert_eq!(numbers.into_inner().unwrap(), (43..243).collect());
        drop(first);
        assert_eq!(peer.counters_alive(), 0, "{}", peer.jaxlib);
    }
}

#[test]
fn states_of_all_stages() {
    let _turn = one_at_a_time();
    let engine = engine();
    for peer in peers().iter().filter(|peer| peer.version >= HostVersion::V0_9_2) {
        // Instantiate's is that of the other counter, which binds an attribute.
        let instantiate = Some(peer.handler("peer_counter_instantiate"));
        let bundle = sys::XLA_FFI_Handler_Bundle {
            instantiate,
            prepare: Some(peer.handler("peer_stages_prepare")),
            initialize: Some(peer.handler("peer_stages_initialize")),
            execute: Some(peer.handler("peer_stages")),
            record: None,
        };
        let target = format!("peer_stages@{}", peer.jaxlib);
        // SAFETY: handlers of a library that is never closed.
        unsafe { host::register_handler(HostVersion::default(), Source::Client, &target, PLATFORM, &bundle, 0) }
            .unwrap();
        let compiled = program(&engine, &target, "start = 1000 : i64", &[], "tensor<i64>").unwrap();
        for round in 0..3 {
            assert_eq!(s64s(&compiled.run(Vec::new()).unwrap()), [1110 + round], "{}", peer.jaxlib);
            assert_eq!(peer.counters_alive(), 1, "states of an execution outlive it, {}", peer.jaxlib);
        }
        drop(compiled);
        assert_eq!(peer.counters_alive(), 0, "{}", peer.jaxlib);
    }
}

#[test]
fn futures_complete_with_a_value_or_an_error() {
    let engine = engine();
    for peer in peers() {
        let target = target(peer, "peer_async_square");
        let ty = "tensor<2xf32>";
        let square = |message: &str| {
            let attributes = format!("message = \"{message}\"");
            program(&engine, &target, &attributes, &[ty], ty).unwrap().run(vec![f32s(&engine, &[1.5, -2.0])])
        };
        assert_eq!(first_f32(&square("").unwrap()), 2.25, "{}", peer.jaxlib);
        let error = square("the printer is on fire").unwrap_err();
        assert_eq!(error.code(), Code::Aborted, "{}", peer.jaxlib);
        assert!(error.message().ends_with(&format!("{target}: the printer is on fire")), "{error}");
    }
}

#[test]
fn tasks_run_on_the_engines_threads() {
    let engine = engine();
    for peer in peers() {
        let size = program(&engine, &target(peer, "peer_num_threads"), "", &[], "tensor<1xi64>").unwrap();
        assert_eq!(s64s(&size.run(Vec::new()).unwrap()), [2], "{}", peer.jaxlib);
        let tasks = program(&engine, &target(peer, "peer_run_tasks"), "", &[], "tensor<i64>").unwrap();
        assert_eq!(s64s(&tasks.run(Vec::new()).unwrap()), [8], "{}", peer.jaxlib);
    }
}

fn execute(program: &Program, options: &ExecuteOptions) -> Result<Vec<Buffer>, Error> {
    let (sender, receiver) = mpsc::channel();
    program.execute(Vec::new(), options, move |results| sender.send(results).unwrap());
    receiver.recv().unwrap()
}

#[test]
fn contexts_know_the_execution() {
    static LABELS: [Label; 2] = [Label { value: 42 }, Label { value: 43 }];
    let engine = engine();
    for peer in peers() {
        let labelled = program(&engine, &target(peer, "peer_read_label"), "", &[], "tensor<i64>").unwrap();
        for label in &LABELS {
            // SAFETY: the type is that of the peer's labels.
            let user_data = vec![unsafe { UserData::new(peer.type_id("label"), label.as_ptr()) }];
            let options = ExecuteOptions { user_data, ..ExecuteOptions::default() };
            assert_eq!(s64s(&execute(&labelled, &options).unwrap()), [label.value], "{}", peer.jaxlib);
        }
        assert!(labelled.run(Vec::new()).is_err(), "{}", peer.jaxlib);
        // Earlier headers of API 0.1 have neither.
        if peer.version.minor() >= 2 {
            let asked = program(&engine, &target(peer, "peer_whereabouts"), "", &[], "tensor<2xi64>").unwrap();
            let options = ExecuteOptions { run_id: Some(7), device_ordinal: 3, ..ExecuteOptions::default() };
            assert_eq!(s64s(&execute(&asked, &options).unwrap()), [7, 3], "{}", peer.jaxlib);
        }
    }
}
