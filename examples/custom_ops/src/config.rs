//! Attributes that are more than a number.
//!
//! A struct with [`AttrStruct`] is a dictionary in Python, and may hold other structs, enums, arrays
//! and optional entries. A misspelt entry is an error that names the nearest one.

use multiversion::multiversion;
use oxcall::prelude::*;
use oxcall::{AttrEnum, AttrStruct};

use crate::grain;

/// What [`affine`](fn@affine) does to its results. In Python: `"identity"`, `"relu"` or `"abs"`.
#[derive(AttrEnum, Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// Negative results become 0.
    Relu,
    /// Negative results become positive.
    #[attr(name = "abs")]
    Magnitude,
}

/// Bounds of [`affine`](fn@affine)'s results, both included.
#[derive(AttrStruct, Clone, Copy, Debug)]
pub struct Clip {
    /// The least result.
    pub low: f32,
    /// The greatest result.
    pub high: f32,
}

/// What [`affine`](fn@affine) does.
#[derive(AttrStruct, Clone, Debug)]
pub struct Affine {
    /// One factor for each channel.
    pub gains: Vec<f32>,
    /// Added to every channel.
    #[attr(default = 0.0)]
    pub offset: f32,
    /// Bounds; without them the results are not clipped.
    pub clip: Option<Clip>,
    /// Comes last.
    #[attr(default = Activation::Identity)]
    pub activation: Activation,
}

/// `y = activation(clip(gains * x + offset))`, with one gain for each channel, the last axis.
///
/// In Python: `ops.affine(x, config={"gains": [1.0, 0.5], "clip": {"low": -1.0, "high": 1.0}, "activation": "relu"})`.
///
/// # Errors
/// `INVALID_ARGUMENT` if the number of gains is not that of the channels, or the bounds are in the wrong order.
#[custom_call(vmap = "broadcast_all")]
pub fn affine(
    #[attr] config: Affine,
    #[dims(..b, channels)] x: Array<f32>,
    #[dims(..b, channels)] mut y: Out<f32>,
    pool: ThreadPool,
) -> Result<()> {
    let Affine { gains, offset, clip, activation } = config;
    let channels = x.shape().last().copied().unwrap_or(0);
    if gains.len() != channels {
        let given = gains.len();
        return Err(Error::invalid_argument(format!(
            "attribute `config.gains` has {given} numbers, expected one for each of the {channels} channels of `x`"
        )));
    }
    let Clip { low, high } = clip.unwrap_or(Clip { low: f32::NEG_INFINITY, high: f32::INFINITY });
    // `clamp` panics for these.
    if low > high || low.is_nan() || high.is_nan() {
        return Err(Error::invalid_argument(format!(
            "attribute `config.clip`: expected `low` at most `high`, got {low} and {high}"
        )));
    }
    pool.for_each_chunk(&mut y, channels, grain(channels), |row, y| {
        line(&x[row * channels..][..channels], &gains, offset, Clip { low, high }, y);
        activate(activation, y);
    });
    Ok(())
}

#[multiversion(targets = "simd")]
fn line(x: &[f32], gains: &[f32], offset: f32, clip: Clip, y: &mut [f32]) {
    for ((y, x), gain) in y.iter_mut().zip(x).zip(gains) {
        *y = (gain * x + offset).clamp(clip.low, clip.high);
    }
}

/// One loop for each activation, instead of a choice for each element.
#[multiversion(targets = "simd")]
fn activate(activation: Activation, y: &mut [f32]) {
    match activation {
        Activation::Identity => {}
        Activation::Relu => y.iter_mut().for_each(|y| *y = y.max(0.0)),
        Activation::Magnitude => y.iter_mut().for_each(|y| *y = y.abs()),
    }
}

/// The elements that one task of [`polynomial`](fn@polynomial) has at least.
const BLOCK: usize = 1024;
/// The elements that it computes at a time.
const LANES: usize = 16;

/// A polynomial whose coefficients are attributes named `c0`, `c1`, `c2`, ...: `y = c0 + c1 x + c2 x^2 + ...`.
///
/// `#[attr(rest)]` takes the attributes that no other parameter names, as a dictionary.
///
/// # Errors
/// `INVALID_ARGUMENT` for attributes with other names, or degrees above 64.
#[custom_call(T = [f32, f64], vmap = "broadcast_all")]
pub fn polynomial<T: Float>(
    #[attr(rest)] coefficients: Dict<'_>,
    #[dims(..s)] x: Array<T>,
    #[dims(..s)] mut y: Out<T>,
    pool: ThreadPool,
) -> Result<()> {
    let mut terms: Vec<T> = Vec::new();
    for (name, _) in coefficients.iter() {
        let degree = name.strip_prefix('c').and_then(|degree| degree.parse::<usize>().ok()).filter(|&d| d <= 64);
        let degree = degree.ok_or_else(|| {
            Error::invalid_argument(format!("there is no attribute `{name}`; expected `c0` to `c64`"))
        })?;
        if terms.len() <= degree {
            terms.resize(degree + 1, T::default());
        }
        terms[degree] = T::from_f64(coefficients.get::<f64>(name)?.unwrap_or_default());
    }
    pool.for_each_chunk(&mut y, BLOCK, grain(BLOCK), |block, y| {
        evaluate(&terms, &x[block * BLOCK..][..y.len()], y);
    });
    Ok(())
}

