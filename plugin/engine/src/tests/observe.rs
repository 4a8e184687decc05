//! Dumps, names of machine code, and traces.

use std::fs;
use std::path::PathBuf;

use oxcall_hlo::{UnaryOp, parse_text};
use oxcall_kernels::tile::generated::is_supported;
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
    names.retain(|name| !name.ends_with(".o"));
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

/// `tanh(x) * x`, and `x` after a loop of five turns, each of which adds it to itself.
const GENERATED: &str = "
    module @jit_g {
        func.func @main(%x: tensor<1000xf32>, %y: tensor<4xf32>) -> (tensor<1000xf32>, tensor<4xf32>) {
            %a = stablehlo.tanh %x : tensor<1000xf32>
            %b = stablehlo.multiply %a, %x : tensor<1000xf32>
            %zero = stablehlo.constant dense<0> : tensor<i32>
            %loop:2 = stablehlo.while(%i = %zero, %z = %y) : tensor<i32>, tensor<4xf32>
            cond {
                %limit = stablehlo.constant dense<5> : tensor<i32>
                %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                stablehlo.return %less : tensor<i1>
            } do {
                %one = stablehlo.constant dense<1> : tensor<i32>
                %inext = stablehlo.add %i, %one : tensor<i32>
                %next = stablehlo.add %z, %z : tensor<4xf32>
                stablehlo.return %inext, %next : tensor<i32>, tensor<4xf32>
            }
            return %b, %loop#1 : tensor<1000xf32>, tensor<4xf32>
        }
    }";

/// A number of `N` bytes in a file.
fn number<const N: usize>(file: &[u8], at: usize) -> usize {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&file[at..][..N]);
    u64::from_le_bytes(bytes) as usize
}

/// The code in an object file, and its labels.
fn read_object(file: &[u8]) -> (&[u8], Vec<(usize, String)>) {
    assert_eq!((&file[..4], number::<2>(file, 16), number::<2>(file, 18)), (&b"\x7fELF"[..], 1, 62));
    assert_eq!((number::<2>(file, 52), number::<2>(file, 58)), (64, 64));
    let (headers, count, names) = (number::<8>(file, 40), number::<2>(file, 60), number::<2>(file, 62));
    assert_eq!(headers + 64 * count, file.len());
    let header = |index: usize| headers + 64 * index;
    let contents = |index: usize| {
        let (offset, size) = (number::<8>(file, header(index) + 24), number::<8>(file, header(index) + 32));
        assert!(offset.is_multiple_of(number::<8>(file, header(index) + 48)));
        &file[offset..][..size]
    };
    let text_at = |strings: &[u8], at: usize| {
        let name = strings[at..].split(|&byte| byte == 0).next().unwrap();
        String::from_utf8(name.to_vec()).unwrap()
    };
    let name = |index: usize| text_at(contents(names), number::<4>(file, header(index)));
    let section = |wanted: &str| (1..count).find(|&index| name(index) == wanted).unwrap();
    let (text, table) = (section(".text"), section(".symtab"));
    assert_eq!(number::<8>(file, header(text) + 8), 6, "the code is executable");
    let strings = number::<4>(file, header(table) + 40);
    assert_eq!(name(strings), ".strtab");
    let symbols: Vec<&[u8]> = contents(table).chunks_exact(24).collect();
    assert_eq!(number::<4>(file, header(table) + 44), symbols.len(), "all symbols are local");
    assert!(symbols[0].iter().all(|&byte| byte == 0));
    let label = |symbol: &&[u8]| {
        assert_eq!((symbol[4], number::<2>(symbol, 6)), (0, text), "a local symbol of the code");
        (number::<8>(symbol, 8), text_at(contents(strings), number::<4>(symbol, 0)))
    };
    (contents(text), symbols[1..].iter().map(label).collect())
}

