//! Completion from another thread.
//!
//! A handler that takes [`Async`] may return before its work is done. The host keeps the buffers alive and waits for
//! the future; an error or a panic on the other thread becomes the call's error, and a dropped promise does too.
//!
//! `later.spawn(work)` would start a thread for each call, which takes longer than scaling a small array. Here the
//! thread is a state: one for each call in a program, as long as its executable lives.

use std::sync::mpsc;
use std::thread;

use multiversion::multiversion;
use oxcall::prelude::*;

/// What a worker does: a call's work with its completion.
type Job = Box<dyn FnOnce() + Send>;

/// A thread that does jobs one after the other. It ends when the worker is dropped, after the jobs that it still has.
#[derive(Debug)]
pub struct Worker {
    jobs: mpsc::Sender<Job>,
}

/// Starts the thread, when the program is compiled.
#[stage(instantiate)]
fn start_worker() -> Result<Worker> {
    let (jobs, received) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("async_scale".to_owned())
        .spawn(move || received.into_iter().for_each(|job| job()))
        .map_err(|error| Error::resource_exhausted(format!("no thread to work on: {error}")))?;
    Ok(Worker { jobs })
}

/// `y = factor * x`, on a worker thread.
///
/// The lifetime `'f` is that of the call's buffers: it says that they may be used until the future is complete.
#[custom_call(instantiate = start_worker)]
pub fn async_scale<'f>(
    #[state] worker: &Worker,
    #[attr(default = 2.0)] factor: f32,
    #[dims(..s)] x: Array<'f, f32>,
    #[dims(..s)] mut y: Out<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    let work = move || {
        if factor.is_nan() {
            return Err(Error::invalid_argument("attribute `factor` is NaN"));
        }
        scale(factor, &x, &mut y);
        Ok(())
    };
    // A job that comes back because there is no thread is dropped, which completes the call with an error.
    later.spawn_with(work, |job| drop(worker.jobs.send(job)))
}

#[multiversion(targets = "simd")]
fn scale(factor: f32, x: &[f32], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = factor * x;
    }
}

#[cfg(test)]
mod tests {
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn scales_on_another_thread() {
        let outputs = call::<async_scale>().arg([1f32, -2.0, 0.5]).attr("factor", 3.0).run().unwrap();
        assert_eq!(outputs.get::<f32>(0).as_slice().unwrap(), [3.0, -6.0, 1.5]);
        assert!(call::<async_scale>().arg([0f32; 0]).run().unwrap().get::<f32>(0).is_empty());
    }

    #[test]
    fn errors_of_the_thread_are_the_calls() {
        let error = call::<async_scale>().arg([1f32]).attr("factor", f64::NAN).run().unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(error.message(), "async_scale: attribute `factor` is NaN");
    }

    /// Calls from several threads share one worker, which goes on after a job that fails.
    #[test]
    fn the_worker_outlives_its_jobs() {
        let good = call::<async_scale>().attr("factor", 3.0).instance().unwrap();
        thread::scope(|scope| {
            for start in 0..8 {
                let good = &good;
                scope.spawn(move || {
                    for i in 0..50 {
                        let x = (start * 50 + i) as f32;
                        assert_eq!(good.run([[x]]).unwrap().get::<f32>(0)[[0]], 3.0 * x);
                    }
                });
            }
        });
        let bad = call::<async_scale>().attr("factor", f64::NAN).instance().unwrap();
        for _ in 0..3 {
            assert_eq!(bad.run([[1f32]]).unwrap_err().code(), Code::InvalidArgument);
        }
    }
}
