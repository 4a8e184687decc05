#![allow(unused)]

use oxcall::AttrStruct;

#[derive(AttrStruct)]
enum Config {
    A,
}

fn main() {}
