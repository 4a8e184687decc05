//! One pass of a transform.
#![allow(clippy::needless_range_loop, reason = "lanes of several numbers at once, as they are in vectors")]

use pulp::x86::V3;
use pulp::{Scalar, Simd};

use super::butterflies::butterfly;
use super::vectors::{Lanes, Vectors, load, store};
use crate::kernels::fft::roots::root;

/// The shortest rows of the passes after the first: the first radix is 4 or more.
const SHORT: usize = 4;

/// A pass, whose input is `radix` times `groups` rows of `inner` numbers, and its output `groups` times `radix` rows.
pub(super) struct Pass {
    radix: usize,
    inner: usize,
    groups: usize,
    /// The constants of an odd radix.
    roots: Vec<f64>,
    /// By which results are multiplied. In the first pass, for each row but the first, the real parts for all groups,
    /// and the imaginary ones; in others, for each group, and each row but the first, both parts; none in the last.
    twiddles: Vec<f64>,
}

/// Evaluates `$body` with `$R` as the radix, which is one of a list.
macro_rules! by_radix {
    ($radix:expr, $R:ident in $($radices:literal)* => $body:expr) => {
        match $radix {
            $($radices => {
                const $R: usize = $radices;
                $body
            })*
            radix => unreachable!("no pass of radix {radix}"),
        }
    };
}

impl Pass {
    pub(super) fn new(radix: usize, inner: usize, groups: usize) -> Pass {
        let mut twiddles = Vec::new();
        let twiddle = |group: usize, row: usize| root(group * row, radix * groups);
        if inner == 1 {
            for row in 1..radix {
                twiddles.extend((0..groups).map(|group| twiddle(group, row).re));
                twiddles.extend((0..groups).map(|group| twiddle(group, row).im));
            }
        } else if groups > 1 {
            twiddles.extend((0..groups * (radix - 1)).flat_map(|i| {
                let w = twiddle(i / (radix - 1), i % (radix - 1) + 1);
                [w.re, w.im]
            }));
        }
        let half = if radix % 2 == 1 { radix / 2 } else { 0 };
        let mut roots: Vec<f64> = (1..=half).map(|k| root(k, radix).re).collect();
        roots.extend((1..=half).map(|k| -root(k, radix).im));
        Pass { radix, inner, groups, roots, twiddles }
    }

