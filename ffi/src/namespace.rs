//! The namespaces of operations: before their names in targets, and in torch.

use crate::descriptor::Handler;
use crate::sync::Mutex;

/// Where the operations of a crate go in torch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// Into this namespace: `torch.ops.name`.
    Named(&'static str),
    /// Nowhere.
    None,
}

static NAMESPACES: Mutex<Vec<(&'static str, Namespace)>> = Mutex::new(Vec::new());

/// Sets the namespace of a crate: [`namespace!`](crate::namespace!) calls it before any operation is registered.
pub fn set_namespace(krate: &'static str, namespace: Namespace) {
    NAMESPACES.lock().push((krate, namespace));
}

/// The namespace of a crate; that of its own name unless it says another.
fn of_crate(krate: &'static str) -> Namespace {
    let namespaces = NAMESPACES.lock();
    namespaces.iter().find(|(name, _)| *name == krate).map_or(Namespace::Named(krate), |(_, namespace)| *namespace)
}

/// The namespace of an operation: the one in its schema, its own, or its crate's. `None` if its crate keeps it out of
/// torch.
pub(crate) fn of(handler: &Handler) -> Option<&'static str> {
    let in_schema = || handler.schema?.split('(').next()?.split_once("::").map(|(namespace, _)| namespace.trim());
    match handler.namespace.map_or_else(|| of_crate(handler.crate_name()), Namespace::Named) {
        Namespace::Named(name) => Some(in_schema().unwrap_or(name)),
        Namespace::None => None,
    }
}

/// Sets the namespace of this crate's operations in torch, once in the crate: `oxcall::namespace!("custom_op");` makes
/// them `torch.ops.custom_op.name`. Without it, the namespace is the crate's name; `oxcall::namespace!(none);` keeps
/// them out of torch. `#[custom_call(namespace = "...")]` is for a single operation.
#[macro_export]
macro_rules! namespace {
    (none) => {
        $crate::__namespace!($crate::__private::Namespace::None);
    };
    ($name:literal) => {
        $crate::__namespace!({
            const { $crate::__private::check_namespace($name) };
            $crate::__private::Namespace::Named($name)
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
                $crate::__private::set_namespace(::core::env!("CARGO_CRATE_NAME"), $namespace);
            }

            #[used]
            #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array.00100"))]
            static __CONSTRUCTOR: extern "C" fn() = __set;
        };
    };
}
