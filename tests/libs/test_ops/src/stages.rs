//! States of every stage, and how many of them are alive.

use std::sync::atomic::{AtomicI64, Ordering};

use oxcall::prelude::*;

static MADE: AtomicI64 = AtomicI64::new(0);
static DROPPED: AtomicI64 = AtomicI64::new(0);

/// A state that is counted.
#[derive(Debug)]
pub struct Counted(f32);

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Makes a counted state.
#[stage(instantiate)]
fn count(#[attr(default = 1.0)] factor: f32) -> Counted {
    MADE.fetch_add(1, Ordering::SeqCst);
    Counted(factor)
}

/// Makes a state from the one before it.
#[stage(prepare)]
fn double(#[state] before: &Counted) -> f64 {
    2.0 * f64::from(before.0)
}

/// `y = factor * x`, with the factor in the state.
#[custom_call(instantiate = count)]
pub fn counted_scale(#[state] state: &Counted, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = state.0 * x;
    }
}

/// How many states of `counted_scale` were made, and how many dropped.
#[custom_call(side_effect)]
pub fn states(#[dims(2)] mut numbers: Out<i32, Rank<1>>) -> Result<()> {
    numbers[0] = MADE.load(Ordering::SeqCst).try_into()?;
    numbers[1] = DROPPED.load(Ordering::SeqCst).try_into()?;
    Ok(())
}

/// `y = 2 * factor * x`, with the factor in the state of the prepare stage, which XLA:CPU never runs.
#[custom_call(instantiate = count, prepare = double)]
pub fn prepared_scale(#[state(prepare)] factor: &f64, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = *factor as f32 * x;
    }
}

#[cfg(test)]
mod tests {
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn later_stages_borrow_the_states_of_earlier_ones() {
        let prepared = || call::<prepared_scale>().arg([1f32, 2.0]).attr("factor", 3f32);
        assert_eq!(prepared().run().unwrap().get::<f32>(0).as_slice().unwrap(), [6.0, 12.0]);
        let error = prepared().cpu_stages().run().unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        for part in ["prepared_scale: ", "`factor`", "f64", "prepare", "XLA:CPU runs only"] {
            assert!(error.message().contains(part), "{error}");
        }
    }
}
