//! Donation of arguments.

use std::sync::atomic::{AtomicUsize, Ordering};

use oxcall_pjrt::Code;

use crate::common::client::{Plugin, Start};

#[test]
fn donated_arguments_are_deleted() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment_donated);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let output = loaded.run(&[&buffer]).unwrap();
    assert!(buffer.is_deleted());
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
    loaded.run(&[&buffer]).err().unwrap().expect(Code::InvalidArgument, "deleted or donated");
}

#[test]
fn the_caller_may_forbid_donation() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment_donated);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let start = Start { non_donatable: &[0], ..Start::default() };
    for _ in 0..2 {
        let (output, _done) = loaded.run_with(&[&buffer], &start).unwrap();
        assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
        assert!(!buffer.is_deleted());
    }
    assert_eq!(buffer.integers().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn what_has_an_external_reference_is_not_donated() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment_donated);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    buffer.increase_references().unwrap();
    assert_eq!(loaded.run(&[&buffer]).unwrap().integers().unwrap(), [2, 3, 4, 5]);
    assert!(!buffer.is_deleted());
    assert_eq!(buffer.integers().unwrap(), [1, 2, 3, 4]);
    buffer.decrease_references().unwrap();
    assert_eq!(loaded.run(&[&buffer]).unwrap().integers().unwrap(), [2, 3, 4, 5]);
    assert!(buffer.is_deleted());
}

#[test]
fn one_buffer_twice() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let both = client.compile(plugin.programs.sum_both_donated);
    let failed = both.run(&[&buffer, &buffer]).err().unwrap();
    failed.expect(Code::InvalidArgument, "Attempt to donate the same buffer twice in Execute()");
    let second = client.compile(plugin.programs.sum_second_donated);
    let failed = second.run(&[&buffer, &buffer]).err().unwrap();
    failed.expect(Code::InvalidArgument, "Attempt to donate a buffer which is also used by the same call to Execute()");
    assert_eq!(buffer.integers().unwrap(), [1, 2, 3, 4]);
    let other = client.put(&[10, 20, 30, 40], client.devices()[0]);
    assert_eq!(both.run(&[&buffer, &other]).unwrap().integers().unwrap(), [11, 22, 33, 44]);
    assert!(buffer.is_deleted() && other.is_deleted());
}

/// A buffer may come twice if nobody gives it away, whatever is donated beside it.
#[test]
fn one_buffer_twice_beside_a_donated_one() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let second = client.compile(plugin.programs.sum_second_donated);
    let start = Start { non_donatable: &[1], ..Start::default() };
    let (output, _done) = second.run_with(&[&buffer, &buffer], &start).unwrap();
    assert_eq!(output.integers().unwrap(), [2, 4, 6, 8]);
    for _ in 0..8 {
        // The order of addresses, in which buffers are locked, is not that of arguments.
        let [low, high] = [1, 10].map(|factor| client.put(&[factor; 4], client.devices()[0]));
        let output = second.run(&[&low, &high]).unwrap();
        assert_eq!((output.integers().unwrap(), low.is_deleted(), high.is_deleted()), (vec![11; 4], false, true));
        second.run(&[&low, &high]).err().unwrap().expect(Code::InvalidArgument, "argument 1 to replica 0");
        let output = second.run(&[&output, &low]).unwrap();
        assert_eq!((output.integers().unwrap(), low.is_deleted()), (vec![12; 4], true));
    }
}

/// Users may come too late, but never see the donated memory change; of two donors one succeeds.
#[test]
fn users_race_with_donors() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let using = client.compile(plugin.programs.increment);
    let donating = client.compile(plugin.programs.increment_donated);
    let rounds = if cfg!(miri) { 2 } else { 20 };
    for _ in 0..rounds {
        let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
        let donated = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..4 {
                        match using.run(&[&buffer]) {
                            Ok(output) => assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]),
                            Err(failure) => failure.expect(Code::InvalidArgument, "deleted or donated"),
                        }
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| match donating.run(&[&buffer]) {
                    Ok(output) => {
                        donated.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
                    }
                    Err(failure) => failure.expect(Code::InvalidArgument, "deleted or donated"),
                });
            }
        });
        assert_eq!(donated.load(Ordering::SeqCst), 1);
        assert!(buffer.is_deleted());
    }
}
