//! Sets of vector instructions, one of which is chosen at run time.

/// A set of instructions that the processor is known to have.
pub trait Level: Copy + 'static {
    /// Whether it has fused multiply-add.
    const FUSED: bool;

    /// Calls `f`, compiled for these instructions if it is inlined.
    fn enter<R>(f: impl FnOnce() -> R) -> R;
}

/// The instructions that every processor of the target has.
#[derive(Debug, Clone, Copy)]
pub struct Baseline;

impl Level for Baseline {
    const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

    #[inline(always)]
    fn enter<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "calls what is compiled for instructions that the processor has")]
mod x86 {
    use super::Level;

    macro_rules! level {
        ($(#[$doc:meta])* $level:ident $features:literal $($feature:tt)*) => {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $level(());

            impl $level {
                /// Whether the processor has it.
                pub fn is_present() -> bool {
                    $(is_x86_feature_detected!($feature))&&*
                }
            }

            impl Level for $level {
                const FUSED: bool = true;

                #[inline(always)]
                fn enter<R>(f: impl FnOnce() -> R) -> R {
                    #[target_feature(enable = $features)]
                    fn compiled<R>(f: impl FnOnce() -> R) -> R {
                        f()
                    }
                    // SAFETY: only `with_level!`, which asks the processor, gives out functions for this level.
                    unsafe { compiled(f) }
                }
            }
        };
    }

    level!(
        /// x86-64-v3: 256-bit vectors and fused multiply-add.
        Avx2 "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt" "avx2" "fma" "bmi1" "bmi2" "f16c" "lzcnt" "popcnt"
    );
    level!(
        /// x86-64-v4: 512-bit vectors.
        Avx512 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt"
        "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx2" "fma" "bmi1" "bmi2" "f16c" "lzcnt" "popcnt"
    );
}

/// The levels by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Best {
    /// [`Baseline`].
    Baseline,
    /// `Avx2`.
    Avx2,
    /// `Avx512`.
    Avx512,
}

/// The best level that the processor has, and that this build has code for.
pub fn best() -> Best {
    #[cfg(target_arch = "x86_64")]
    {
        if !cfg!(oxcall_max_isa = "avx2") && Avx512::is_present() {
            return Best::Avx512;
        }
        if Avx2::is_present() {
            return Best::Avx2;
        }
    }
    Best::Baseline
}

/// Evaluates `$body` with `$L` as the best level that the processor has. Debug builds of the crate that uses it have
/// only the baseline: each level is hundreds of functions.
#[macro_export]
macro_rules! with_level {
    ($L:ident => $body:expr) => {
        match $crate::level::best() {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            $crate::level::Best::Avx2 => {
                type $L = $crate::level::Avx2;
                $body
            }
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            $crate::level::Best::Avx512 => {
                type $L = $crate::level::Avx512;
                $body
            }
            _ => {
                type $L = $crate::level::Baseline;
                $body
            }
        }
    };
}
#[doc(inline)]
pub use with_level;

/// A function of slices whose loops LLVM vectorises: compiled for AVX-512, AVX2 and the baseline, and selected at run
/// time. On other architectures the baseline has vectors (NEON). Debug builds have only the baseline. The crate that
/// uses it depends on `multiversion`.
///
/// A closure in such a function is compiled for the same instructions, so it becomes no part of a function of the
/// standard library that takes it (`array::map`), unless that is inlined first: loops are written as `for`.
#[macro_export]
macro_rules! vectorised {
    ($($item:tt)*) => {
        #[cfg_attr(
            all(not(debug_assertions), not(oxcall_max_isa = "avx2")),
            multiversion::multiversion(targets(
                "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+bmi1+bmi2+f16c+fma+lzcnt+popcnt",
                "x86_64+avx2+bmi1+bmi2+f16c+fma+lzcnt+popcnt",
            ))
        )]
        #[cfg_attr(
            all(not(debug_assertions), oxcall_max_isa = "avx2"),
            multiversion::multiversion(targets("x86_64+avx2+bmi1+bmi2+f16c+fma+lzcnt+popcnt"))
        )]
        $($item)*
    };
}
#[doc(inline)]
pub use vectorised;
