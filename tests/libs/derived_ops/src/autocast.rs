//! Operations with a policy of autocast.

use oxcall::prelude::*;

/// `exp(x) * w`, in `f32` under autocast; `n` copies an integer.
#[custom_call(T = floats, autocast = f32, vjp = grown_vjp, batch = s)]
fn grown<T: Float>(
    #[dims(..s)] x: Array<T>,
    #[dims(..s)] w: Array<T>,
    #[dims(..s)] n: Array<i32>,
    #[dims(..s)] mut y: Out<T>,
    #[dims(..s)] mut m: Out<i32>,
) {
    m.copy_from_slice(&n);
    for (y, (x, w)) in y.iter_mut().zip(x.iter().zip(w.iter())) {
        *y = x.exp() * *w;
    }
}

/// Its own policy would be another: derivatives keep the dtypes of the call.
#[custom_call(T = floats, autocast = lowest, batch = s)]
fn grown_vjp<T: Float>(
    #[dims(..s)] x: Array<T>,
    #[dims(..s)] w: Array<T>,
    #[dims(..s)] dy: Array<T>,
    #[dims(..s)] mut dx: Out<T>,
    #[dims(..s)] mut dw: Out<T>,
) {
    for i in 0..x.len() {
        let exp = x[i].exp();
        (dx[i], dw[i]) = (exp * w[i] * dy[i], exp * dy[i]);
    }
}

/// `scale * x * w` in the lower precision under autocast; `scale` stays `f32`.
#[custom_call(T = floats, autocast = lowest, vmap = scaled_of_batch)]
fn scaled<T: Float>(
    #[dims(n)] x: Array<T>,
    #[dims()] scale: Array<f32>,
    #[dims(n)] w: Option<Array<T>>,
    #[dims(n)] mut y: Out<T>,
) {
    let scale = T::from_f64(f64::from(scale[0]));
    for (i, (y, x)) in y.iter_mut().zip(x.iter()).enumerate() {
        *y = scale * *x * w.as_ref().map_or(T::from_f64(1.0), |w| w[i]);
    }
}

/// Without a policy: the one of `scaled` counts.
#[custom_call(T = floats)]
fn scaled_of_batch<T: Float>(
    #[dims(m, n)] x: Array<T>,
    #[dims(m)] scale: Array<f32>,
    #[dims(m, n)] w: Option<Array<T>>,
    #[dims(m, n)] mut y: Out<T>,
) {
    let columns = x.len() / scale.len().max(1);
    for i in 0..x.len() {
        y[i] = T::from_f64(f64::from(scale[i / columns])) * x[i] * w.as_ref().map_or(T::from_f64(1.0), |w| w[i]);
    }
}

/// `total += x`: only `x` is cast.
#[custom_call(T = floats, autocast = lowest)]
fn accumulate<T: Float>(#[dims(..s)] x: Array<T>, #[dims(..s)] mut total: InOut<f32>) {
    for (total, x) in total.iter_mut().zip(x.iter()) {
        *total += x.as_f64() as f32;
    }
}
