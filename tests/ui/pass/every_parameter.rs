//! Every kind of parameter in one signature, in no particular order.

#![allow(unused)]

use oxcall::{AttrEnum, AttrStruct};
use oxcall::prelude::*;

struct Cache {
    size: i64,
}

#[stage(instantiate)]
fn make_cache(#[attr(default = 16)] size: i64) -> Result<Cache> {
    Ok(Cache { size })
}

struct Plan;

#[stage(prepare)]
fn make_plan(#[state] cache: &Cache) -> Plan {
    Plan
}

#[derive(AttrEnum, Clone, Copy)]
enum Mode {
    Fast,
    #[attr(name = "ieee")]
    Precise = 7,
}

#[derive(AttrStruct)]
struct Config<'a> {
    width: f32,
    label: Option<&'a str>,
    #[attr(default = 3)]
    repeat: i64,
}

#[custom_call(
    T = floats,
    I = [signed, u8],
    name = "tests.every-parameter@1",
    instantiate = make_cache,
    prepare = make_plan,
    vmap = "sequential"
)]
fn every_parameter<T: Float, I: Element>(
    #[attr(default = 1e-5)] eps: f32,
    #[dims(..b, n)] x: Array<T>,
    stream: Context<'_>,
    #[dims(..b, n)] mut y: Out<T>,
    #[dims(k, 4, _)] index: Array<'_, I, Rank<3>>,
    #[attr] k: i64,
    #[attr(name = "the-mode")] mode: Mode,
    #[attr] config: Config<'_>,
    #[attr] scale: Option<T>,
    #[state] cache: &Cache,
    #[dims(n * k, (k + 1) % 7)] mut z: Out<'_, f32, Rank<2>>,
    mut total: ScalarOut<T>,
    mask: Option<Array<u8>>,
    others: Variadic<AnyArray>,
    #[attr(rest)] rest: Dict<'_>,
) -> Result<()> {
    Ok(())
}

fn main() {}
