//! The ops of this crate, on the CPU; on GPUs of NVIDIA they are in `cuda.rs`.

use oxcall::prelude::*;

mod cuda;

/// Logarithm of softmax over the last axis: `y = x - ln(sum(exp(x)))`.
#[custom_call(T = floats, batch = b, vjp = log_softmax_vjp)]
fn log_softmax<T: Float>(#[dims(..b, n)] x: Array<T>, #[dims(..b, n)] mut y: Out<T>) {
    for (x, y) in x.rows().zip(y.rows_mut()) {
        // Taken out of the sum, which would overflow.
        let top = x
            .iter()
            .map(|x| x.as_f64())
            .fold(f64::NEG_INFINITY, f64::max);
        let log_sum = x.iter().map(|x| (x.as_f64() - top).exp()).sum::<f64>().ln();
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::from_f64(x.as_f64() - top - log_sum);
        }
    }
}

/// The gradient of `log_softmax`: `dx` from the result `y` and its cotangent `dy`.
#[custom_call(T = floats, batch = b)]
fn log_softmax_vjp<T: Float>(
    #[dims(..b, n)] y: Array<T>,
    #[dims(..b, n)] dy: Array<T>,
    #[dims(..b, n)] mut dx: Out<T>,
) {
    for ((y, dy), dx) in y.rows().zip(dy.rows()).zip(dx.rows_mut()) {
        let total: f64 = dy.iter().map(|dy| dy.as_f64()).sum();
        for ((dx, y), dy) in dx.iter_mut().zip(y).zip(dy) {
            *dx = T::from_f64(dy.as_f64() - y.as_f64().exp() * total);
        }
    }
}

#[cfg(test)]
mod tests {
    use oxcall::registry::registry;
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn large_elements_do_not_overflow() {
        let outputs = call::<log_softmax>().arg([1000f64, 0.0]).run().unwrap();
        assert_eq!(outputs.get::<f64>(0).as_slice().unwrap(), [0.0, -1000.0]);
    }

    #[test]
    fn both_platforms_have_each_op() {
        for name in ["log_softmax", "log_softmax_vjp"] {
            for platform in ["Host", "CUDA"] {
                assert!(
                    registry().find(name, platform).is_some(),
                    "{name} on {platform}"
                );
            }
        }
    }
}
