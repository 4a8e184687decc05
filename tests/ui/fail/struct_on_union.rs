#![allow(unused)]

use oxcall::AttrStruct;

#[derive(AttrStruct)]
union Config {
    a: f32,
}

fn main() {}
