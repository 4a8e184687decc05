//! The parts of the macros' output that depend on features of this crate, which the macros cannot see.

/// The operator of an operation in torch, and its registration when the library is loaded.
#[cfg(feature = "torch")]
#[doc(hidden)]
#[macro_export]
macro_rules! __torch {
    ($op:ty, $handler:expr) => {{
        static OPERATOR: $crate::torch::TorchOp = $crate::torch::TorchOp::of::<$op>();

        extern "C" fn register() {
            $crate::torch::register_op($handler);
        }

        // torch knows an operation when the library that holds it has been loaded.
        #[cfg(target_os = "linux")]
        #[used]
        #[unsafe(link_section = ".init_array")]
        static CONSTRUCTOR: extern "C" fn() = register;

        ::core::option::Option::Some(&OPERATOR)
    }};
}

/// Without torch, no operation has an operator.
#[cfg(not(feature = "torch"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __torch {
    ($op:ty, $handler:expr) => {
        ::core::option::Option::None
    };
}

/// The value of the option `schema`.
#[cfg(feature = "torch")]
#[doc(hidden)]
#[macro_export]
macro_rules! __schema {
    ($schema:expr) => {
        $schema
    };
}

/// The value of the option `schema`, which torch alone reads.
#[cfg(not(feature = "torch"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __schema {
    ($schema:expr) => {
        $crate::__feature_is_off!("schema", "torch")
    };
}

/// The value of the option `legacy`.
#[cfg(feature = "legacy")]
#[doc(hidden)]
#[macro_export]
macro_rules! __legacy {
    ($op:ty) => {
        &$crate::legacy::LegacyEntry::<$op>::TABLE
    };
}

/// The value of the option `legacy`, without the functions that it stands for.
#[cfg(not(feature = "legacy"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __legacy {
    ($op:ty) => {
        $crate::__feature_is_off!("legacy", "legacy")
    };
}

/// Items for GPUs.
#[cfg(feature = "cuda")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_cuda {
    ($($items:tt)*) => {
        $($items)*
    };
}

/// Items for GPUs, which are not compiled.
#[cfg(not(feature = "cuda"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_cuda {
    ($($items:tt)*) => {};
}

/// The error of an option whose feature is off.
#[cfg(not(all(feature = "torch", feature = "legacy")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __feature_is_off {
    ($option:literal, $feature:literal) => {
        ::core::compile_error!(::core::concat!(
            "the option `",
            $option,
            "` needs the feature `",
            $feature,
            "` of `oxcall`, which is off: write `oxcall = { version = \"...\", features = [\"",
            $feature,
            "\"] }` in Cargo.toml, or remove the option"
        ))
    };
}
