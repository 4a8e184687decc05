//! The namespaces of crates.

use std::sync::{Mutex, PoisonError};

/// Where the operations of a crate go in torch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// Into this namespace: `torch.ops.name`.
    Named(&'static str),
    /// Nowhere.
    None,
}

static NAMESPACES: Mutex<Vec<(&'static str, Namespace)>> = Mutex::new(Vec::new());

/// Sets the namespace of a crate; what [`namespace!`](crate::namespace) calls before any operation is registered.
pub fn set_namespace(krate: &'static str, namespace: Namespace) {
    NAMESPACES.lock().unwrap_or_else(PoisonError::into_inner).push((krate, namespace));
}

/// The namespace of a crate; that of its own name unless it says another.
pub(super) fn of_crate(krate: &'static str) -> Namespace {
    let namespaces = NAMESPACES.lock().unwrap_or_else(PoisonError::into_inner);
    namespaces.iter().find(|(name, _)| *name == krate).map_or(Namespace::Named(krate), |(_, namespace)| *namespace)
}

/// Sets the namespace of this crate's operations in torch, once in the crate: `oxcall::namespace!("custom_op");` makes
/// them `torch.ops.custom_op.name`. Without it, the namespace is the crate's name; `oxcall::namespace!(none);` keeps
/// them out of torch. `#[custom_call(namespace = "...")]` is for a single operation.
#[macro_export]
macro_rules! namespace {
    (none) => {
        $crate::__namespace!($crate::torch::Namespace::None);
    };
    ($name:literal) => {
        $crate::__namespace!({
            const { $crate::__private::check_namespace($name) };
            $crate::torch::Namespace::Named($name)
        });
    };
}

/// Runs before the constructors that register operations: those with a number come first.
#[doc(hidden)]
#[macro_export]
macro_rules! __namespace {
    ($namespace:expr) => {
        const _: () = {
            extern "C" fn __set() {
                $crate::torch::set_namespace(::core::env!("CARGO_CRATE_NAME"), $namespace);
            }

            #[used]
            #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array.00100"))]
            static __CONSTRUCTOR: extern "C" fn() = __set;
        };
    };
}
