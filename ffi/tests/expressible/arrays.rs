//! Kinds of buffer parameters.

use ndarray::{Array, Array2, Array3, ArrayD, IxDyn, arr0, array};
use oxcall::prelude::*;
use oxcall::testing::{Value, call};

use super::says;

#[custom_call]
fn twice(#[dims(..s)] x: oxcall::prelude::Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    assert_eq!((x.shape(), x.rank(), x.dtype(), x.len()), (y.shape(), y.rank(), y.dtype(), y.len()));
    assert_eq!(x.as_bytes().len(), 4 * x.len());
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = 2.0 * x;
    }
}

#[custom_call]
fn transpose(#[dims(h, w)] x: oxcall::prelude::Array<i32, Rank<2>>, #[dims(w, h)] mut y: Out<i32, Rank<2>>) {
    let [h, w] = x.shape();
    assert_eq!(y.shape(), [w, h]);
    y.view_mut().assign(&x.view().t());
}

#[custom_call]
fn copy(x: AnyArray, mut y: AnyOut) {
    assert_eq!((x.dtype(), x.shape(), x.size_in_bytes()), (y.dtype(), y.shape(), y.size_in_bytes()));
    y.copy_from_bytes(x.as_bytes());
}

/// Adds one to what it finds to be `s32` or `f32`.
#[custom_call]
fn increment_any(x: AnyArray, mut y: AnyOut) -> Result<()> {
    if let Ok(x) = x.cast::<i32>() {
        y.cast_mut::<i32>()?.view_mut().assign(&(&x.view() + 1));
        return Ok(());
    }
    y.cast_mut::<f32>()?.view_mut().assign(&(&x.cast::<f32>()?.view() + 1.0));
    Ok(())
}

macro_rules! views {
    ($($name:ident $dynamic:ident $view:ident $view_mut:ident $rank:literal;)*) => {
        $(
            #[custom_call]
            fn $name(x: $view<i16>, mut y: $view_mut<i16>) {
                y.assign(&x.mapv(|x| -x));
            }

            /// The same through buffer types of static rank.
            #[custom_call]
            fn $dynamic(x: oxcall::prelude::Array<i16, Rank<$rank>>, mut y: Out<i16, Rank<$rank>>) {
                y.view_mut().assign(&x.view().mapv(|x| -x));
            }
        )*

        #[test]
        fn ndarray_views_of_every_rank() {
            $(
                let shape = [2usize, 3, 1, 2, 3, 2];
                let mut counter = 0i16;
                let x = ArrayD::from_shape_fn(IxDyn(&shape[..$rank]), |_| { counter += 1; counter });
                for outputs in [call::<$name>().arg(&x).run().unwrap(), call::<$dynamic>().arg(&x).run().unwrap()] {
                    assert_eq!(outputs.get::<i16>(0), x.mapv(|x| -x));
                }
                let wrong = ArrayD::<i16>::zeros(vec![1; $rank + 1]);
                let expected = [concat!("expected rank ", $rank), "argument `x`"];
                says(call::<$name>().arg(&wrong).ret_of::<i16>(&[]), &expected);
                says(call::<$dynamic>().arg(&wrong).ret_of::<i16>(&[]), &expected);
            )*
        }
    };
}
views! {
    view0 static0 ArrayView0 ArrayViewMut0 0;
    view1 static1 ArrayView1 ArrayViewMut1 1;
    view2 static2 ArrayView2 ArrayViewMut2 2;
    view3 static3 ArrayView3 ArrayViewMut3 3;
    view4 static4 ArrayView4 ArrayViewMut4 4;
    view5 static5 ArrayView5 ArrayViewMut5 5;
    view6 static6 ArrayView6 ArrayViewMut6 6;
}

#[custom_call]
fn view_dyn(x: ArrayViewD<f64>, mut y: ArrayViewMutD<f64>) {
    y.assign(&(&x * 2.0));
}

#[custom_call]
fn reverse(#[dims(..s)] x: &[u8], #[dims(..s)] y: &mut [u8]) {
    y.copy_from_slice(x);
    y.reverse();
}

#[custom_call]
fn scalars(a: Scalar<f64>, b: Scalar<bool>, mut c: ScalarOut<f64>, mut d: ScalarOut<bool>) {
    c.set(*a + 1.0);
    d.set(!b.get());
}

