//! A PJRT plugin of Rust kernels: JAX programs and custom calls on the CPU, without XLA.
//!
//! The plugin links the engine ([`oxcall_engine`]), the PJRT server ([`oxcall_pjrt`]) and every `#[custom_call]` of the
//! crates that it names. A plugin of one's own is a `cdylib` with one item:
//!
//! ```ignore
//! oxcall_plugin::plugin! { name: "my_device", ops: [my_ops, oxcall_linalg] }
//! ```
//!
//! and two lines of Python: `import oxcall_plugin` and `oxcall_plugin.register("target/release/libmy_plugin.so")`.
//!
//! # Modules
//!
//! * `platform`, `client`, `devices`, `node`, `options`: the platform, its client, devices and options, and the place
//!   of this process in a job of several.
//! * `programs`: programs as clients send, store and share them; what XLA says about them.
//! * `buffer`, `executable`, `elements`: buffers, perhaps not there yet; executions; element types of both sides.
//! * `arrays`: memory behind buffers: whole arrays, and arrays in tiles over devices.
//! * `callbacks`: host callbacks.
//! * `in_flight`, `interrupt`: the limit of programs in flight; SIGINT, where an option asks for it.
//! * `registration`, `exports`, `name`: handlers from outside; the C symbols that Python calls; the name that `plugin!`
//!   gives.
//!
//! # Facts about JAX and torch_xla
//!
//! * JAX asks for the optimised program whenever it compiles. Reading it in the format `mlir` takes jaxlib 2 to 4 ms,
//!   an HLO proto 0.1 ms (`executable`).
//! * Users change NumPy arrays after `device_put`, although JAX allows plugins to keep them: the elements are copied
//!   during the call (`client`).
//! * JAX raises the error of an execution's call right there; torch_xla keeps it, and raises it at the next step. So
//!   results carry errors, unless the client option `errors_at_call` asks for errors of calls (`executable`).
//! * Python ends threads that take its lock after it has begun to end. Where jaxlib holds the lock and asks for
//!   something that is not there yet, the lock is given up while the plugin waits (`callbacks::gil`); a thread that
//!   Python ends stays where it is (`oxcall::host`), because frames of Rust cannot be unwound. What libraries answer
//!   through Python is asked with the lock held.

mod arrays;
mod buffer;
mod callbacks;
mod client;
mod devices;
mod elements;
mod executable;
mod exports;
mod in_flight;
mod interrupt;
mod name;
mod node;
mod options;
mod platform;
mod programs;
mod registration;

pub use oxcall_engine::SystemAllocator;

#[doc(hidden)]
pub mod __private {
    //! Items to which the expansion of [`plugin!`](crate::plugin) refers.
    pub use inventory;
    pub use oxcall;

    pub use crate::name::Plugin;

    /// The table of the PJRT C API.
    pub fn get_pjrt_api() -> *const std::ffi::c_void {
        oxcall_pjrt::api::<crate::platform::CpuPlatform>().cast()
    }
}

/// Makes this crate, a `cdylib`, a PJRT plugin.
///
/// `name` is the platform's name in `jax.devices(...)`. `ops` lists the crates whose custom calls are linked in; write
/// `crate` for those of this crate itself. A crate in the list that has no op is an error when the plugin is loaded.
#[macro_export]
macro_rules! plugin {
    (name: $name:literal, ops: [$($op:tt)*] $(,)?) => {
        $crate::__private::oxcall::library! { ops: [$($op)*], crate: $crate::__private::oxcall }
        const _: () = {
            $crate::__private::inventory::submit! {
                $crate::__private::Plugin {
                    name: match ::core::ffi::CStr::from_bytes_with_nul(::core::concat!($name, "\0").as_bytes()) {
                        ::core::result::Result::Ok(name) => name,
                        ::core::result::Result::Err(_) => ::core::panic!("the name of a platform holds no NUL"),
                    },
                }
            }

            #[unsafe(no_mangle)]
            extern "C" fn GetPjrtApi() -> *const ::core::ffi::c_void {
                $crate::__private::get_pjrt_api()
            }
        };
    };
}
