//! Helpers that the tests share: a client of the C API, and a platform to serve it.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod client;
pub(crate) mod programs;
pub(crate) mod toy;
