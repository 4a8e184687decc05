//! Objects that end in any order, with work in flight, and clients that survive failures.

use std::any::Any;
use std::sync::mpsc;
use std::time::Duration;

use oxcall_pjrt::Code;

use crate::common::client::{Buffer, Client, Plugin, Start, options};

/// The client works: a program compiles and runs.
fn check(client: &Client) {
    let loaded = client.compile(client.plugin.programs.increment);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    assert_eq!(loaded.run(&[&buffer]).unwrap().integers().unwrap(), [2, 3, 4, 5]);
}

/// Every kind of object, while a program runs, each owned by itself; whoever waits for the result is told in any case.
fn in_flight(plugin: &'static Plugin, ended: &mpsc::Sender<()>) -> Vec<Box<dyn Any>> {
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.slow);
    let input = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let (output, done) = loaded.run_with(&[&input], &Start::default()).unwrap();
    let (executable, ready) = (loaded.executable(), output.ready_event());
    for event in [&done, &ready] {
        let ended = ended.clone();
        event.on_ready(move |outcome| {
            outcome.expect("the program ends well, whatever became of its objects");
            ended.send(()).expect("the test waits");
        });
    }
    vec![
        Box::new(client),
        Box::new(loaded),
        Box::new(executable),
        Box::new(input),
        Box::new(output),
        Box::new(done),
        Box::new(ready),
    ]
}

#[test]
fn objects_end_in_any_order_while_a_program_runs() {
    let plugin = Plugin::get();
    let (sender, receiver) = mpsc::channel();
    let (mut first, mut count) = (0, usize::MAX);
    while first < count {
        for backwards in [false, true] {
            let mut objects = in_flight(plugin, &sender);
            count = objects.len();
            objects.rotate_left(first);
            if backwards {
                objects.reverse();
            }
            objects.into_iter().for_each(drop);
            for _ in 0..2 {
                receiver.recv_timeout(Duration::from_secs(60)).expect("the program ends");
            }
        }
        first += 1;
    }
    check(&plugin.client());
}

/// Results share what describes them with their program and with each other, and outlive both.
#[test]
fn results_outlive_their_program_and_each_other() {
    let client = Plugin::get().client();
    let loaded = client.compile(client.plugin.programs.increment);
    let input = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let [first, deleted, last] = [(); 3].map(|()| loaded.run(&[&input]).unwrap());
    let next = loaded.run(&[&first]).unwrap();
    deleted.delete();
    drop((first, loaded, input));
    assert_eq!((deleted.dims(), deleted.is_deleted()), (vec![4], true));
    assert_eq!((last.dims(), last.integers().unwrap()), (vec![4], vec![2, 3, 4, 5]));
    drop((deleted, last));
    assert_eq!((next.dims(), next.integers().unwrap()), (vec![4], vec![3, 4, 5, 6]));
    next.ready_event().wait().unwrap();
}

/// Eight executions, each of which waits for the result of the one before.
fn chain(client: &Client) -> Buffer {
    let slow = client.compile(client.plugin.programs.slow);
    let start = client.put(&[1, 2, 3, 4], client.devices()[0]);
    (0..8).fold(start, |buffer, _| slow.run(&[&buffer]).unwrap())
}

/// Many executions wait for each other's results; nobody waits for the last.
#[test]
fn a_chain_in_flight_is_left_alone() {
    let client = Plugin::get().client();
    drop(chain(&client));
    check(&client);
}

#[test]
fn results_of_a_long_chain_are_right() {
    let client = Plugin::get().client();
    assert_eq!(chain(&client).integers().unwrap(), [9, 10, 11, 12]);
}

#[test]
fn failures_leave_the_client_usable() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    client.compile_as(plugin.programs.format, "this is no program", &options(1)).err().expect("an error");
    check(&client);
    let increment = client.compile(plugin.programs.increment);
    increment.run(&[]).err().expect("an error").expect(Code::InvalidArgument, "");
    check(&client);
    let Some(huge) = plugin.programs.huge else { return };
    let huge = client.compile_as(plugin.programs.format, huge, &options(1));
    let failed = huge.and_then(|huge| huge.run(&[&buffer])).and_then(|output| output.ready_event().wait());
    failed.unwrap_err().expect(Code::ResourceExhausted, "");
    check(&client);
    assert_eq!(buffer.integers().unwrap(), [1, 2, 3, 4]);
}
