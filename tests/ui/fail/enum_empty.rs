#![allow(unused)]

use oxcall::AttrEnum;

#[derive(AttrEnum)]
enum Mode {}

fn main() {}
