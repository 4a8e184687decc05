#![allow(unused)]

use oxcall::AttrEnum;

#[derive(AttrEnum)]
enum Mode {
    Fast = 1,
    Precise = 1,
}

fn main() {}
