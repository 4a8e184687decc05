//! Schemas of operations, and why some have none.

use crate as oxcall;
use crate::descriptor::{Handler, Op as _};
use crate::prelude::*;
use crate::torch::schema::{derive, operators, without_lists};

/// The schemas of an operation, or why it has none.
fn schemas(handler: &'static Handler) -> Vec<String> {
    match derive(handler) {
        Ok(operators) => operators.iter().map(|operator| operator.schema.to_string()).collect(),
        Err(reason) => vec![reason],
    }
}

#[derive(oxcall::AttrEnum)]
#[attr(crate = crate)]
enum Mode {
    FastPath,
}

#[derive(oxcall::AttrStruct)]
#[attr(crate = crate)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Window<'a> {
    size: [i64; 2],
    #[attr(default = 1)]
    stride: i64,
    label: Option<&'a str>,
}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn everything(
    #[attr(default = 0.5)] alpha: f32,
    x: Array<f32>,
    #[attr] k: usize,
    #[attr] flags: Vec<bool>,
    #[attr(default = true)] flag: bool,
    #[attr(default = "mean")] mode: &str,
    #[attr(default = Mode::FastPath)] kind: Mode,
    #[attr] n: Option<i32>,
    #[attr] weights: Option<Vec<f64>>,
    #[attr] window: Window<'_>,
    y: InOut<f32>,
    #[dims(k, k)] z: Out<f64>,
    w: Out<i64>,
    bias: Option<Array<f32>>,
) {
}

#[custom_call(crate = crate, T = [f32, i32])]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn scaled<T: Number>(#[attr] by: T, x: Array<T>, ys: Variadic<Array<T>>, #[dims()] z: Out<f32>) {}

#[custom_call(crate = crate, T = [f32, f64])]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn chosen<T: Float>(#[dims(n)] x: Array<i32>, #[dims(n)] y: Out<T>) {}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn token(x: Array<f32>, t: Token, y: Out<f32>) {}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn any_attributes(#[attr(rest)] rest: Dict<'_>, x: Array<f32>, y: Out<f32>) {}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn packed(x: Array<crate::element::S4>, y: Out<f32>) {}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn same_names(#[attr] window: Window<'_>, stride: Array<f32>, y: Out<f32>) {}

#[test]
fn types_defaults_and_order() {
    assert_eq!(
        schemas(everything::HANDLER),
        ["everything(Tensor x, SymInt k, bool[] flags, int[] size, Tensor(a!) y, float alpha=0.5, bool flag=True, \
          str mode=\"mean\", str? kind=None, int? n=None, float[]? weights=None, int stride=1, str? label=None, \
          Tensor? bias=None) -> (Tensor, Tensor)"]
    );
}

#[test]
fn any_number_makes_two_overloads() {
    assert_eq!(
        schemas(scaled::HANDLER),
        ["scaled(int by, Tensor x, Tensor[] ys) -> Tensor", "scaled.float(float by, Tensor x, Tensor[] ys) -> Tensor"]
    );
}

#[test]
fn a_dtype_that_no_argument_has_is_an_argument() {
    assert_eq!(schemas(chosen::HANDLER), ["chosen(Tensor x, ScalarType dtype) -> Tensor"]);
}

#[test]
fn reasons_why_there_is_no_operator() {
    for (handler, reason) in [
        (token::HANDLER, "argument `t` is a token"),
        (any_attributes::HANDLER, "it takes attributes of any name, for which schemas have no notation"),
        (packed::HANDLER, "argument `x` has dtype s4, which no tensor has"),
        (same_names::HANDLER, "two of its arguments would have the name `stride`"),
    ] {
        assert_eq!(schemas(handler), [reason]);
    }
}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn placed(#[attr] device: Device<'_>, #[attr(default = Device::CPU)] other: Device<'_>, y: ScalarOut<f32>) {}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn mostly_new(
    #[attr(default = "mean")] mode: &str,
    #[attr] axes: Option<Vec<i64>>,
    x: Array<f32>,
    #[attr(default = 1)] k: i64,
    bias: Option<Array<f32>>,
    y: AnyOut<'_>,
) {
}

#[custom_call(crate = crate, schema = "other_default(Tensor x, str mode=\"sum\") -> Tensor")]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn other_default(#[attr(default = "mean")] mode: &str, x: Array<f32>, y: Out<f32>) {}

