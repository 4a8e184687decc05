//! Operations with parameters of every kind. They touch all memory that they are given.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use oxcall::descriptor::{Handler, Op};
use oxcall::element::{S4, U2};
use oxcall::prelude::*;

/// Everything that is fuzzed.
pub(crate) const ALL: [&Handler; 18] = [
    typed::HANDLER,
    norm::HANDLER,
    matmul::HANDLER,
    blocks::HANDLER,
    untyped::HANDLER,
    views::HANDLER,
    slices::HANDLER,
    scalars::HANDLER,
    optional::HANDLER,
    variadic::HANDLER,
    in_place::HANDLER,
    packed::HANDLER,
    tokens::HANDLER,
    attributes::HANDLER,
    stateful::HANDLER,
    later::HANDLER,
    contexts::HANDLER,
    device::HANDLER,
];

#[custom_call(legacy)]
fn typed(#[dims(..b, n)] x: Array<f32>, #[dims(..b, n)] mut y: Out<f32>) {
    for (x, y) in x.rows().take(100).zip(y.rows_mut()) {
        y.copy_from_slice(x);
    }
}

#[custom_call(T = floats, U = [i32, u8], legacy)]
fn norm<T: Float, U: Number>(
    #[attr(default = 1e-5)] eps: f32,
    #[attr] scale: Option<T>,
    #[dims(..b, n)] x: Array<T>,
    #[dims(n)] index: Array<U, Rank<1>>,
    #[dims(..b, n)] mut y: Out<T>,
    #[dims(n)] mut z: Out<U>,
) -> Result<()> {
    if eps.is_nan() {
        return Err(Error::invalid_argument("eps is NaN"));
    }
    let scale = scale.map_or(1.0, Float::as_f64);
    for (x, y) in x.iter().zip(y.iter_mut()) {
        *y = T::from_f64(x.as_f64() * scale + f64::from(eps));
    }
    z.copy_from_slice(&index);
    Ok(())
}

#[custom_call]
fn matmul(#[dims(..b, m, k)] x: Array<f64>, #[dims(..b, k, n)] y: Array<f64>, #[dims(..b, m, n)] mut z: Out<f64>) {
    let sum: f64 = x.iter().chain(y.iter()).sum();
    z.fill(sum);
}

#[custom_call(legacy)]
fn blocks(
    #[attr] k: i64,
    #[attr(default = 2)] j: u8,
    #[dims(n, _)] x: Array<i16>,
    #[dims(n / k, j + 1)] mut y: Out<i16>,
    #[dims(.., n * k - n % 2)] mut z: Out<i64>,
) {
    y.fill(x.iter().fold(0, |sum, x| sum.wrapping_add(*x)));
    z.fill(k + i64::from(j));
}

#[custom_call]
fn untyped(x: AnyArray, mut y: AnyOut) -> Result<()> {
    if x.size_in_bytes() == y.size_in_bytes() {
        y.copy_from_bytes(x.as_bytes());
        return Ok(());
    }
    let x = x.cast::<bool>()?;
    y.cast_mut::<u32>()?.fill(x.iter().filter(|x| **x).count() as u32);
    Ok(())
}

#[custom_call]
fn views(
    x: ArrayView2<f32>,
    y: ArrayViewD<u16>,
    flags: ArrayViewD<bool>,
    mut z: ArrayViewMutD<f64>,
    mut s: ArrayViewMut0<i64>,
) {
    z.fill(f64::from(x.sum()));
    s.fill(y.iter().map(|y| i64::from(*y)).sum::<i64>() + flags.iter().filter(|flag| **flag).count() as i64);
}

#[custom_call(legacy)]
fn slices(a: &[u32], b: &[Complex<f32>], y: &mut [Complex<f64>], z: &mut [u8]) {
    let sum = b.iter().fold(0f32, |sum, b| sum + b.re);
    y.fill(Complex::new(f64::from(sum), a.len() as f64));
    z.fill(a.first().map_or(0, |a| *a as u8));
}

#[custom_call]
fn scalars(a: Scalar<bool>, b: Scalar<f16>, c: Scalar<S4>, mut y: ScalarOut<bool>, mut z: ScalarOut<U2>) {
    y.set(*a != b.is_nan());
    z.set(U2::wrapping(c.get().get() as u8));
}

