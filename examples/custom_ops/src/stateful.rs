//! States: what is made once for each executable and shared by its executions.
//!
//! XLA runs the instantiate stage when a program is compiled or loaded, with the attributes but without buffers. What
//! the stage returns is kept by the host and borrowed by every execution, which may run on several threads at a time:
//! so a state is `Send + Sync`, and what changes in it is atomic or behind a lock. It is dropped exactly once.

use std::f64::consts::PI;
use std::sync::atomic::{AtomicU64, Ordering};

use oxcall::prelude::*;

use crate::grain;

/// The state of [`counter`](fn@counter).
#[derive(Debug)]
pub struct Counter {
    calls: AtomicU64,
}

/// Makes the counter of one call in a program.
#[stage(instantiate)]
fn new_counter(#[attr(default = 0)] start: u64) -> Counter {
    Counter { calls: AtomicU64::new(start) }
}

/// How many times this call of this executable has run, plus `start`: 1 in the first execution.
///
/// `side_effect` keeps XLA from running the call fewer times than the program says.
///
/// # Errors
/// `OUT_OF_RANGE` once the number exceeds 32 bits, which is what JAX has without its x64 mode.
#[custom_call(instantiate = new_counter, side_effect)]
pub fn counter(#[state] state: &Counter, mut count: ScalarOut<u32>) -> Result<()> {
    let calls = state.calls.fetch_add(1, Ordering::Relaxed) + 1;
    count.set(u32::try_from(calls).map_err(|_| Error::out_of_range(format!("{calls} calls do not fit 32 bits")))?);
    Ok(())
}

/// The state of [`low_pass`](fn@low_pass): the filter's coefficients, computed once.
#[derive(Debug)]
pub struct Filter {
    taps: Vec<f32>,
}

/// Designs a low-pass filter by the window method: the ideal filter's response `2 c sinc(2 c t)`, `t` counted from the
/// middle, times a Hamming window, scaled to gain 1 at frequency 0.
///
/// A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing", section 7.2.
#[stage(instantiate)]
fn design(#[attr] cutoff: f64, #[attr(default = 31)] taps: usize) -> Result<Filter> {
    if !(cutoff > 0.0 && cutoff <= 0.5) {
        return Err(Error::invalid_argument(format!(
            "attribute `cutoff` is {cutoff}, expected more than 0, at most 0.5"
        )));
    }
    if taps == 0 {
        return Err(Error::invalid_argument("attribute `taps` is 0, expected at least 1"));
    }
    let last = (taps - 1).max(1) as f64;
    let mut response: Vec<f64> = (0..taps)
        .map(|k| {
            let t = k as f64 - (taps - 1) as f64 / 2.0;
            let ideal = if t == 0.0 { 2.0 * cutoff } else { (2.0 * PI * cutoff * t).sin() / (PI * t) };
            ideal * (0.54 - 0.46 * (2.0 * PI * k as f64 / last).cos())
        })
        .collect();
    let gain: f64 = response.iter().sum();
    response.iter_mut().for_each(|tap| *tap /= gain);
    Ok(Filter { taps: response.iter().map(|tap| *tap as f32).collect() })
}

/// Low-pass filter along the last axis; only positions where the whole filter fits are computed.
///
/// `cutoff` is the frequency, in cycles a sample, above which the signal is removed: more than 0, at most 0.5
/// (Nyquist). The integer attribute `taps` is also a name in the pattern of the result's shape.
///
/// # Errors
/// `INVALID_ARGUMENT` for a `cutoff` or `taps` out of range, when the program is compiled; for a signal that is shorter
/// than the filter.
#[custom_call(instantiate = design, vmap = "broadcast_all")]
pub fn low_pass(
    #[state] filter: &Filter,
    #[attr(default = 31)] taps: usize,
    #[dims(..b, n)] x: Array<f32>,
    #[dims(..b, n - taps + 1)] mut y: Out<f32>,
    pool: ThreadPool,
) {
    let (n, out) = (x.shape().last().copied().unwrap_or(0), y.shape().last().copied().unwrap_or(0));
    pool.for_each_chunk(&mut y, out, grain(out * taps), |row, y| {
        let x = &x[row * n..][..n];
        // One block of results stays in the first-level cache while all taps are added to it.
        for (block, y) in y.chunks_mut(1024).enumerate() {
            let x = &x[block * 1024..];
            y.fill(0.0);
            for (k, tap) in filter.taps.iter().enumerate() {
                for (y, x) in y.iter_mut().zip(&x[k..]) {
                    *y += tap * x;
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use oxcall::testing::call;

    use crate::testing::{assert_close, numbers};

    use super::*;

    #[test]
    fn each_instance_counts_its_own_runs() {
        let (first, second) =
            (call::<counter>().instance().unwrap(), call::<counter>().attr("start", 10u64).instance());
        let second = second.unwrap();
        let next = |instance: &oxcall::testing::Instance| {
            let none: [f32; 0] = [];
            instance.run(none).unwrap().get::<u32>(0)[[]]
        };
        assert_eq!([next(&first), next(&first), next(&second), next(&first)], [1, 2, 11, 3]);
        let error = call::<counter>().attr("start", u64::from(u32::MAX)).run().unwrap_err();
        assert_eq!(error.code(), Code::OutOfRange);
    }

    #[test]
    fn counts_are_exact_under_many_threads() {
        let instance = call::<counter>().instance().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|_| drop(instance.run([0f32; 0]).unwrap())));
            }
        });
        assert_eq!(instance.run([0f32; 0]).unwrap().get::<u32>(0)[[]], 801);
    }

    #[test]
    fn filters_as_the_sum_says() {
        for (n, taps) in [(1, 1), (31, 31), (200, 31), (2500, 7), (3000, 2)] {
            let x: Vec<f32> = numbers(n);
            let instance = call::<low_pass>().attr("cutoff", 0.1).attr("taps", taps as i64).instance().unwrap();
            let y = instance.run([x.as_slice()]).unwrap().get::<f32>(0);
            let filter = design(0.1, taps).unwrap();
            let expected: Vec<f64> = (0..=n - taps)
                .map(|i| filter.taps.iter().zip(&x[i..]).map(|(tap, x)| f64::from(*tap) * f64::from(*x)).sum())
                .collect();
            assert_close(y.as_slice().unwrap(), &expected, 1e-6);
        }
    }

    /// A constant passes, a tone far above the cutoff does not.
    #[test]
    fn the_filter_is_low_pass() {
        let tone: Vec<f32> = (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let run = |x: Vec<f32>| call::<low_pass>().arg(x).attr("cutoff", 0.1).run().unwrap().get::<f32>(0);
        assert!(run(vec![1.0; 100]).iter().all(|y| (y - 1.0).abs() < 1e-6));
        assert!(run(tone).iter().all(|y| y.abs() < 0.01));
    }

    #[test]
    fn mistakes_are_found_when_the_program_is_compiled() {
        let error = call::<low_pass>().attr("cutoff", 0.7).instance().unwrap_err();
        assert!(error.message().contains("`cutoff` is 0.7"), "{error}");
        let error = call::<low_pass>().arg([0f32; 5]).attr("cutoff", 0.1).run().unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    }
}
