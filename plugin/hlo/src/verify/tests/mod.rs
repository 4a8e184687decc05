//! Each kind of op with types that it takes, and with types that it refuses. Signatures are written as
//! `2x3xf32, i32 -> f32`; results after the arrow are given, and what comes out is compared with them.

mod contract;
mod control;
mod elementwise;
mod gather;
mod module;
mod numeric;
mod reduce;
mod shape;

use super::{RegionType, Signature, infer_types};
use crate::{ElementType, OpKind, TensorType, Type};

/// A type: `2x3xf32`, `f32`, `token`, `(f32; 2xf32)` for a tuple, or `future(f32)`.
fn ty(text: &str) -> Type {
    let text = text.trim();
    if text == "token" {
        return Type::Token;
    }
    if let Some(inner) = text.strip_prefix("future(").and_then(|text| text.strip_suffix(')')) {
        return Type::Future(types(inner));
    }
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        return Type::Tuple(types(inner));
    }
    let mut parts: Vec<&str> = text.split('x').collect();
    // `complex<f32>` has an x of its own.
    let element = match parts.iter().position(|part| part.starts_with("comple")) {
        Some(index) => parts.split_off(index).join("x"),
        None => parts.pop().expect("not empty").to_owned(),
    };
    let element = ElementType::ALL.iter().copied().find(|each| each.name() == element);
    let dims = parts.iter().map(|part| part.parse::<usize>().expect("a size"));
    TensorType::new(element.unwrap_or_else(|| panic!("{text}")), dims).into()
}

/// Types separated by commas, or in tuples by semicolons.
fn types(text: &str) -> Vec<Type> {
    let mut depth = 0;
    let parts = text.split(|char| {
        depth += i32::from(char == '(') - i32::from(char == ')');
        depth == 0 && (char == ',' || char == ';')
    });
    parts.filter(|text| !text.trim().is_empty()).map(ty).collect()
}

/// A region or function: `f32, f32 -> f32`.
fn region(text: &str) -> RegionType {
    let (params, results) = text.split_once("->").expect("an arrow");
    RegionType { params: types(params), results: types(results) }
}

fn infer(kind: &OpKind, text: &str, regions: &[&str]) -> Result<Vec<Type>, String> {
    let RegionType { params, results } = region(text);
    let regions: Vec<RegionType> = regions.iter().map(|text| region(text)).collect();
    let signature = Signature { kind, operands: &params, regions: &regions, results: Some(&results) };
    infer_types(signature).map_err(|error| error.to_string())
}

/// Checks that `kind` takes the types.
#[track_caller]
fn takes(kind: OpKind, text: &str, regions: &[&str]) {
    match infer(&kind, text, regions) {
        Ok(types) => assert_eq!(types, region(text).results, "{kind:?} {text}"),
        Err(error) => panic!("{kind:?} {text}: {error}"),
    }
}

/// Checks that `kind` refuses the types with a message that has its name, and then contains `expected`.
#[track_caller]
fn refuses(kind: OpKind, text: &str, regions: &[&str], expected: &str) {
    match infer(&kind, text, regions) {
        Ok(types) => panic!("{kind:?} {text} gives {types:?}"),
        Err(error) => {
            let message = error.strip_prefix(&format!("{}: ", kind.name())).unwrap_or_else(|| panic!("{error}"));
            assert!(message.contains(expected), "{kind:?} {text}: {error}");
        }
    }
}

/// Checks that `kind` takes the operands, and gives other results than those written.
#[track_caller]
fn gives_other(kind: OpKind, text: &str, regions: &[&str]) {
    assert_ne!(infer(&kind, text, regions), Ok(region(text).results), "{kind:?} {text}");
}
