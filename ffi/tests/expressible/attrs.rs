//! Kinds of attributes.

use oxcall::host::{AlignedBytes, AttrValue as Wire};
use oxcall::prelude::*;
use oxcall::testing::{Call, call};

use super::says;

#[custom_call]
fn kinds(
    #[attr] flag: bool,
    #[attr] int: i32,
    #[attr] size: usize,
    #[attr] float: f32,
    #[attr] half: bf16,
    #[attr] z: Complex<f64>,
    #[attr] text: &str,
    #[attr] owned: String,
    #[attr] borrowed: &[f64],
    #[attr] list: Vec<i64>,
    #[attr] pair: [f32; 2],
    #[attr(name = "the-name")] renamed: i64,
    mut y: ScalarOut<bool>,
) {
    assert_eq!((flag, int, size, float, half), (true, -3, 7, 0.5, bf16::from_f32(2.0)));
    assert_eq!((z, text, owned.as_str()), (Complex::new(1.0, 2.0), "fast", "naïve text of more than sixteen bytes"));
    assert_eq!((borrowed, list.as_slice(), pair, renamed), (&[1.0, 2.0][..], &[3i64, 4][..], [5.0, 6.0], 8));
    y.set(true);
}

fn all_kinds() -> Call {
    call::<kinds>()
        .attr("flag", true)
        .attr("int", -3i64)
        .attr("size", 7i64)
        .attr("float", 0.5f64)
        .attr("half", 2f64)
        .attr("z", Complex::new(1f64, 2.0))
        .attr("text", "fast")
        .attr("owned", "naïve text of more than sixteen bytes")
        .attr("borrowed", [1f64, 2.0])
        .attr("list", [3i32, 4])
        .attr("pair", [5f64, 6.0])
        .attr("the-name", 8i64)
}

#[test]
fn every_kind() {
    assert!(all_kinds().run().unwrap().get::<bool>(0)[[]]);
}

#[test]
fn names_are_checked() {
    let message = says(
        all_kinds().attr("boarrowed", 1.0).attr("zebra", 1.0),
        &["kinds: ", "no attribute `boarrowed`; did you mean `borrowed`?", "no attribute `zebra`", "`the-name`"],
    );
    assert!(!message.contains("missing"), "{message}");
    let message = says(call::<kinds>().attr("flag", true).ret_of::<bool>(&[]), &["attribute `int` is missing"]);
    assert_eq!(message.matches("is missing").count(), 11, "all at once: {message}");
    says(all_kinds().attr("flag", true), &["attribute `flag` is given twice"]);
    says(call::<arrays>().attr("x", 1), &["no attribute `x`", "it takes no attributes"]);
}

#[custom_call]
fn arrays(mut y: ScalarOut<u8>) {
    y.set(1);
}

#[derive(AttrEnum, Clone, Copy, Debug, PartialEq)]
enum Mode {
    Fast,
    VeryPrecise = 7,
    #[attr(name = "IEEE")]
    Ieee,
}

#[custom_call]
fn modes(#[attr] mode: Mode, #[attr(default = Mode::Ieee)] other: Mode, mut y: ScalarOut<i64>) {
    y.set(mode as i64 * 10 + other as i64);
}

#[test]
fn enums_by_name_and_by_number() {
    let run = |mode: Wire| call::<modes>().attr("mode", mode).run().map(|outputs| outputs.get::<i64>(0)[[]]);
    for (mode, expected) in [
        (Wire::from("fast"), 8),
        ("very_precise".into(), 78),
        ("IEEE".into(), 88),
        (0i64.into(), 8),
        (7u8.into(), 78),
        (8i32.into(), 88),
    ] {
        assert_eq!(run(mode).unwrap(), expected);
    }
    for (mode, part) in [
        (Wire::from("Fast"), "did you mean `fast`?"),
        ("".into(), "\"very_precise\""),
        ("slow".into(), "\"slow\""),
        (1i64.into(), "7 (very_precise)"),
        (f64::NAN.into(), "NaN (f64)"),
        ([0i64].into(), "an array of 1 s64"),
    ] {
        let message = run(mode).unwrap_err().message().to_owned();
        assert!(message.starts_with("modes: attribute `mode`: expected one of \"fast\""), "{message}");
        assert!(message.contains(part), "expected {part:?} in {message}");
    }
    says(call::<modes>().attr("mode", "fast").attr("other", 9), &["attribute `other`"]);
}

#[derive(AttrStruct, Debug, PartialEq)]
struct Window<'a> {
    size: [i64; 2],
    #[attr(default = 1)]
    stride: i64,
    label: Option<&'a str>,
    #[attr(name = "pad-mode", default = Mode::Fast)]
    pad: Mode,
}

#[derive(AttrStruct)]
struct Config<'a> {
    window: Window<'a>,
    extra: Option<Dict<'a>>,
}