#[custom_call]
fn optional(
    x: oxcall::prelude::Array<f32>,
    #[dims(1)] bias: Option<oxcall::prelude::Array<f32>>,
    scale: Option<Scalar<f32>>,
    mut y: Out<f32>,
    count: Option<ScalarOut<i32>>,
) {
    let bias = bias.map_or(0.0, |bias| bias[0]);
    let scale = scale.as_deref().copied().unwrap_or(1.0);
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = scale * x + bias;
    }
    if let Some(mut count) = count {
        count.set(x.len() as i32);
    }
}

#[custom_call]
fn sums(xs: Variadic<&[i64]>, #[dims()] ys: Variadic<ScalarOut<i64>>) -> Result<()> {
    if xs.len() != ys.len() {
        return Err(Error::invalid_argument(format!("{} arguments, {} results", xs.len(), ys.len())));
    }
    for (x, mut y) in xs.iter().zip(ys) {
        y.set(x.iter().sum());
    }
    Ok(())
}

#[custom_call(side_effect)]
fn tokens(_before: Token, x: Scalar<u32>, _after: TokenOut, mut y: ScalarOut<u32>) {
    y.set(x.get() ^ 1);
}

#[custom_call]
fn rows(#[dims(.., n)] x: oxcall::prelude::Array<f32>, mut y: Out<f32>) {
    for (index, (x, y)) in x.rows().zip(y.rows_mut()).enumerate() {
        for (x, y) in x.iter().zip(y) {
            *y = x + index as f32;
        }
    }
}

#[test]
fn typed_buffers_of_any_rank() {
    for dims in [&[][..], &[3], &[2, 2], &[0], &[2, 0, 3], &[1; 8]] {
        let x = ArrayD::from_elem(IxDyn(dims), 1.5f32);
        let outputs = call::<twice>().arg(&x).run().unwrap();
        assert_eq!(outputs.get::<f32>(0), x.mapv(|x| 2.0 * x));
    }
}

#[test]
fn typed_buffers_of_static_rank() {
    let outputs = call::<transpose>().arg(array![[1, 2, 3], [4, 5, 6]]).run().unwrap();
    assert_eq!(outputs.get::<i32>(0), array![[1, 4], [2, 5], [3, 6]].into_dyn());
    let empty = call::<transpose>().arg(Array2::<i32>::zeros((0, 4))).run().unwrap();
    assert_eq!(empty.get::<i32>(0).shape(), [4, 0]);
    says(
        call::<transpose>().arg(arr0(1)).ret_of::<i32>(&[]),
        &["transpose: argument `x` has shape [], but `#[dims(h, w)]` expects [h, w]"],
    );
}

#[test]
fn untyped_buffers() {
    let outputs = call::<copy>().arg(array![[1u16, 2], [3, 4]]).run().unwrap();
    assert_eq!(outputs.get::<u16>(0), array![[1u16, 2], [3, 4]].into_dyn());
    let outputs = call::<increment_any>().arg([1, 2]).run().unwrap();
    assert_eq!(outputs.get::<i32>(0), array![2, 3].into_dyn());
    let outputs = call::<increment_any>().arg([1f32]).run().unwrap();
    assert_eq!(outputs.get::<f32>(0), array![2f32].into_dyn());
    says(call::<increment_any>().arg([1u8]), &["increment_any: ", "expected dtype f32, got u8"]);
    says(call::<increment_any>().arg([1i32]).ret_of::<f32>(&[1]), &["expected dtype s32, got f32"]);
    says(call::<copy>().arg([1u8]).ret_of::<u8>(&[2]), &["panicked", "arrays.rs"]);
}

#[test]
fn slices_scalars_and_views_of_any_rank() {
    let outputs = call::<reverse>().arg([[1u8, 2], [3, 4]].concat()).run().unwrap();
    assert_eq!(outputs.get::<u8>(0).as_slice().unwrap(), [4, 3, 2, 1]);
    let outputs = call::<scalars>().arg(1.5f64).arg(true).run().unwrap();
    assert_eq!((outputs.get::<f64>(0)[[]], outputs.get::<bool>(1)[[]]), (2.5, false));
    let wrong = call::<scalars>().arg([1.5f64]).arg(true).ret_of::<f64>(&[]).ret_of::<bool>(&[]);
    says(wrong, &["argument `a`", "expected rank 0", "[1]"]);
    let x = Array3::<f64>::from_elem((2, 1, 3), 0.5);
    assert_eq!(call::<view_dyn>().arg(&x).run().unwrap().get::<f64>(0), (&x * 2.0).into_dyn());
}

