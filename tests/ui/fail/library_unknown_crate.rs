#![allow(unused)]

oxcall::library! { ops: [no_such_crate] }

fn main() {}
