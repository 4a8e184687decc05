//! `crate = path` for a crate that re-exports oxcall.

#![allow(unused)]

mod facade {
    pub use oxcall as inner;
}

use facade::inner::{AttrEnum, AttrStruct};
use facade::inner::prelude::*;

#[derive(AttrEnum)]
#[attr(crate = crate::facade::inner)]
enum Mode {
    A,
}

#[derive(AttrStruct)]
#[attr(crate = crate::facade::inner)]
struct Config {
    mode: Mode,
}

struct State;

#[stage(instantiate, crate = crate::facade::inner)]
fn make() -> State {
    State
}

#[custom_call(crate = crate::facade::inner, instantiate = make, T = floats)]
fn renamed<T: Float>(#[attr] config: Config, #[state] s: &State, x: Array<T>, mut y: Out<T>) {}

fn main() {}
