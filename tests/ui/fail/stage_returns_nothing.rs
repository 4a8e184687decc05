#![allow(unused)]

use oxcall::prelude::*;

#[stage(instantiate)]
fn make() {}

fn main() {}
