#![allow(unused)]

use oxcall::AttrEnum;

#[derive(AttrEnum)]
enum Mode {
    Fast,
    #[attr(name = "fast")]
    Quick,
}

fn main() {}
