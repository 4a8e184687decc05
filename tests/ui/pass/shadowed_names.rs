//! Independence of the macros' output from names in the user's scope, and from `unsafe` of the user.

#![forbid(unsafe_code)]
#![allow(unused, non_camel_case_types)]

use oxcall::{AttrEnum, AttrStruct, custom_call};

struct Result;
struct Option;
struct String;
struct Vec;
struct Some;
struct None;
struct Ok;
struct Err;
struct f64;
struct i64;
mod core {}
mod std {}
mod half {}

#[derive(AttrEnum)]
enum Mode {
    A,
    B,
}

#[derive(AttrStruct)]
struct Config {
    fields: f32,
    #[attr(default = 2.0)]
    attr: f32,
}

#[custom_call(T = [floats, complex])]
fn shadowed<T: oxcall::Element>(
    #[attr] mode: Mode,
    #[attr] config: Config,
    x: oxcall::buffer::Array<'_, T>,
    y: oxcall::buffer::Out<'_, T>,
) {
}

fn main() {}
