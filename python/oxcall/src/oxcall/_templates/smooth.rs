//! The ops of this crate.

use std::f64::consts::PI;

use oxcall::prelude::*;

/// The filter's weights, computed once for each compiled program.
struct Filter {
    weights: Vec<f64>,
}

/// Computes the weights of a Hann window, scaled to a sum of 1.
#[stage(instantiate)]
fn hann(#[attr] taps: usize) -> Result<Filter> {
    if taps == 0 {
        return Err(Error::invalid_argument(
            "attribute `taps` is 0, expected at least 1",
        ));
    }
    let window = |tap: usize| (PI * (tap + 1) as f64 / (taps + 1) as f64).sin().powi(2);
    let sum: f64 = (0..taps).map(window).sum();
    Ok(Filter {
        weights: (0..taps).map(|tap| window(tap) / sum).collect(),
    })
}

/// Smooths the last axis with a Hann window of `taps` elements. The result is `taps - 1` elements shorter.
#[custom_call(T = floats, instantiate = hann, batch = b, vjp = smooth_vjp)]
fn smooth<T: Float>(
    #[state] filter: &Filter,
    #[attr] taps: usize,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n - taps + 1)] mut y: Out<T>,
) {
    for (x, y) in x.rows().zip(y.rows_mut()) {
        for (y, x) in y.iter_mut().zip(x.windows(taps)) {
            let sum: f64 = x
                .iter()
                .zip(&filter.weights)
                .map(|(x, weight)| x.as_f64() * weight)
                .sum();
            *y = T::from_f64(sum);
        }
    }
}

/// The gradient of `smooth`: `dx` from the cotangent `dy` of the result.
#[custom_call(T = floats, instantiate = hann, batch = b)]
fn smooth_vjp<T: Float>(
    #[state] filter: &Filter,
    #[attr] taps: usize,
    #[dims(..b, m)] dy: Array<T>,
    #[dims(..b, m + taps - 1)] mut dx: Out<T>,
) {
    for (dy, dx) in dy.rows().zip(dx.rows_mut()) {
        let mut sums = vec![0.0; dx.len()];
        for (at, dy) in dy.iter().enumerate() {
            for (sum, weight) in sums[at..].iter_mut().zip(&filter.weights) {
                *sum += dy.as_f64() * weight;
            }
        }
        for (dx, sum) in dx.iter_mut().zip(sums) {
            *dx = T::from_f64(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn straight_lines_stay() {
        let outputs = call::<smooth>()
            .attr("taps", 3i64)
            .arg([1f64, 2.0, 3.0, 4.0])
            .run()
            .unwrap();
        let y = outputs.get::<f64>(0);
        assert!(
            y.len() == 2 && (y[[0]] - 2.0).abs() < 1e-12 && (y[[1]] - 3.0).abs() < 1e-12,
            "{y}"
        );
    }

    #[test]
    fn weights_are_checked_when_a_program_is_compiled() {
        let error = call::<smooth>().attr("taps", 0i64).instance().unwrap_err();
        assert!(
            error
                .message()
                .contains("attribute `taps` is 0, expected at least 1"),
            "{error}"
        );
    }
}
