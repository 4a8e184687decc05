//! Everything that an operation can express, through the macros and real call frames.

mod aliases;
mod arrays;
mod asynchronous;
mod attrs;
mod contexts;
mod conversions;
mod dims;
mod dtypes;
mod errors;
mod frames;
mod host;
mod metadata;
mod panics;
mod states;

use oxcall::Error;
use oxcall::host::HostVersion;
use oxcall::testing::Call;

/// Every host; under Miri, which takes its time, one of each kind.
const HOSTS: &[HostVersion] =
    if cfg!(miri) { &[HostVersion::V0_4_34, HostVersion::V0_8_1, HostVersion::V0_12] } else { &HostVersion::ALL };

/// The error of a call that must fail.
#[track_caller]
fn error(call: Call) -> Error {
    match call.run() {
        Ok(outputs) => panic!("the call did not fail: {outputs:?}"),
        Err(error) => error,
    }
}

/// The message of a call that must fail; it holds every one of `parts`.
#[track_caller]
fn says(call: Call, parts: &[&str]) -> String {
    let message = error(call).message().to_owned();
    for part in parts {
        assert!(message.contains(part), "expected {part:?} in {message:?}");
    }
    message
}
