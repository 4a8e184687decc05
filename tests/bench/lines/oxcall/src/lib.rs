//! Root-mean-square norm with a weight.

// --- forward
use oxcall::prelude::*;

fn inverse_rms<T: Float>(x: &[T], eps: f64) -> f64 {
    let mean = x.iter().map(|x| x.as_f64() * x.as_f64()).sum::<f64>() / x.len() as f64;
    (mean + eps).sqrt().recip()
}

/// `y = w * x / sqrt(mean(x * x) + eps)` over the last axis.
#[custom_call(T = floats, batch = b, vjp = rms_norm_vjp, jvp = rms_norm_jvp)]
fn rms_norm<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(n)] w: Array<T>,
    #[dims(..b, n)] mut y: Out<T>,
) {
    for (x, y) in x.rows().zip(y.rows_mut()) {
        let r = inverse_rms(x, eps);
        for ((y, x), w) in y.iter_mut().zip(x).zip(w.iter()) {
            *y = T::from_f64(w.as_f64() * x.as_f64() * r);
        }
    }
}

// --- gradient
/// `dx` and `dw` from the cotangent `dy`.
#[custom_call(T = floats, batch = b)]
fn rms_norm_vjp<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(n)] w: Array<T>,
    #[dims(..b, n)] dy: Array<T>,
    #[dims(..b, n)] mut dx: Out<T>,
    #[dims(n)]
    // --- sharding
    #[sum(b)]
    // --- gradient
    mut dw: Out<T>,
) {
    let mut sums = vec![0.0; w.len()];
    for ((x, dy), dx) in x.rows().zip(dy.rows()).zip(dx.rows_mut()) {
        let r = inverse_rms(x, eps);
        let dot: f64 = x.iter().zip(dy).zip(w.iter()).map(|((x, dy), w)| x.as_f64() * dy.as_f64() * w.as_f64()).sum();
        let shift = r * r * r * dot / x.len() as f64;
        for (i, dx) in dx.iter_mut().enumerate() {
            *dx = T::from_f64(r * w[i].as_f64() * dy[i].as_f64() - shift * x[i].as_f64());
            sums[i] += dy[i].as_f64() * x[i].as_f64() * r;
        }
    }
    for (dw, sum) in dw.iter_mut().zip(sums) {
        *dw = T::from_f64(sum);
    }
}

// --- tangent
/// `ty` from the tangents `tx` and `tw`.
#[custom_call(T = floats, batch = b)]
fn rms_norm_jvp<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(n)] w: Array<T>,
    #[dims(..b, n)] tx: Array<T>,
    #[dims(n)] tw: Array<T>,
    #[dims(..b, n)] mut ty: Out<T>,
) {
    for ((x, tx), ty) in x.rows().zip(tx.rows()).zip(ty.rows_mut()) {
        let r = inverse_rms(x, eps);
        let dot: f64 = x.iter().zip(tx).map(|(x, tx)| x.as_f64() * tx.as_f64()).sum();
        let shift = r * r * r * dot / x.len() as f64;
        for (i, ty) in ty.iter_mut().enumerate() {
            let (x, w) = (x[i].as_f64(), w[i].as_f64());
            *ty = T::from_f64(r * (tw[i].as_f64() * x + w * tx[i].as_f64()) - shift * w * x);
        }
    }
}
