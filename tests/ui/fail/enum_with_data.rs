#![allow(unused)]

use oxcall::AttrEnum;

#[derive(AttrEnum)]
enum Mode {
    Fast(i32),
    Precise,
}

fn main() {}