#[multiversion(targets = "simd")]
fn evaluate<T: Float>(terms: &[T], x: &[T], y: &mut [T]) {
    let (y, y_rest) = y.as_chunks_mut::<LANES>();
    let (x, x_rest) = x.as_chunks::<LANES>();
    for (y, x) in y.iter_mut().zip(x) {
        *y = horner(terms, x);
    }
    for (y, &x) in y_rest.iter_mut().zip(x_rest) {
        [*y] = horner(terms, &[x]);
    }
}

/// A polynomial of several numbers at once, which stay in vector registers.
#[inline(always)]
fn horner<T: Float, const N: usize>(terms: &[T], x: &[T; N]) -> [T; N] {
    let mut sums = [T::default(); N];
    for &term in terms.iter().rev() {
        for (sum, &x) in sums.iter_mut().zip(x) {
            *sum = *sum * x + term;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use oxcall::host::AttrValue;
    use oxcall::ndarray::array;
    use oxcall::testing::{Call, call};

    use crate::testing::{assert_close, numbers};

    use super::*;

    fn with(entries: Vec<(&str, AttrValue)>) -> Call {
        let entries: Vec<(String, AttrValue)> = entries.into_iter().map(|(name, v)| (name.to_owned(), v)).collect();
        call::<affine>().arg(array![[1f32, 2.5], [-3.0, 3.0]]).attr("config", AttrValue::Dict(entries))
    }

    #[test]
    fn every_entry_counts() {
        let run = |call: Call| call.run().unwrap().get::<f32>(0);
        let gains = || ("gains", AttrValue::from([2f64, 1.0]));
        assert_eq!(run(with(vec![gains()])), array![[2f32, 2.5], [-6.0, 3.0]].into_dyn());
        let clip = AttrValue::from([("low", AttrValue::from(-4f64)), ("high", 3f64.into())]);
        let all = || vec![gains(), ("offset", 1f64.into()), ("clip", clip.clone())];
        assert_eq!(run(with(all())), array![[3f32, 3.0], [-4.0, 3.0]].into_dyn());
        let relu = [all(), vec![("activation", "relu".into())]].concat();
        assert_eq!(run(with(relu)), array![[3f32, 3.0], [0.0, 3.0]].into_dyn());
        let magnitude = [all(), vec![("activation", "abs".into())]].concat();
        assert_eq!(run(with(magnitude)), array![[3f32, 3.0], [4.0, 3.0]].into_dyn());
    }

    #[test]
    fn mistakes_name_the_entry() {
        let message = |entries| with(entries).run().unwrap_err().message().to_owned();
        let gains = || ("gains", AttrValue::from([2f64, 1.0]));
        for (entries, parts) in [
            (vec![], ["`config`", "`gains` is missing"]),
            (vec![gains(), ("ofset", 1f64.into())], ["`ofset`", "did you mean `offset`"]),
            (vec![gains(), ("activation", "rely".into())], ["`config.activation`", "did you mean `relu`"]),
            (vec![("gains", [1f64].into())], ["`config.gains` has 1", "2 channels"]),
            (vec![gains(), ("clip", [("low", 1f64.into())].into())], ["`config.clip`", "`high` is missing"]),
        ] {
            let message = message(entries);
            assert!(message.starts_with("affine: ") && parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }

    #[test]
    fn polynomials_take_any_degree() {
        let x: Vec<f64> = numbers(9);
        let expected: Vec<f64> = x.iter().map(|x| 1.0 - 2.0 * x.powi(3)).collect();
        let run = |x| call::<polynomial>().arg(x).attr("c0", 1i64).attr("c3", -2.0).run().unwrap().get::<f64>(0);
        assert_close(run(x).as_slice().unwrap(), &expected, 1e-14);
        let none = call::<polynomial>().arg([3f32]).run().unwrap();
        assert_eq!(none.get::<f32>(0)[[0]], 0.0);
        let error = call::<polynomial>().arg([3f32]).attr("d1", 1.0).run().unwrap_err();
        assert_eq!(error.message(), "polynomial: there is no attribute `d1`; expected `c0` to `c64`");
    }
}
