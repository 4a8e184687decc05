//! The operations of the pages under `docs/coming-from`, by which their Python snippets run.

#![forbid(unsafe_code)]

oxcall::namespace!("my_ops");

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
