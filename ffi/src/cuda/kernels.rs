//! The macro that declares modules of kernels.

/// A module of CUDA kernels and the types of their parameters: `oxcall::cuda::kernels!`.
///
/// ```text
/// kernels! {
///     /// Kernels of norms.
///     mod norms = cuda_c(include_str!("norms.cu"));       // or ptx(include_str!("norms.ptx"))
///
///     /// A block for each row.
///     fn rms_norm<T: floats>(x: *const T, y: *mut T, n: u32, eps: f32);
///     fn fill(y: *mut f32, n: u64, value: f32);
/// }
/// ```
///
/// makes a Rust module with a function for each kernel, whose first parameter is a [`Launch`](crate::cuda::Launch), and
/// a stage `load` for the option `initialize`. A kernel with `<T: floats>` is one for each float dtype, with the
/// dtype's name behind its own: `rms_norm_f32`. Names and sizes of parameters are compared with the code when it is
/// loaded.
///
/// CUDA C begins with a prelude: the types `f16` and `bf16`, `oxcall::load` and `oxcall::store<T>` between elements and
/// the numbers to compute with (`float` for halves), `oxcall::index()`, sums and maxima over a block, and
/// `OXCALL_FOR_FLOATS(M)`, which is `M(T, dtype)` for each float dtype.
#[macro_export]
macro_rules! cuda_kernels {
    (
        $(#[$doc:meta])* $vis:vis mod $module:ident = $kind:ident($source:expr);
        $($(#[$kernel_doc:meta])* fn $kernel:ident $(<$T:ident: floats>)? (
            $($param:ident: $ty:ty),* $(,)?
        );)*
    ) => {
        $(#[$doc])*
        $vis mod $module {
            #[allow(unused_imports, reason = "types of parameters")]
            use super::*;
            use $crate::context::Context;

            static MODULE: $crate::cuda::Module = $crate::cuda::Module::new(
                ::core::stringify!($module),
                $crate::__cuda_source!($kind, $source),
                &[$($crate::__cuda_decl!($kernel $(<$T>)? ($($param: $ty),*))),*],
            );

            /// Loads the kernels on the device of the call.
            ///
            /// # Errors
            /// If they cannot be compiled or loaded, or differ from their declaration.
            #[$crate::stage(initialize, crate = $crate)]
            pub fn load(context: Context) -> $crate::Result<$crate::cuda::Loaded> {
                MODULE.load_for(&context)
            }

            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "named like the kernels")]
            #[allow(dead_code, reason = "its variants are indices")]
            enum Index {
                $($kernel),*
            }

            $(
                $(#[$kernel_doc])*
                ///
                /// # Errors
                /// Those of the driver; those of loading, if that was not done.
                ///
                /// # Safety
                /// With these arguments, the kernel accesses the memory of the buffers only, and writes only what is
                /// mutable.
                #[allow(clippy::too_many_arguments, reason = "as many as the kernel has")]
                pub unsafe fn $kernel $(<$T: $crate::Element>)? (
                    launch: $crate::cuda::Launch<'_>,
                    $($param: impl $crate::cuda::PassAs<$ty>),*
                ) -> $crate::Result<()> {
                    let dtype = $crate::__cuda_dtype!($($T)?);
                    let mut arguments = [$($crate::cuda::PassAs::<$ty>::pass($param)),*];
                    // SAFETY: the arguments have the types of the declaration; the rest is the caller's.
                    unsafe { MODULE.launch(Index::$kernel as usize, dtype, launch, &mut arguments) }
                }
            )*
        }
    };
}

/// The source of a module.
#[doc(hidden)]
#[macro_export]
macro_rules! __cuda_source {
    (ptx, $source:expr) => {
        $crate::cuda::Source::Ptx(::std::borrow::Cow::Borrowed($source))
    };
    (cuda_c, $source:expr) => {
        $crate::cuda::Source::CudaC(::std::borrow::Cow::Borrowed($source))
    };
    ($kind:ident, $source:expr) => {
        ::core::compile_error!("a module of kernels is `ptx(...)` or `cuda_c(...)`")
    };
}

/// The declaration of a kernel; pointers have the size of any pointer.
#[doc(hidden)]
#[macro_export]
macro_rules! __cuda_decl {
    ($kernel:ident ($($param:ident: $ty:ty),*)) => {
        $crate::cuda::KernelDecl {
            name: ::core::stringify!($kernel),
            dtypes: &[],
            params: &[$((::core::stringify!($param), ::core::mem::size_of::<$ty>())),*],
        }
    };
    ($kernel:ident <$T:ident> ($($param:ident: $ty:ty),*)) => {{
        const fn params<$T>() -> &'static [(&'static str, usize)] {
            &[$((::core::stringify!($param), ::core::mem::size_of::<$ty>())),*]
        }
        $crate::cuda::KernelDecl {
            name: ::core::stringify!($kernel),
            dtypes: $crate::cuda::KernelDecl::FLOATS,
            params: params::<u8>(),
        }
    }};
}

/// The dtype of a type parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! __cuda_dtype {
    () => {
        ::core::option::Option::None
    };
    ($T:ident) => {
        ::core::option::Option::Some(<$T as $crate::Element>::DTYPE)
    };
}