    /// The first pass, from complex numbers whose parts alternate. Parts change places in an inverse transform.
    pub(super) fn run_first(&self, simd: V3, x: &[f64], y: &mut [&mut [f64]; 2], inverse: bool) {
        by_radix!(self.radix, R in 4 5 7 8 9 11 13 => {
            if self.groups < V3::F64_LANES {
                self.first::<_, R>(Scalar, x, y, inverse);
            } else {
                simd.vectorize(#[inline(always)] || self.first::<_, R>(simd, x, y, inverse));
            }
        });
    }

    /// A pass that is neither the first nor the last.
    pub(super) fn run_inner(&self, simd: V3, x: [&[f64]; 2], y: &mut [&mut [f64]; 2]) {
        by_radix!(self.radix, R in 3 4 5 7 9 11 13 => {
            simd.vectorize(#[inline(always)] || self.inner::<_, R>(simd, x, y));
        });
    }

    /// The last pass, to complex numbers whose parts alternate.
    pub(super) fn run_last(&self, simd: V3, x: [&[f64]; 2], y: &mut [f64], inverse: bool) {
        by_radix!(self.radix, R in 2 3 4 5 7 9 11 13 => {
            simd.vectorize(#[inline(always)] || self.last::<_, R>(simd, x, y, inverse));
        });
    }

    #[inline(always)]
    fn first<S: Vectors, const R: usize>(&self, simd: S, x: &[f64], y: &mut [&mut [f64]; 2], inverse: bool) {
        let (count, lanes) = (self.groups, S::F64_LANES);
        assert!(count >= lanes);
        let [re, im] = y;
        let x = rows::<R>(x, 2 * count);
        let twiddles = rows::<R>(&self.twiddles, 2 * count);
        let mut z = [Lanes::splat(simd, 0.0, 0.0); R];
        for i in (0..count).step_by(lanes) {
            // The last vector may overlap the one before it.
            let at = i.min(count - lanes);
            for j in 0..R {
                let row = &x[j][2 * at..][..2 * lanes];
                z[j] = simd.split(load::<S>(row, 0), load::<S>(row, lanes)).exchanged(inverse);
            }
            butterfly::<S, R>(simd, &mut z, &self.roots);
            for k in 1..R {
                let (re, im) = twiddles[k - 1].split_at(count);
                z[k] = z[k].times(simd, Lanes::load(re, im, at));
            }
            let (re, im) = (&mut re[at * R..][..lanes * R], &mut im[at * R..][..lanes * R]);
            if lanes == 4 && R.is_multiple_of(4) {
                for k in (0..R).step_by(4) {
                    let parts = [
                        simd.transpose([z[k].re, z[k + 1].re, z[k + 2].re, z[k + 3].re]),
                        simd.transpose([z[k].im, z[k + 1].im, z[k + 2].im, z[k + 3].im]),
                    ];
                    for l in 0..4 {
                        store::<S>(parts[0][l], re, l * R + k);
                        store::<S>(parts[1][l], im, l * R + k);
                    }
                }
            } else {
                for l in 0..lanes {
                    for k in 0..R {
                        (re[l * R + k], im[l * R + k]) = z[k].lane(l);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn inner<S: Vectors, const R: usize>(&self, simd: S, x: [&[f64]; 2], y: &mut [&mut [f64]; 2]) {
        let inner = self.inner;
        let x = x.map(|part| rows::<R>(part, inner * self.groups));
        let [re, im] = y;
        let groups = re.chunks_exact_mut(R * inner).zip(im.chunks_exact_mut(R * inner));
        let mut w = [Lanes::splat(simd, 0.0, 0.0); R];
        for (group, ((re, im), twiddles)) in groups.zip(self.twiddles.chunks_exact(2 * (R - 1))).enumerate() {
            for k in 1..R {
                w[k] = Lanes::splat(simd, twiddles[2 * k - 2], twiddles[2 * k - 1]);
            }
            let start = group * inner;
            if inner == SHORT {
                // The compiler sees that there is one vector per row.
                let y = [&mut re[..R * SHORT], &mut im[..R * SHORT]];
                self.columns::<S, R>(simd, &x, [start, 0], y, SHORT, &w);
                continue;
            }
            for i in (0..inner).step_by(S::F64_LANES) {
                let at = i.min(inner - S::F64_LANES);
                self.columns::<S, R>(simd, &x, [start, at], [&mut *re, &mut *im], inner, &w);
            }
        }
    }

    /// As many columns as a vector holds, from `at` on, of a group that starts at `start` in each row.
    #[inline(always)]
    fn columns<S: Vectors, const R: usize>(
        &self,
        simd: S,
        x: &[[&[f64]; R]; 2],
        [start, at]: [usize; 2],
        [re, im]: [&mut [f64]; 2],
        inner: usize,
        w: &[Lanes<S>; R],
    ) {
        let mut z = [Lanes::splat(simd, 0.0, 0.0); R];
        for j in 0..R {
            z[j] = Lanes::load(x[0][j], x[1][j], start + at);
        }
        butterfly::<S, R>(simd, &mut z, &self.roots);
        for k in 0..R {
            let z = if k == 0 { z[0] } else { z[k].times(simd, w[k]) };
            store::<S>(z.re, re, k * inner + at);
            store::<S>(z.im, im, k * inner + at);
        }
    }

    #[inline(always)]
    fn last<S: Vectors, const R: usize>(&self, simd: S, x: [&[f64]; 2], y: &mut [f64], inverse: bool) {
        let (inner, lanes) = (self.inner, S::F64_LANES);
        assert!(inner >= lanes);
        let [x_re, x_im] = x.map(|part| rows::<R>(part, inner));
        let mut z = [Lanes::splat(simd, 0.0, 0.0); R];
        for i in (0..inner).step_by(lanes) {
            let at = i.min(inner - lanes);
            for j in 0..R {
                z[j] = Lanes::load(x_re[j], x_im[j], at);
            }
            butterfly::<S, R>(simd, &mut z, &self.roots);
            for k in 0..R {
                let [low, high] = simd.join(z[k].exchanged(inverse));
                let to = &mut y[2 * (k * inner + at)..][..2 * lanes];
                store::<S>(low, to, 0);
                store::<S>(high, to, lanes);
            }
        }
    }
}

/// The first rows of `len` numbers, as many as there are.
#[inline(always)]
fn rows<const R: usize>(numbers: &[f64], len: usize) -> [&[f64]; R] {
    let mut out = [&[][..]; R];
    for (row, numbers) in out.iter_mut().zip(numbers.chunks_exact(len)) {
        *row = &numbers[..len];
    }
    out
}
