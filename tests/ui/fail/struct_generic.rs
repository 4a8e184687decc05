#![allow(unused)]

use oxcall::AttrStruct;

#[derive(AttrStruct)]
struct Config<T> {
    a: T,
}

fn main() {}
