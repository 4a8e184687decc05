//! Named dimensions, and the shapes of results.

use ndarray::{ArrayD, IxDyn};
use oxcall::prelude::*;
use oxcall::shape::ShapeContext;
use oxcall::testing::{Call, Outputs, call};

use super::says;

fn zeros(dims: &[usize]) -> ArrayD<f32> {
    ArrayD::zeros(IxDyn(dims))
}

fn shape(call: Call) -> Vec<i64> {
    call.run().unwrap().value(0).dims().to_vec()
}

#[custom_call]
fn matmul(#[dims(..b, m, k)] x: Array<f32>, #[dims(..b, k, n)] y: Array<f32>, #[dims(..b, m, n)] mut z: Out<f32>) {
    let _ = (x, y);
    z.fill(0.0);
}

#[test]
fn names_tie_shapes_together() {
    let go = |x: &[usize], y: &[usize]| call::<matmul>().arg(zeros(x)).arg(zeros(y));
    assert_eq!(shape(go(&[2, 3], &[3, 4])), [2, 4]);
    assert_eq!(shape(go(&[5, 6, 2, 3], &[5, 6, 3, 4])), [5, 6, 2, 4]);
    assert_eq!(shape(go(&[0, 3], &[3, 0])), [0, 0]);
    let z = |call: Call| call.ret_of::<f32>(&[2, 4]);
    says(
        z(go(&[2, 3], &[4, 4])),
        &["matmul: argument `y` has shape [4, 4]", "`#[dims(..b, k, n)]`", "k = 3", "(from argument `x`)"],
    );
    says(z(go(&[5, 2, 3], &[6, 3, 4])), &["argument `y` has shape [6, 3, 4]", "b = [5]"]);
    says(z(go(&[3], &[3, 4])), &["argument `x` has shape [3]", "`#[dims(..b, m, k)]`"]);
    says(go(&[2, 3], &[3, 4]).ret_of::<f32>(&[2, 3]), &["result `z` has shape [2, 3]", "expects [2, 4]"]);
    says(go(&[2, 3], &[3, 4]).ret_of::<f32>(&[8]), &["result `z` has shape [8]", "expects [2, 4]"]);
}

#[custom_call]
fn arithmetic(
    #[dims(h, w, 3)] x: Array<f32>,
    #[dims(h * w + 1)] flat: Array<f32>,
    #[dims((h - 1) / 2, w % 4)] mut y: Out<f32>,
) {
    let _ = (x, flat);
    y.fill(0.0);
}

#[test]
fn dimensions_have_arithmetic() {
    let go = |x: &[usize], flat: usize| call::<arithmetic>().arg(zeros(x)).arg(zeros(&[flat]));
    assert_eq!(shape(go(&[5, 7, 3], 36)), [2, 3]);
    assert_eq!(shape(go(&[1, 4, 3], 5)), [0, 0]);
    let y = |call: Call| call.ret_of::<f32>(&[2, 3]);
    says(y(go(&[5, 7, 3], 35)), &["argument `flat` has shape [35]", "`#[dims(h * w + 1)]`", "h = 5 and w = 7", "[36]"]);
    says(y(go(&[5, 7, 4], 36)), &["argument `x` has shape [5, 7, 4]", "3"]);
    says(go(&[5, 7, 3], 36).ret_of::<f32>(&[2, 4]), &["result `y` has shape [2, 4]", "expects [2, 3]"]);
    says(y(go(&[0, 7, 3], 1)), &["h - 1", "negative"]);
    says(go(&[0, 7, 3], 1), &["result `y`", "negative"]);
}

#[custom_call]
fn divide(#[attr] k: i64, #[dims(n)] x: Array<f32>, #[dims(n / k)] mut y: Out<f32>) {
    let _ = x;
    y.fill(k as f32);
}

#[custom_call]
fn tile(#[attr] k: u8, #[attr(default = 2)] j: i32, #[dims(n)] x: Array<f32>, #[dims(k, n * j)] mut y: Out<f32>) {
    let _ = x;
    y.fill(f32::from(k) + j as f32);
}

#[test]
fn dimensions_equal_attributes() {
    let go = |n: usize, k: i64| call::<divide>().arg(zeros(&[n])).attr("k", k);
    assert_eq!(shape(go(7, 2)), [3]);
    says(go(7, 0).ret_of::<f32>(&[1]), &["divide: ", "n / k", "zero"]);
    says(go(7, 0), &["divide: ", "n / k", "zero"]);
    says(go(7, -1).ret_of::<f32>(&[7]), &["divide: ", "k"]);
    says(go(7, 2).ret_of::<f32>(&[4]), &["expects [3]", "k = 2 (from attribute `k`)"]);
    let go = |k: i64| call::<tile>().arg(zeros(&[3])).attr("k", k);
    assert_eq!(shape(go(5)), [5, 6]);
    assert_eq!(shape(go(5).attr("j", 0)), [5, 0]);
    says(go(5).ret_of::<f32>(&[5, 3]), &["result `y` has shape [5, 3]"]);
    says(go(300).ret_of::<f32>(&[300, 6]), &["attribute `k`", "out of range"]);
    says(go(1).attr("j", i64::from(i32::MAX)).ret_of::<f32>(&[1, 6]), &["result `y`"]);
}

