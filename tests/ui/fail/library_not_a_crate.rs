#![allow(unused)]

oxcall::library! { ops: ["core"] }

fn main() {}