#[test]
fn machine_code_is_dumped_as_an_object_file_with_labels() {
    if !is_supported() {
        return;
    }
    let directory = scratch("objects");
    let dump = Some(Arc::new(Dump::new(&directory).unwrap()));
    let engine = Engine::new(EngineOptions { dump, num_threads: 1, ..EngineOptions::default() });
    let program = compile(&engine, parse_text(GENERATED).unwrap());
    let files = fs::read_dir(&directory).unwrap().map(|file| file.unwrap().path());
    let objects: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "o")).collect();
    assert_eq!(objects.len(), 1, "{objects:?}");
    let file = fs::read(&objects[0]).unwrap();
    let (text, labels) = read_object(&file);
    assert!(labels.is_sorted_by_key(|&(offset, _)| offset), "{labels:?}");
    let codes = program.plan().code();
    assert_eq!(codes.len(), 2, "a fusion, and the loop");
    let mut expected = 0;
    for code in &codes {
        // The bytes are those in memory, and each operation has its label there.
        let name = &code.parts[0].name;
        let start = labels.iter().find(|(_, label)| label == name).unwrap().0;
        assert!(start.is_multiple_of(64));
        assert_eq!(&text[start..][..code.listing.bytes.len()], code.listing.bytes);
        for mark in code.parts.iter().chain(code.listing.marks) {
            assert!(labels.contains(&(start + mark.offset, mark.name.clone())), "{mark:?}");
            expected += 1;
        }
    }
    assert_eq!(labels.len(), expected);
    let has = |wanted: &str| labels.iter().any(|(_, label)| label.contains(wanted));
    assert!(has(" compiled[tanh,multiply]") && has("tanh: %") && has("multiply: %"), "{labels:?}");
    assert!(
        has("start of loops") && has("decide by") && labels.iter().any(|(_, label)| label.starts_with("step")),
        "{labels:?}"
    );
    // Operations belong to the steps in whose lines the plan has them.
    let plan = program.steps();
    let decision = labels.iter().find(|(_, label)| label.contains("decide by")).unwrap();
    let step = decision.1.trim_start_matches("step ").split(':').next().unwrap();
    assert!(plan.lines().any(|line| line.starts_with(&format!("{step}*: jump "))), "{decision:?} {plan}");
    drop(codes);
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn machine_code_is_named_to_perf() {
    if !is_supported() {
        return;
    }
    let engine = Engine::new(EngineOptions { perf_map: true, num_threads: 1, ..EngineOptions::default() });
    let program = compile(&engine, parse_text(GENERATED).unwrap());
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let text = fs::read_to_string(&path).unwrap();
    let mut count = 0;
    for code in program.plan().code() {
        assert_eq!(code.listing.marks, [], "only dumps have labels");
        let mut end = 0;
        for (offset, size, name) in code.ranges() {
            assert_eq!(offset, end, "parts follow each other");
            end = offset + size;
            let line = format!("{:x} {size:x} oxcall jit_g: {name}", code.listing.address + offset);
            assert!(text.lines().any(|each| each == line), "{line} is missing in {text}");
            count += 1;
        }
        assert_eq!(end, code.listing.bytes.len());
    }
    assert!(count >= 3 && text.contains(" compiled[tanh,multiply]\n") && text.contains(" add"), "{text}");
    fs::remove_file(path).unwrap();
}

#[test]
fn steps_have_bytes_and_arithmetic_operations() {
    let plan = |text: &str| {
        let module = parse_text(text).unwrap();
        verify(&module).unwrap();
        compile(&engine(), module).steps()
    };
    let text = "func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x32xf32>) -> (tensor<8x32xf32>, tensor<8xf32>) {
        %dot = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
            : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
        %tanh = stablehlo.tanh %x : tensor<8x16xf32>
        %product = stablehlo.multiply %tanh, %x : tensor<8x16xf32>
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %sum = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [1]
            : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
        return %dot, %sum : tensor<8x32xf32>, tensor<8xf32>
    }";
    let plan = plan(text);
    let line = |name: &str| plan.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {plan}"));
    let (dot, sum) = (4 * (8 * 16 + 16 * 32 + 8 * 32), 3 * 8 * 16);
    assert!(line("dot[f32](").ends_with(&format!("; {dot} bytes, {} flops", 2 * 8 * 16 * 32)), "{plan}");
    assert!(line("tanh,multiply").ends_with(&format!(" bytes, {sum} flops")), "{plan}");
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
