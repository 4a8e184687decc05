#![allow(unused)]

use oxcall::AttrStruct;

#[derive(AttrStruct)]
struct Config {
    a: f32,
    #[attr(name = "a")]
    b: f32,
}

fn main() {}