#[custom_call]
fn optional(
    #[dims(..b, n)] x: Array<f32>,
    #[dims(n)] w: Option<Array<f32>>,
    flag: Option<Scalar<bool>>,
    #[dims(..b, n)] mut y: Out<f32>,
    #[dims(..b)] z: Option<Out<i32>>,
) {
    let sum: f32 = w.map_or(0.0, |w| w.iter().sum());
    y.fill(x.iter().sum::<f32>() + sum + flag.map_or(0.0, |flag| f32::from(*flag)));
    if let Some(mut z) = z {
        z.fill(1);
    }
}

#[custom_call]
fn variadic(#[dims(..s)] first: Array<u8>, #[dims(..s)] xs: Variadic<Array<u8>>, ys: Variadic<AnyOut>) -> Result<()> {
    let sum = first.iter().chain(xs.iter().flat_map(|x| x.iter())).fold(0u8, |sum, x| sum.wrapping_add(*x));
    for mut y in ys {
        match y.dtype() {
            DType::Pred => y.cast_mut::<bool>()?.fill(sum > 0),
            _ => y.as_bytes_mut().fill(sum),
        }
    }
    Ok(())
}

#[custom_call(T = [f32, bool, i64, S4])]
fn in_place<T: Element>(mut x: InOut<T>, #[dims(..s)] other: Array<T>, #[dims(..s)] mut y: Out<T>) {
    let bytes = other.as_bytes();
    if other.is_empty() || x.is_empty() {
        return;
    }
    // SAFETY: there is a first element.
    let first = unsafe { T::load(bytes.as_ptr(), 0) };
    y.fill(first);
    for index in 0..x.len() {
        x.set(index, first);
    }
}

#[custom_call]
fn packed(#[dims(..s)] x: Array<S4>, #[dims(..s)] y: &mut [i8], #[dims(..s)] mut z: Out<U2>) {
    for (index, (x, y)) in x.iter().zip(y.iter_mut()).enumerate() {
        *y = x.get();
        z.set(index, U2::wrapping(x.get() as u8));
    }
}

#[custom_call(side_effect)]
fn tokens(_a: Token, #[dims(..s)] x: Array<i8>, _b: TokenOut, #[dims(..s)] mut y: Out<i8>) {
    y.fill(x.iter().fold(0, |sum, x| sum ^ x));
}

#[derive(AttrEnum, Clone, Copy)]
enum Mode {
    Fast,
    Precise = 7,
}

#[derive(AttrStruct)]
struct Window<'a> {
    size: [i64; 2],
    #[attr(default = 1)]
    stride: i16,
    label: Option<&'a str>,
    mode: Option<Mode>,
}

#[derive(AttrStruct)]
struct Config<'a> {
    window: Window<'a>,
    extra: Option<Dict<'a>>,
}

#[custom_call(legacy)]
fn attributes(
    #[attr] flag: bool,
    #[attr] int: i32,
    #[attr] size: Option<usize>,
    #[attr] double: f64,
    #[attr(default = bf16::ONE)] half: bf16,
    #[attr] z: Option<Complex<f32>>,
    #[attr] text: &str,
    #[attr] list: Vec<i64>,
    #[attr] slice: Option<&[f32]>,
    #[attr] flags: Option<&[bool]>,
    #[attr] mode: Mode,
    #[attr] config: Option<Config<'_>>,
    #[attr] any: Option<AttrValue<'_>>,
    #[attr] pointer: Option<Pointer<u8>>,
    #[attr(rest)] rest: Dict<'_>,
    mut y: ScalarOut<f64>,
) -> Result<()> {
    let mut sum = f64::from(u8::from(flag)) + f64::from(int) + size.unwrap_or(0) as f64 + double + f64::from(half);
    sum += z.map_or(0.0, |z| f64::from(z.re)) + text.chars().count() as f64 + list.iter().sum::<i64>() as f64;
    sum += slice.map_or(0.0, |slice| f64::from(slice.iter().sum::<f32>()));
    sum += flags.map_or(0, |flags| flags.iter().filter(|flag| **flag).count()) as f64 + f64::from(mode as i32);
    if let Some(Config { window, extra }) = config {
        sum += (window.size[0] ^ window.size[1]) as f64 + f64::from(window.stride);
        sum += window.label.map_or(0, str::len) as f64 + window.mode.map_or(0, |mode| mode as i32) as f64;
        sum += extra.map_or(0, |extra| walk(extra, 8)) as f64;
    }
    sum += format!("{any:?}{rest:?}").len() as f64 + pointer.map_or(0, |pointer| pointer.addr()) as f64;
    sum += walk(rest, 8) as f64 + rest.get::<i64>("extra")?.unwrap_or(0) as f64;
    y.set(sum);
    Ok(())
}