#[custom_call]
fn windows(#[attr] config: Config<'_>, #[dims(6)] mut y: Out<i64>) {
    let Window { size, stride, label, pad } = config.window;
    let extra = config.extra.map_or(0, |extra| extra.len());
    y.copy_from_slice(&[size[0], size[1], stride, label.map_or(-1, |l| l.len() as i64), pad as i64, extra as i64]);
}

#[test]
fn nested_structs() {
    let run = |window: Vec<(&str, Wire)>, extra: Option<Wire>| {
        let window = window.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut config = vec![("window".to_owned(), Wire::Dict(window))];
        config.extend(extra.map(|extra| ("extra".to_owned(), extra)));
        call::<windows>().attr("config", config)
    };
    let get = |call: Call| call.run().unwrap().get::<i64>(0).into_raw_vec_and_offset().0;
    assert_eq!(get(run(vec![("size", [2i64, 3].into())], None)), [2, 3, 1, -1, 0, 0]);
    let full = vec![
        ("size", Wire::from([2i32, 3])),
        ("stride", 4u8.into()),
        ("label", "abc".into()),
        ("pad-mode", "IEEE".into()),
    ];
    let extra = Wire::from([("a", 1i64.into()), ("b", "x".into())]);
    assert_eq!(get(run(full, Some(extra))), [2, 3, 4, 3, 8, 2]);
    says(run(vec![], None), &["windows: attribute `config.window`", "the entry `size` is missing"]);
    says(run(vec![("size", [2i64, 3, 4].into())], None), &["`config.window.size`", "an array of 2 s64", "of 3 s64"]);
    says(run(vec![("size", [2f64, 3.0].into())], None), &["`config.window.size[0]`", "floats are not converted"]);
    let wrong = vec![("size", [1i64, 1].into()), ("strid", 1i64.into())];
    says(run(wrong, None), &["`config.window`", "no entry `strid`; did you mean `stride`?"]);
    says(run(vec![("size", [1i64, 1].into())], Some(1i64.into())), &["`config.extra`", "expected a dictionary"]);
    says(call::<windows>().attr("config", 1i64), &["a dictionary with the entries window, extra"]);
}

#[custom_call]
fn dictionary(#[attr] options: Dict<'_>, #[attr(rest)] rest: Dict<'_>, #[dims(4)] mut y: Out<i64>) -> Result<()> {
    let names: Vec<&str> = options.iter().map(|(name, _)| name).collect();
    assert!(names.is_sorted() && names.len() == options.len());
    y[0] = options.get::<i64>("k")?.unwrap_or(-1);
    y[1] = rest.len() as i64;
    y[2] = rest.get::<i64>("options")?.unwrap_or(-1);
    let inner = options.get::<Dict<'_>>("inner")?;
    y[3] = inner.and_then(|inner| inner.get::<i64>("k").transpose()).transpose()?.unwrap_or(-1);
    assert_eq!(rest.is_empty(), y[1] == 0);
    assert!(!format!("{options:?} {rest:?}").is_empty());
    Ok(())
}

#[test]
fn dictionaries_and_the_rest() {
    let run = |options: Wire| call::<dictionary>().attr("options", options);
    let get = |call: Call| call.run().unwrap().get::<i64>(0).into_raw_vec_and_offset().0;
    assert_eq!(get(run([("a", 1i64.into()), ("k", 5i8.into())].into())), [5, 0, -1, -1]);
    assert_eq!(get(run(Vec::<(String, Wire)>::new().into()).attr("more", "x").attr("zzz", true)), [-1, 2, -1, -1]);
    let nested = [("inner", [("k", 9i64.into())].into())];
    assert_eq!(get(run(nested.into())), [-1, 0, -1, 9]);
    says(run([("k", "five".into())].into()), &["dictionary: attribute `k`", "the string \"five\""]);
    says(call::<dictionary>().attr("more", 1), &["attribute `options` is missing"]);
}

#[custom_call]
fn pointed(#[attr] data: Pointer<i32>, mut y: ScalarOut<i32>) {
    assert_eq!(data.addr(), data.as_ptr().addr());
    // SAFETY: the test passes the address of a live integer.
    y.set(unsafe { *data.as_ptr() });
}

#[test]
fn pointers() {
    let value = Box::new(42i32);
    let address = (&raw const *value).expose_provenance();
    for wire in [Wire::from(address as i64), Wire::from(address as u64)] {
        assert_eq!(call::<pointed>().attr("data", wire).run().unwrap().get::<i32>(0)[[]], 42);
    }
    says(call::<pointed>().attr("data", 1.0f64), &["expected an address as s64, got 1.0 (f64)"]);
    says(call::<pointed>().attr("data", 1i32), &["an address as s64"]);
}