#[test]
fn optional_arguments_and_results() {
    let run = |call: oxcall::testing::Call| call.run().unwrap();
    let x = [1f32, 2.0];
    let outputs = run(call::<optional>().arg(x));
    assert_eq!((outputs.values().len(), outputs.get::<f32>(0)), (1, array![1f32, 2.0].into_dyn()));
    let outputs = run(call::<optional>().arg(x).arg([10f32]));
    assert_eq!(outputs.get::<f32>(0), array![11f32, 12.0].into_dyn());
    let outputs = run(call::<optional>().arg(x).arg([10f32]).arg(3f32).num_results(2));
    assert_eq!(outputs.get::<f32>(0), array![13f32, 16.0].into_dyn());
    assert_eq!(outputs.get::<i32>(1)[[]], 2);
    let ret = |call: oxcall::testing::Call| call.ret_of::<f32>(&[2]);
    says(ret(call::<optional>()), &["expected 1 to 3 arguments (x, bias, scale), got 0"]);
    says(ret(call::<optional>().arg(x).arg([1f32]).arg(1f32).arg(1f32)), &["expected 1 to 3 arguments", "got 4"]);
    says(ret(call::<optional>().arg(x).arg([1f32, 2.0])), &["`bias`", "[2]"]);
    says(ret(call::<optional>().arg(x).arg([1u32])), &["argument `bias`", "expected dtype f32, got u32"]);
    says(ret(ret(ret(call::<optional>().arg(x)))), &["expected 1 to 2 results (y, count), got 3"]);
}

#[test]
fn variadic_arguments_and_results() {
    let args = [vec![1i64, 2], vec![], vec![5]];
    let outputs = call::<sums>().args(args.clone()).num_results(3).run().unwrap();
    let sums_: Vec<i64> = (0..3).map(|i| outputs.get::<i64>(i)[[]]).collect();
    assert_eq!(sums_, [3, 0, 5]);
    assert!(call::<sums>().num_results(0).run().unwrap().values().is_empty());
    says(call::<sums>().args(args.clone()).num_results(1), &["sums: 3 arguments, 1 results"]);
    let wrong = call::<sums>().args(args).arg([1f32]).ret_of::<i64>(&[]);
    says(wrong, &["argument `xs[3]`", "expected dtype s64, got f32"]);
    says(call::<sums>().arg([1i64]).arg([1i64]).ret_of::<i64>(&[]).ret_of::<i64>(&[1]), &["result `ys[1]`", "[1]"]);
}

#[test]
fn tokens_order_calls() {
    let outputs = call::<tokens>().arg(Value::token()).arg(2u32).run().unwrap();
    assert_eq!(outputs.get::<u32>(1)[[]], 3);
    assert_eq!(outputs.value(0), &Value::token());
    let wrong = call::<tokens>().arg(1u32).arg(2u32).ret(DType::Token, &[]).ret_of::<u32>(&[]);
    says(wrong, &["argument `_before`", "expected dtype token, got u32"]);
    says(
        call::<tokens>().arg(Value::token()).arg(2u32).ret_of::<u32>(&[]).ret_of::<u32>(&[]),
        &["result `_after`", "expected dtype token, got u32"],
    );
}

#[test]
fn rows_of_every_shape() {
    let x = Array::from_shape_fn((2, 3), |(i, j)| (10 * i + j) as f32);
    let outputs = call::<rows>().arg(&x).run().unwrap();
    assert_eq!(outputs.get::<f32>(0), array![[0f32, 1.0, 2.0], [11.0, 12.0, 13.0]].into_dyn());
    for dims in [[0, 3], [3, 0], [0, 0]] {
        assert!(call::<rows>().arg(ArrayD::<f32>::zeros(IxDyn(&dims))).run().unwrap().get::<f32>(0).is_empty());
    }
}

#[test]
fn wrong_numbers_of_operands() {
    let message = says(call::<transpose>().ret_of::<i32>(&[1, 1]), &["expected 1 argument (x), got 0"]);
    assert!(message.starts_with("transpose: "), "{message}");
    says(call::<scalars>().arg(1f64).arg(true).ret_of::<f64>(&[]), &["expected 2 results (c, d), got 1"]);
}
