#![allow(unused)]

use oxcall::AttrStruct;

#[derive(AttrStruct)]
struct Config {
    #[attr(default = 1.0)]
    a: Option<f32>,
}

fn main() {}
