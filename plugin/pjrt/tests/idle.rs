//! A client that nobody uses costs nothing. The only test of its process, since it counts threads.

mod common;

use common::client::{PLUGIN, Plugin};

/// A field of `/proc/self/status`.
#[cfg(target_os = "linux")]
fn status(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).expect("Linux says it");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

/// Creating a client starts no thread and reserves no memory; neither does a transfer start threads.
#[cfg(target_os = "linux")]
#[test]
fn a_client_starts_no_thread_and_reserves_no_memory() {
    let plugin = Plugin::get();
    if std::env::var_os(PLUGIN).is_none() {
        return; // The toy has a thread for each of its devices.
    }
    let before = (status("Threads"), status("VmSize"));
    let clients: Vec<_> = (0..4).map(|_| plugin.client()).collect();
    let kilobytes = status("VmSize") - before.1;
    assert!(kilobytes <= 1024, "{kilobytes} KiB for four clients");
    let buffer = clients[0].put(&[1, 2, 3, 4], clients[0].devices()[0]);
    let increment = clients[0].compile(plugin.programs.increment);
    assert_eq!(increment.run(&[&buffer]).unwrap().integers().unwrap(), [2, 3, 4, 5]);
    assert_eq!(status("Threads"), before.0, "a small program starts no thread either");
}
