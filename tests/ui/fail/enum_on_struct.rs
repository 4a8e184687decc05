#![allow(unused)]

use oxcall::AttrEnum;

#[derive(AttrEnum)]
struct Mode {
    fast: bool,
}

fn main() {}
