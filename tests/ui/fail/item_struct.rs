#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
struct Op;

fn main() {}
