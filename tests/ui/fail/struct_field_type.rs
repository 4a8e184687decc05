#![allow(unused)]

use oxcall::AttrStruct;

struct Unknown;

#[derive(AttrStruct)]
struct Config {
    a: Unknown,
}

fn main() {}
