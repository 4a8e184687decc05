//! Operations with a weight, residuals, both modes, a transpose, and a batch.

use oxcall::prelude::*;

/// `w * exp(x)`; the residual is `exp(x)`.
#[custom_call(fwd = growth_fwd, vjp = growth_vjp, jvp = growth_jvp, batch = b)]
fn growth(#[dims(..b, n)] x: Array<f64>, #[dims(n)] w: Array<f64>, #[dims(..b, n)] mut y: Out<f64>) {
    for (y, x) in y.rows_mut().zip(x.rows()) {
        for ((y, x), w) in y.iter_mut().zip(x).zip(w.iter()) {
            *y = w * x.exp();
        }
    }
}

#[custom_call(batch = b)]
fn growth_fwd(
    #[dims(..b, n)] x: Array<f64>,
    #[dims(n)] w: Array<f64>,
    #[dims(..b, n)] mut y: Out<f64>,
    #[dims(..b, n)] mut s: Out<f64>,
) {
    for ((y, s), x) in y.rows_mut().zip(s.rows_mut()).zip(x.rows()) {
        for (((y, s), x), w) in y.iter_mut().zip(s).zip(x).zip(w.iter()) {
            *s = x.exp();
            *y = w * *s;
        }
    }
}

#[custom_call(batch = b)]
fn growth_vjp(
    #[dims(n)] w: Array<f64>,
    #[dims(..b, n)] s: Array<f64>,
    #[dims(..b, n)] dy: Array<f64>,
    #[dims(..b, n)] mut dx: Out<f64>,
    #[dims(n)]
    #[sum(b)]
    mut dw: Out<f64>,
) {
    dw.fill(0.0);
    for ((dx, s), dy) in dx.rows_mut().zip(s.rows()).zip(dy.rows()) {
        for i in 0..w.len() {
            dx[i] = w[i] * s[i] * dy[i];
            dw[i] += s[i] * dy[i];
        }
    }
}

#[custom_call(batch = b)]
fn growth_jvp(
    #[dims(n)] w: Array<f64>,
    #[dims(..b, n)] s: Array<f64>,
    #[dims(..b, n)] tx: Array<f64>,
    #[dims(n)] tw: Array<f64>,
    #[dims(..b, n)] mut ty: Out<f64>,
) {
    for ((ty, s), tx) in ty.rows_mut().zip(s.rows()).zip(tx.rows()) {
        for i in 0..w.len() {
            ty[i] = s[i] * (w[i] * tx[i] + tw[i]);
        }
    }
}

/// `k * x`, linear in `x`; `k` has no derivative.
#[custom_call(transpose = gain_transpose, nondiff = [k], batch = s)]
fn gain(#[dims(..s)] x: Array<f64>, #[dims(..s)] k: Array<f64>, #[dims(..s)] mut y: Out<f64>) {
    for (y, (x, k)) in y.iter_mut().zip(x.iter().zip(k.iter())) {
        *y = k * x;
    }
}

#[custom_call(batch = s)]
fn gain_transpose(#[dims(..s)] dy: Array<f64>, #[dims(..s)] k: Array<f64>, #[dims(..s)] mut dx: Out<f64>) {
    for (dx, (dy, k)) in dx.iter_mut().zip(dy.iter().zip(k.iter())) {
        *dx = k * dy;
    }
}

/// `sin(x)`, in forward mode only.
#[custom_call(jvp = wave_jvp, vmap = wave_of_batch)]
fn wave(#[dims(n)] x: Array<f64>, #[dims(n)] mut y: Out<f64>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x.sin();
    }
}

#[custom_call]
fn wave_of_batch(#[dims(m, n)] x: Array<f64>, #[dims(m, n)] mut y: Out<f64>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x.sin();
    }
}

#[custom_call]
fn wave_jvp(#[dims(n)] x: Array<f64>, #[dims(n)] tx: Array<f64>, #[dims(n)] mut ty: Out<f64>) {
    for (ty, (x, tx)) in ty.iter_mut().zip(x.iter().zip(tx.iter())) {
        *ty = x.cos() * tx;
    }
}
