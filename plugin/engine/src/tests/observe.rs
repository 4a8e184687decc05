//! Dumps and traces.

use std::fs;
use std::path::PathBuf;

use oxcall_hlo::{UnaryOp, parse_text};
use serde_json::Value;

use super::custom_call::{call, emit};
use super::*;
use crate::{Dump, Trace};

/// A path that no other test uses.
fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("oxcall-engine-{}-{name}", std::process::id()))
}

/// `tanh(x) * 2`, through a custom call.
fn program() -> Module {
    custom_call::register_affine();
    let mut module = func(|f| {
        let x = f.param(f32s([8]));
        let y = f.op(OpKind::Unary(UnaryOp::Tanh), [x])?;
        let dead = f.op(OpKind::Unary(UnaryOp::Sine), [x])?;
        binary(f, BinaryOp::Add, dead, dead)?;
        let slope = ("slope", Attribute::Float(2.0, ElementType::F32));
        emit(f, call("engine_affine", &[slope]), &[y], &[f32s([8]).into()])
    });
    module.name = "jit f/g".to_owned();
    module
}

#[test]
fn dumps_have_the_program_after_each_pass_and_the_plan() {
    let directory = scratch("dump");
    let dump = Some(Arc::new(Dump::new(&directory).unwrap()));
    let engine = Engine::new(EngineOptions { dump, num_threads: 1, ..EngineOptions::default() });
    compile(&engine, program());
    compile(&engine, program());
    let mut names: Vec<String> =
        fs::read_dir(&directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let first: Vec<&String> = names.iter().filter(|name| name.starts_with("module_0000.jit_f_g.")).collect();
    assert_eq!(first.len() * 2, names.len(), "{names:?}");
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let (start, end) = (read(first[0]), read(first[first.len() - 1]));
    assert!(first[0].ends_with(".00.read.mlir") && start.contains("sine"), "{first:?} {start}");
    assert!(first[first.len() - 1].ends_with(".plan.txt") && end.contains("engine_affine"), "{first:?} {end}");
    let passes = &first[..first.len() - 1];
    assert!(passes.iter().all(|name| parse_text(&read(name)).is_ok()));
    assert!(passes.windows(2).all(|pair| read(pair[0]) != read(pair[1])), "{passes:?}");
    assert!(!read(passes[passes.len() - 1]).contains("sine"));
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn traces_have_a_span_for_each_step_and_custom_call() {
    let file = scratch("trace.json");
    let trace = Some(Arc::new(Trace::create(&file).unwrap()));
    let engine = Engine::new(EngineOptions { trace, num_threads: 1, ..EngineOptions::default() });
    let program = compile(&engine, program());
    for _ in 0..2 {
        program.run(vec![shared(&engine, &[1f32; 8])]).unwrap();
    }
    // The file is complete while the engine lives.
    let events: Vec<Value> = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let of = |category: &str| events.iter().filter(|event| event["cat"] == category).collect::<Vec<_>>();
    assert_eq!((of("compile").len(), of("execution").len()), (1, 2), "{events:?}");
    assert_eq!(of("execution")[0]["name"], "jit f/g");
    assert_eq!((of("kernel").len(), of("custom_call").len()), (2, 2), "{events:?}");
    let called = of("custom_call")[0];
    assert_eq!(called["name"], "engine_affine");
    assert_eq!(called["args"]["bytes"], 64);
    assert_eq!(called["args"]["operands"], serde_json::json!(["f32[8]"]));
    assert_eq!(called["args"]["results"], serde_json::json!(["f32[8]"]));
    for event in of("kernel").iter().chain(&of("execution")) {
        assert!(event["dur"].as_f64().unwrap() >= 0.0 && event["ts"].as_f64().unwrap() > 0.0, "{event}");
    }
    fs::remove_file(file).unwrap();
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let nowhere = scratch("file");
    fs::write(&nowhere, "").unwrap();
    let inside = nowhere.join("inside");
    assert!(Dump::new(&inside).unwrap_err().message().contains("OXCALL_DUMP"));
    assert!(Trace::create(&inside).unwrap_err().message().contains("OXCALL_TRACE"));
    fs::remove_file(nowhere).unwrap();
}