fn computed() -> f64 {
    0.25
}

#[custom_call]
fn presence(
    #[attr] opt: Option<f32>,
    #[attr(default = 3)] int: i64,
    #[attr(default = computed() * 2.0)] float: f64,
    #[attr(default = "text")] text: &str,
    #[attr(default = vec![1, 2])] list: Vec<i32>,
    mut y: ScalarOut<f64>,
) {
    y.set(opt.map_or(1000.0, f64::from) + int as f64 + float + text.len() as f64 + list.len() as f64);
}

#[test]
fn optional_attributes_and_defaults() {
    let get = |call: Call| call.run().unwrap().get::<f64>(0)[[]];
    assert_eq!(get(call::<presence>()), 1000.0 + 3.0 + 0.5 + 4.0 + 2.0);
    assert_eq!(get(call::<presence>().attr("opt", 1f64)), 1.0 + 3.0 + 0.5 + 4.0 + 2.0);
    let all = call::<presence>()
        .attr("opt", 0f32)
        .attr("int", 0i8)
        .attr("float", 0i64)
        .attr("text", "")
        .attr("list", [0i32; 0]);
    assert_eq!(get(all), 0.0);
    // An empty list has whatever dtype.
    assert_eq!(get(call::<presence>().attr("list", [0f32; 0])), 1000.0 + 3.0 + 0.5 + 4.0);
    says(call::<presence>().attr("opt", "x"), &["presence: attribute `opt`: expected f32, got the string \"x\""]);
    says(call::<presence>().attr("flot", 1.0), &["did you mean `float`?"]);
}

#[custom_call(T = [f32, f64, i32])]
fn fill_with<T: Number>(#[attr] value: T, #[attr] other: Option<T>, x: Array<T>, mut y: Out<T>) {
    let _ = x;
    y.fill(other.unwrap_or(value));
}

/// Takes whatever comes.
#[custom_call]
fn variants(#[attr] value: AttrValue<'_>, mut y: ScalarOut<i32>) {
    y.set(match value {
        AttrValue::Scalar(scalar) => match scalar.dtype() {
            Some(DType::Pred) => 1,
            Some(DType::F16) => 2,
            Some(_) => 3,
            None => 4,
        },
        AttrValue::Array(array) => 10 + array.len() as i32,
        AttrValue::String(text) => 100 + text.len() as i32,
        AttrValue::Dictionary(dict) => 1000 + dict.len() as i32,
        _ => -1,
    });
}

#[test]
fn attributes_of_the_dispatched_dtype_and_of_any() {
    let outputs = call::<fill_with>().arg([0f32; 2]).attr("value", 2.5).run().unwrap();
    assert_eq!(outputs.get::<f32>(0)[[1]], 2.5);
    let outputs = call::<fill_with>().arg([0i32]).attr("value", 1i64).attr("other", 2i64).run().unwrap();
    assert_eq!(outputs.get::<i32>(0)[[0]], 2);
    says(call::<fill_with>().arg([0i32]).attr("value", 2.5), &["attribute `value`: expected s32, got 2.5 (f64)"]);
    let get = |value: Wire| call::<variants>().attr("value", value).run().unwrap().get::<i32>(0)[[]];
    assert_eq!((get(true.into()), get(f16::ONE.into()), get(1u8.into())), (1, 2, 3));
    assert_eq!((get([1u8, 2].into()), get("abc".into()), get([("a", 1.into())].into())), (12, 103, 1001));
    let unknown = Wire::Scalar(DType::S4, AlignedBytes::filled(1, 0));
    assert_eq!(get(unknown), 3);
}

#[custom_call]
fn only_text(#[attr] text: &str, #[attr(default = false)] flag: bool, mut y: ScalarOut<i64>) {
    y.set(text.chars().count() as i64 + i64::from(flag));
}

#[test]
fn bytes_that_are_no_value_are_errors() {
    let pred = |byte| Wire::Scalar(DType::Pred, AlignedBytes::filled(1, byte));
    for byte in (2..=255).step_by(if cfg!(miri) { 50 } else { 1 }) {
        let message = says(call::<only_text>().attr("text", "").attr("flag", pred(byte)), &["attribute `flag`"]);
        assert!(message.contains("expected pred"), "{message}");
    }
    let array = Wire::Array(DType::Pred, 2, AlignedBytes::filled(2, 9));
    says(call::<flags>().attr("flags", array), &["attribute `flags"]);
    let outputs = call::<flags>().attr("flags", [1i64, 0]).run().unwrap();
    assert_eq!(outputs.get::<i64>(0)[[]], 1, "JAX sends arrays of bool as integers");
}

#[custom_call]
fn flags(#[attr] flags: Vec<bool>, mut y: ScalarOut<i64>) {
    y.set(flags.iter().filter(|flag| **flag).count() as i64);
}
