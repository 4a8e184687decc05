//! Threads for one large matrix.
//!
//! `faer` divides its loops by rayon. A handler may run on any thread of the host, so rayon has threads of its own,
//! which start with the first large matrix.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Calls `work` with the number of threads of rayon that it may use, at most `most`: on one of them, if there are
/// several.
pub(crate) fn with_threads<R: Send>(most: usize, work: impl FnOnce(usize) -> R + Send) -> R {
    if rayon::current_thread_index().is_some() {
        return work(rayon::current_num_threads().min(most));
    }
    match workers(most) {
        Some(workers) => workers.install(|| work(workers.current_num_threads().min(most))),
        None => work(1),
    }
}

/// The threads: as many as the first host has that has several. `None` if the system refuses to start them.
fn workers(most: usize) -> Option<&'static ThreadPool> {
    static WORKERS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    if most < 2 {
        return None;
    }
    let start = || {
        let name = |index| format!("oxcall-linalg-{index}");
        ThreadPoolBuilder::new().num_threads(most).thread_name(name).build().ok()
    };
    WORKERS.get_or_init(start).as_ref()
}

#[cfg(test)]
mod tests {
    use super::with_threads;

    #[test]
    fn work_runs_where_rayon_divides_it() {
        assert_eq!(with_threads(1, |threads| (threads, rayon::current_thread_index())), (1, None));
        let inner = || with_threads(2, |threads| (threads, std::thread::current().id()));
        let (threads, index, inner, outer) =
            with_threads(2, |threads| (threads, rayon::current_thread_index(), inner(), std::thread::current().id()));
        assert!(threads == 2 && index.is_some());
        assert_eq!(inner, (2, outer), "rayon's threads keep their work");
    }
}
