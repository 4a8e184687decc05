#![allow(unused)]

use oxcall::AttrEnum;

#[derive(AttrEnum)]
enum Mode<T> {
    Fast,
    Precise,
}

fn main() {}