/// Looks at everything in a dictionary, down to a depth.
fn walk(dict: Dict<'_>, depth: usize) -> usize {
    let entry = |(name, attr): (&str, oxcall::attr::Attr<'_>)| {
        name.len()
            + match attr.value() {
                Ok(AttrValue::Dictionary(dict)) if depth > 0 => walk(dict, depth - 1),
                Ok(AttrValue::Array(array)) => (0..array.len()).filter_map(|i| array.get(i)).count(),
                Ok(AttrValue::String(text)) => text.len(),
                other => format!("{other:?}").len(),
            }
    };
    dict.iter().map(entry).sum()
}

struct Calls(AtomicU64);

#[stage(instantiate)]
fn start(#[attr(default = 0)] from: u64, #[attr] name: Option<&str>) -> Result<Calls> {
    match name {
        Some("") => Err(Error::invalid_argument("no name")),
        Some("panic") => panic!("asked to"),
        _ => Ok(Calls(AtomicU64::new(from))),
    }
}

struct Once(u64);

#[stage(initialize)]
fn once(#[state] calls: &Calls) -> Once {
    Once(calls.0.load(Relaxed))
}

#[custom_call(instantiate = start, initialize = once)]
fn stateful(#[state] calls: &Calls, #[state(initialize)] once: &Once, x: Scalar<u64>, mut y: ScalarOut<u64>) {
    y.set(x.wrapping_add(calls.0.fetch_add(1, Relaxed)).wrapping_add(once.0));
}

#[custom_call]
fn later<'f>(
    #[attr(default = 0)] how: u8,
    #[dims(..s)] x: Array<'f, f32>,
    #[dims(..s)] mut y: Out<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    let future = later.spawn_with(
        move || {
            y.copy_from_slice(&x);
            match how {
                1 => Err(Error::cancelled("later")),
                2 => panic!("later"),
                _ => Ok(()),
            }
        },
        |job| if how == 3 { drop(job) } else { job() },
    )?;
    if how == 4 { Err(Error::internal("after all")) } else { Ok(future) }
}

#[custom_call]
fn contexts(#[attr(default = 7)] which: u8, context: Context, #[dims(4)] mut y: Out<i64>) -> Result<()> {
    y.fill(0);
    if which & 1 != 0 {
        y[0] = context.get::<RunId>()?.0 + i64::from(context.get::<DeviceOrdinal>()?.0);
    }
    if which & 2 != 0 {
        let pool: ThreadPool = context.get()?;
        let out: &mut [i64] = &mut y;
        pool.for_each_chunk(out, 1, 1, |index, piece| piece.fill(index as i64));
    }
    if which & 4 != 0 {
        let scratch: Scratch = context.get()?;
        let mut memory = scratch.allocate(64, 16)?;
        // SAFETY: the memory is the heap's.
        unsafe { memory.as_mut_ptr().write_bytes(1, 64) };
    }
    if which & 8 != 0 {
        y[1] = walk(*context.get::<CustomOptions>()?, 4) as i64;
    }
    if which & 16 != 0 {
        y[2] = context.extension(128)?.struct_size() as i64;
    }
    if which & 32 != 0 {
        y[3] = context.get::<Stream>()?.as_ptr().addr() as i64;
    }
    Ok(())
}

#[custom_call(platform = "CUDA", legacy)]
fn device(
    #[dims(n)] x: DeviceArray<f32>,
    #[dims(n)] mut io: DeviceInOut<f32>,
    #[dims(n, 2)] mut y: DeviceOut<i8>,
) -> Result<()> {
    if x.as_ptr().is_null() || io.as_mut_ptr().is_null() || y.as_mut_ptr().is_null() {
        return Err(Error::internal("null"));
    }
    Ok(())
}