/// The schema on torch 2.8 and what it lacks, or why there is none.
fn on_old_torch(handler: &'static Handler) -> Result<(String, Vec<String>), String> {
    let (operator, left_out) = without_lists(handler, &operators(handler)?[0], (2, 8, 0))?;
    assert_eq!(operator.schema.args.len(), operator.sources.len());
    Ok((operator.schema.to_string(), left_out))
}

#[test]
fn devices() {
    assert_eq!(schemas(placed::HANDLER), ["placed(Device device, Device? other=None) -> Tensor"]);
}

#[test]
fn an_old_torch_lacks_what_may_be_absent() {
    let since = |what: &str| format!("{what}, which operators have since torch 2.10; this is 2.8");
    let (schema, left_out) = on_old_torch(mostly_new::HANDLER).unwrap();
    // What came behind is given by name, since it is in another place.
    assert_eq!(schema, "mostly_new(Tensor x, *, int k=1, Tensor? bias=None) -> Tensor");
    let lacking = ["attribute `mode` is a string", "attribute `axes` is a list", "argument `dtype` is a dtype"];
    assert_eq!(left_out, lacking.map(since));
    for (handler, reason) in [
        (placed::HANDLER, "attribute `device` is a device"),
        (scaled::HANDLER, "argument `ys` is a list"),
        // Its absence would be the signature's default, which is another one.
        (other_default::HANDLER, "attribute `mode` is a string"),
    ] {
        assert_eq!(on_old_torch(handler), Err(since(reason)));
    }
    let (schema, left_out) = on_old_torch(everything_old::HANDLER).unwrap();
    assert_eq!((schema.as_str(), left_out.len()), ("everything_old(Tensor x, float alpha=0.5) -> Tensor", 0));
}

#[custom_call(crate = crate)]
#[expect(unused_variables, reason = "only its schema is looked at")]
fn everything_old(#[attr(default = 0.5)] alpha: f32, x: Array<f32>, y: Out<f32>) {}

/// What an operation with this schema has: its operator's schema, or what is wrong.
macro_rules! stated {
    ($schema:literal) => {{
        #[custom_call(crate = crate, schema = $schema)]
        #[expect(unused_variables, reason = "only its schema is looked at")]
        fn op(
            #[attr] k: i64,
            x: Array<f32>,
            #[attr(default = 2.0)] eps: f32,
            #[attr] mode: Option<&str>,
            y: Out<f32>,
            z: InOut<f32>,
        ) {
        }
        match operators(op::HANDLER).map_err(|reason| reason.split_once("`: ").unwrap().1.to_owned()) {
            Ok(operators) => operators[0].schema.to_string(),
            Err(reason) => reason,
        }
    }};
}

#[test]
fn stated_schemas_fit_the_signature() {
    for (given, schema) in [
        (
            stated!("my::name(Tensor self, SymInt k, Tensor(a!) z, float eps=1e-3, *, str? mode=None) -> Tensor"),
            "name(Tensor self, SymInt k, Tensor(a!) z, float eps=1e-3, *, str? mode=None) -> Tensor",
        ),
        (stated!("f(int n, Tensor(a!) out, Tensor x) -> Tensor"), "f(int n, Tensor(a!) out, Tensor x) -> Tensor"),
    ] {
        assert_eq!(given, schema);
    }
}

#[test]
fn stated_schemas_that_do_not_fit() {
    for (given, reason) in [
        (stated!("f(Tensor x, Tensor(a!) z) -> Tensor"), "no argument is for the parameter `int k`"),
        (stated!("f(Tensor x, float k, Tensor(a!) z) -> Tensor"), "`float k` is for a parameter that takes `int k`"),
        (stated!("f(Tensor x, int k, Tensor z) -> Tensor"), "takes `Tensor (updated in place) z`"),
        (stated!("f(Tensor x, int k, Tensor(a!) z, bool b) -> Tensor"), "no parameter of the function is for `bool b`"),
        (
            stated!("f(Tensor x, int k, Tensor(a!) z) -> (Tensor, Tensor)"),
            "it returns (Tensor, Tensor), but the function Tensor",
        ),
        (stated!("f(Tensor x, int? k, Tensor(a!) z) -> Tensor"), "takes `int k`"),
        (stated!("f(Tensor x, int k"), "expected `,`"),
    ] {
        assert!(given.contains(reason), "expected {reason:?} in {given:?}");
    }
}
