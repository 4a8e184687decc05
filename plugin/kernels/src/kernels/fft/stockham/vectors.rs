//! Complex numbers side by side in vectors.

use std::slice::from_ref;

use bytemuck::cast_slice;
use pulp::x86::V3;
use pulp::{Scalar, Simd, cast, f64x4};

/// Complex numbers: the vector of the real parts, and that of the imaginary ones.
#[derive(Clone, Copy)]
pub(super) struct Lanes<S: Simd> {
    pub(super) re: S::f64s,
    pub(super) im: S::f64s,
}

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    pub(super) fn splat(s: S, re: f64, im: f64) -> Self {
        Lanes { re: s.splat_f64s(re), im: s.splat_f64s(im) }
    }

    /// Those from `at` on.
    #[inline(always)]
    pub(super) fn load(re: &[f64], im: &[f64], at: usize) -> Self {
        Lanes { re: load::<S>(re, at), im: load::<S>(im, at) }
    }

    /// With real and imaginary parts exchanged if `is_inverse` is set.
    #[inline(always)]
    pub(super) fn exchanged(self, is_inverse: bool) -> Self {
        if is_inverse { Lanes { re: self.im, im: self.re } } else { self }
    }

    /// The parts of one number.
    #[inline(always)]
    pub(super) fn lane(&self, lane: usize) -> (f64, f64) {
        let part = |vector: &S::f64s| cast_slice::<S::f64s, f64>(from_ref(vector))[lane];
        (part(&self.re), part(&self.im))
    }

    #[inline(always)]
    pub(super) fn plus(self, s: S, b: Self) -> Self {
        Lanes { re: s.add_f64s(self.re, b.re), im: s.add_f64s(self.im, b.im) }
    }

    #[inline(always)]
    pub(super) fn minus(self, s: S, b: Self) -> Self {
        Lanes { re: s.sub_f64s(self.re, b.re), im: s.sub_f64s(self.im, b.im) }
    }

    /// self - i b and self + i b.
    #[inline(always)]
    pub(super) fn turned(self, s: S, b: Self) -> [Self; 2] {
        let minus = Lanes { re: s.add_f64s(self.re, b.im), im: s.sub_f64s(self.im, b.re) };
        [minus, Lanes { re: s.sub_f64s(self.re, b.im), im: s.add_f64s(self.im, b.re) }]
    }

    #[inline(always)]
    pub(super) fn scaled(self, s: S, factor: f64) -> Self {
        let factor = s.splat_f64s(factor);
        Lanes { re: s.mul_f64s(self.re, factor), im: s.mul_f64s(self.im, factor) }
    }

    /// factor b + self.
    #[inline(always)]
    pub(super) fn plus_scaled(self, s: S, factor: f64, b: Self) -> Self {
        let factor = s.splat_f64s(factor);
        Lanes { re: s.mul_add_e_f64s(factor, b.re, self.re), im: s.mul_add_e_f64s(factor, b.im, self.im) }
    }

    #[inline(always)]
    pub(super) fn times(self, s: S, w: Self) -> Self {
        Lanes {
            re: s.negate_mul_add_e_f64s(self.im, w.im, s.mul_f64s(self.re, w.re)),
            im: s.mul_add_e_f64s(self.re, w.im, s.mul_f64s(self.im, w.re)),
        }
    }
}

/// The vector of the numbers from `at` on.
#[inline(always)]
pub(super) fn load<S: Simd>(numbers: &[f64], at: usize) -> S::f64s {
    S::as_simd_f64s(&numbers[at..at + S::F64_LANES]).0[0]
}

#[inline(always)]
pub(super) fn store<S: Simd>(vector: S::f64s, numbers: &mut [f64], at: usize) {
    S::as_mut_simd_f64s(&mut numbers[at..at + S::F64_LANES]).0[0] = vector;
}

/// Vectors of 4 numbers, or of 1.
pub(super) trait Vectors: Simd {
    /// The parts of complex numbers whose parts alternate.
    fn split(self, low: Self::f64s, high: Self::f64s) -> Lanes<Self>;
    /// The inverse of `split`.
    fn join(self, z: Lanes<Self>) -> [Self::f64s; 2];
    /// Transposes 4 vectors of 4.
    fn transpose(self, rows: [Self::f64s; 4]) -> [Self::f64s; 4];
}

impl Vectors for Scalar {
    #[inline(always)]
    fn split(self, re: f64, im: f64) -> Lanes<Self> {
        Lanes { re, im }
    }

    #[inline(always)]
    fn join(self, z: Lanes<Self>) -> [f64; 2] {
        [z.re, z.im]
    }

    #[inline(always)]
    fn transpose(self, rows: [f64; 4]) -> [f64; 4] {
        rows
    }
}

impl Vectors for V3 {
    #[inline(always)]
    fn split(self, low: f64x4, high: f64x4) -> Lanes<Self> {
        let [a, b] = halves(self, low, high);
        let (a, b) = (cast(a), cast(b));
        Lanes { re: cast(self.avx._mm256_unpacklo_pd(a, b)), im: cast(self.avx._mm256_unpackhi_pd(a, b)) }
    }

    #[inline(always)]
    fn join(self, z: Lanes<Self>) -> [f64x4; 2] {
        let (re, im) = (cast(z.re), cast(z.im));
        halves(self, cast(self.avx._mm256_unpacklo_pd(re, im)), cast(self.avx._mm256_unpackhi_pd(re, im)))
    }

    #[inline(always)]
    fn transpose(self, rows: [f64x4; 4]) -> [f64x4; 4] {
        let [a, b, c, d] = [cast(rows[0]), cast(rows[1]), cast(rows[2]), cast(rows[3])];
        let [even_ab, odd_ab] = [self.avx._mm256_unpacklo_pd(a, b), self.avx._mm256_unpackhi_pd(a, b)];
        let [even_cd, odd_cd] = [self.avx._mm256_unpacklo_pd(c, d), self.avx._mm256_unpackhi_pd(c, d)];
        let [first, third] = halves(self, cast(even_ab), cast(even_cd));
        let [second, fourth] = halves(self, cast(odd_ab), cast(odd_cd));
        [first, second, third, fourth]
    }
}

/// The first halves of two vectors, and the second ones.
#[inline(always)]
fn halves(simd: V3, a: f64x4, b: f64x4) -> [f64x4; 2] {
    let (a, b) = (cast(a), cast(b));
    [cast(simd.avx._mm256_permute2f128_pd::<0x20>(a, b)), cast(simd.avx._mm256_permute2f128_pd::<0x31>(a, b))]
}
