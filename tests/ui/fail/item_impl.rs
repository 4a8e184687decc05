#![allow(unused)]

use oxcall::prelude::*;

struct Op;

#[custom_call]
impl Op {}

fn main() {}
