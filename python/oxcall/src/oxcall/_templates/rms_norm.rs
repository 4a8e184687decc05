//! The ops of this crate.

use oxcall::prelude::*;

/// Root-mean-square norm over the last axis: `y = x / sqrt(mean(x * x) + eps)`.
#[custom_call(T = floats, batch = b, vjp = rms_norm_vjp)]
fn rms_norm<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n)] mut y: Out<T>,
) {
    for (x, y) in x.rows().zip(y.rows_mut()) {
        let scale = inverse_rms(x, eps);
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::from_f64(x.as_f64() * scale);
        }
    }
}

/// The gradient of `rms_norm`: `dx` from the input `x` and the cotangent `dy` of the result.
#[custom_call(T = floats, batch = b)]
fn rms_norm_vjp<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n)] dy: Array<T>,
    #[dims(..b, n)] mut dx: Out<T>,
) {
    for ((x, dy), dx) in x.rows().zip(dy.rows()).zip(dx.rows_mut()) {
        let scale = inverse_rms(x, eps);
        let dot: f64 = x
            .iter()
            .zip(dy)
            .map(|(x, dy)| x.as_f64() * dy.as_f64())
            .sum();
        let shift = scale * scale * scale * dot / x.len() as f64;
        for ((dx, x), dy) in dx.iter_mut().zip(x).zip(dy) {
            *dx = T::from_f64(scale * dy.as_f64() - shift * x.as_f64());
        }
    }
}

fn inverse_rms<T: Float>(x: &[T], eps: f64) -> f64 {
    let mean = x.iter().map(|x| x.as_f64() * x.as_f64()).sum::<f64>() / x.len() as f64;
    (mean + eps).sqrt().recip()
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::array;
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn rows_have_a_root_mean_square_of_one() {
        let x = array![[1f64, 2.0, 3.0], [-4.0, 0.0, 4.0]];
        let outputs = call::<rms_norm>().attr("eps", 0.0).arg(x).run().unwrap();
        for row in outputs.get::<f64>(0).rows() {
            let mean = row.iter().map(|y| y * y).sum::<f64>() / row.len() as f64;
            assert!((mean - 1.0).abs() < 1e-12, "{row}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let error = call::<rms_norm_vjp>()
            .arg([1f32, 2.0])
            .arg([1f32])
            .run()
            .unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(
            error.message().contains("argument `dy` has shape [1]"),
            "{error}"
        );
    }
}