#[custom_call]
fn overflow(#[attr] k: i64, #[dims(n)] x: Array<f32>, #[dims(n * k * k)] y: Out<f32>) {
    let _ = (k, x, y);
}

#[test]
fn overflow_is_an_error() {
    let go = || call::<overflow>().arg(zeros(&[3])).attr("k", i64::MAX);
    says(go(), &["overflow: ", "n * k"]);
    says(go().ret_of::<f32>(&[3]), &["overflow: ", "n * k"]);
}

#[custom_call]
fn wild(#[dims(_, .., 2)] x: Array<f32>, #[dims(a, a)] y: Array<f32>, #[dims(a)] z: Out<f32>) {
    let _ = (x, y, z);
}

#[test]
fn wildcards_tie_nothing() {
    let go = |x: &[usize], y: &[usize]| call::<wild>().arg(zeros(x)).arg(zeros(y));
    assert_eq!(shape(go(&[9, 2], &[3, 3])), [3]);
    assert_eq!(shape(go(&[9, 8, 7, 2], &[0, 0])), [0]);
    says(go(&[2], &[3, 3]).ret_of::<f32>(&[3]), &["argument `x` has shape [2]", "_"]);
    says(go(&[9, 2], &[3, 4]).ret_of::<f32>(&[3]), &["argument `y` has shape [3, 4]"]);
}

fn nonzero_shape(context: &ShapeContext<'_>) -> Result<Vec<Vec<i64>>> {
    let x = context.arg("x")?;
    let most: i64 = context.attr("most")?;
    if most < 0 {
        return Err(Error::out_of_range("attribute `most` is negative"));
    }
    Ok(vec![vec![most.min(x.dims.iter().product()), x.rank() as i64]])
}

#[custom_call(shape = nonzero_shape)]
fn nonzero(#[attr(default = 4)] most: i64, x: Array<f32>, #[dims(_, _)] mut y: Out<i64>) {
    let _ = (most, x);
    y.fill(0);
}

#[test]
fn a_function_gives_shapes() {
    assert_eq!(shape(call::<nonzero>().arg(zeros(&[2, 3]))), [4, 2]);
    assert_eq!(shape(call::<nonzero>().arg(zeros(&[2, 3])).attr("most", 9)), [6, 2]);
    let error = super::error(call::<nonzero>().arg(zeros(&[2])).attr("most", -1));
    assert_eq!((error.code(), error.message()), (Code::OutOfRange, "nonzero: attribute `most` is negative"));
    // What the call gives is checked against the pattern only.
    assert_eq!(shape(call::<nonzero>().arg(zeros(&[2])).ret_of::<i64>(&[1, 1])), [1, 1]);
    says(call::<nonzero>().arg(zeros(&[2])).ret_of::<i64>(&[1]), &["result `y` has shape [1]"]);
}

#[custom_call]
fn default_rule(x: Array<f32>, y: Array<i32>, mut a: Out<f64>, mut b: ScalarOut<i32>, mut c: Out<i32>) {
    let _ = (x, y);
    a.fill(0.0);
    b.set(0);
    c.fill(0);
}

#[test]
fn without_patterns_results_have_the_shape_of_argument_0() {
    let outputs: Outputs = call::<default_rule>().arg(zeros(&[2, 3])).arg([1i32]).run().unwrap();
    let results: Vec<_> = outputs.values().iter().map(|value| (value.dtype(), value.dims().to_vec())).collect();
    assert_eq!(results, [(DType::F64, vec![2, 3]), (DType::S32, vec![]), (DType::S32, vec![2, 3])]);
}

#[custom_call]
fn with_optional(
    #[dims(..b, n)] x: Array<f32>,
    #[dims(n)] w: Option<Array<f32>>,
    #[dims(..b, n)] mut y: Out<f32>,
    #[dims(..b)] z: Option<Out<f32>>,
) {
    let _ = (x, w, z);
    y.fill(0.0);
}

#[custom_call]
fn stack(#[dims(..s)] first: Array<f32>, #[dims(..s)] others: Variadic<Array<f32>>, #[dims(..s)] mut y: Out<f32>) {
    let _ = (first, others);
    y.fill(0.0);
}

#[test]
fn patterns_of_optional_and_variadic_operands() {
    let x = || call::<with_optional>().arg(zeros(&[4, 3]));
    assert_eq!(shape(x()), [4, 3]);
    let outputs = x().arg(zeros(&[3])).num_results(2).run().unwrap();
    assert_eq!(outputs.value(1).dims(), [4]);
    says(x().arg(zeros(&[4])).ret_of::<f32>(&[4, 3]), &["argument `w` has shape [4]", "n = 3"]);
    says(x().ret_of::<f32>(&[4, 3]).ret_of::<f32>(&[3]), &["result `z` has shape [3]"]);
    let xs = || call::<stack>().arg(zeros(&[2])).arg(zeros(&[2]));
    assert_eq!(shape(xs().arg(zeros(&[2]))), [2]);
    says(xs().arg(zeros(&[3])).ret_of::<f32>(&[2]), &["argument `others[1]` has shape [3]", "s = [2]"]);
}
