//! Loops compiled for the vector units that a CPU may have.

/// A function of slices whose loops LLVM vectorises: compiled for AVX-512, AVX2 and the baseline, and selected at run
/// time. On other architectures the baseline has vectors (NEON). Debug builds have only the baseline.
///
/// A closure in such a function is compiled for the same instructions, so it becomes no part of a function of the
/// standard library that takes it (`array::map`), unless that is inlined first: loops are written as `for`.
#[macro_export]
macro_rules! vectorised {
    ($($item:tt)*) => {
        #[cfg_attr(not(debug_assertions), multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+bmi1+bmi2+f16c+fma+lzcnt+popcnt",
            "x86_64+avx2+bmi1+bmi2+f16c+fma+lzcnt+popcnt",
        )))]
        $($item)*
    };
}

pub use vectorised;
