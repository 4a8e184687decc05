//! HLO protos from jaxlib and torch_xla, run with arguments whose results XLA's CPU computed.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use oxcall_engine::{Argument, Buffer, Engine, EngineOptions};
use oxcall_hlo::{ElementType, TensorType, Type, read_hlo_proto, verify};

fn corpus() -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hlo/tests/hlo_proto/corpus");
    let mut programs = Vec::new();
    for file in fs::read_dir(directory).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "pb") {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            programs.push((name, fs::read(&file).unwrap(), fs::read(file.with_extension("values")).unwrap()));
        }
    }
    programs.sort();
    assert!(programs.len() > 15, "the corpus is missing");
    programs
}

/// The bytes of each value, of these types.
fn split<'v>(values: &mut &'v [u8], types: &[Type]) -> Vec<&'v [u8]> {
    let mut take = |ty: &Type| {
        let (taken, rest) = values.split_at(ty.tensor().map_or(0, TensorType::byte_size));
        *values = rest;
        taken
    };
    types.iter().map(&mut take).collect()
}

/// The numbers of a float type, and how far results of it may differ; `None` for types of exact numbers.
fn numbers(element: ElementType, bytes: &[u8]) -> Option<(Vec<f64>, f64)> {
    let f32s = || bytes.chunks_exact(4).map(|each| f32::from_le_bytes(each.try_into().unwrap()).into()).collect();
    let f64s = || bytes.chunks_exact(8).map(|each| f64::from_le_bytes(each.try_into().unwrap())).collect();
    let narrow = |decode: fn(u16) -> f32| {
        let bits = bytes.chunks_exact(2).map(|each| u16::from_le_bytes(each.try_into().unwrap()));
        bits.map(|bits| decode(bits).into()).collect()
    };
    match element {
        ElementType::F32 | ElementType::C64 => Some((f32s(), 1e-4)),
        ElementType::F64 | ElementType::C128 => Some((f64s(), 1e-10)),
        ElementType::F16 => Some((narrow(|bits| half::f16::from_bits(bits).to_f32()), 1e-3)),
        ElementType::BF16 => Some((narrow(|bits| half::bf16::from_bits(bits).to_f32()), 1e-2)),
        _ => None,
    }
}

/// Compares a result; `None` if it is right.
fn mistake(element: ElementType, got: &[u8], expected: &[u8]) -> Option<String> {
    let Some((expected_numbers, tolerance)) = numbers(element, expected) else {
        return (got != expected).then(|| format!("{got:?}, expected {expected:?}"));
    };
    let (got, _) = numbers(element, got)?;
    // Relative to the largest number, since sums cancel.
    let largest =
        expected_numbers.iter().copied().filter(|number| number.is_finite()).fold(1.0, |a: f64, b| a.max(b.abs()));
    let is_close = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * largest;
    let right = got.len() == expected_numbers.len() && got.iter().zip(&expected_numbers).all(is_close);
    (!right).then(|| format!("{got:?}, expected {expected_numbers:?}"))
}

#[test]
fn programs_give_what_xla_gives() {
    let engine =
        Engine::new(EngineOptions { platform: "oxcall".to_owned(), num_threads: 2, ..EngineOptions::default() });
    let mut mistakes = Vec::new();
    for (name, proto, values) in corpus() {
        let module = read_hlo_proto(&proto).unwrap_or_else(|error| panic!("{name}: {error}"));
        verify(&module).unwrap_or_else(|error| panic!("{name}: {error}\n{module}"));
        let program = engine.compile(module).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut rest = &values[..];
        let parameters: Vec<Type> = program.parameters().iter().map(|edge| edge.ty.clone()).collect();
        let types: Vec<Type> = program.results().iter().map(|edge| edge.ty.clone()).collect();
        let arguments = split(&mut rest, &parameters);
        let expected = split(&mut rest, &types);
        assert!(rest.is_empty(), "{name}: {} bytes are left", rest.len());
        let buffer = |bytes: &[u8]| Argument::Shared(Arc::new(Buffer::copy_of(engine.allocator(), bytes).unwrap()));
        let results = program.run(arguments.into_iter().map(buffer).collect());
        let results = results.unwrap_or_else(|error| panic!("{name}: {error}"));
        for (index, ((result, expected), ty)) in results.iter().zip(expected).zip(&types).enumerate() {
            let Some(ty) = ty.tensor() else { continue };
            if let Some(mistake) = mistake(ty.element, result.as_bytes(), expected) {
                mistakes.push(format!("{name}: result {index}, {ty}: {mistake}"));
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}
