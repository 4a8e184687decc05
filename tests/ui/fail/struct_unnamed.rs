#![allow(unused)]

use oxcall::AttrStruct;

#[derive(AttrStruct)]
struct Config(f32);

fn main() {}
