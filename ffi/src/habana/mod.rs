//! Operators by descriptor, with the semantics of Habana's custom op API for PyTorch.
//!
//! A *descriptor* has a schema, the *guid* of a kernel, and says which arguments are the kernel's operands, what the
//! outputs look like, and how the kernel's parameters follow from the arguments. The *kernel* is an operation of the
//! [registry](crate::registry) whose target name is the guid: a function with `#[custom_call]`, in this crate or in one
//! that the library links. One kernel computes one operator; it gets
//!
//! * as arguments, the tensors and the numbers in device memory that the descriptor names, in the order of the schema;
//! * as attributes, the fields of the parameters, by name;
//! * as results, the outputs.
//!
//! There are both forms of Habana's headers: [`CustomOpDescriptor`] describes inputs and outputs one by one
//! (`hpu_custom_op.h`), [`UserCustomOpDescriptor`] has one function for all outputs (`hpu_custom_op_pt2.h`).
//! [`register_custom_op!`](crate::habana::register_custom_op) registers either.
//!
//! The operator is one of the library, beside those that `#[custom_call]` makes: a torch operator with the schema's
//! name, a JAX function, and a custom call of the plugin, whose attributes are the arguments that are not tensors.
//!
//! What is wrong with a descriptor (a schema that cannot be read, two inputs of one index, a guid that no kernel has, a
//! parameter that the kernel does not know) is a [problem](crate::registry::Registry::problems) of the registry, and
//! an exception when the library is loaded.
//!
//! ```
//! use oxcall::{habana::{CustomOpDescriptor, InputType, Stack, UserParams}, prelude::*, testing::Call};
//!
//! #[derive(UserParams)]
//! struct ScaleParams {
//!     factor: f32,
//! }
//!
//! fn fill(stack: &Stack<'_>) -> Result<ScaleParams> {
//!     Ok(ScaleParams { factor: stack.float(1)? as f32 })
//! }
//!
//! oxcall::habana::register_custom_op! {
//!     /// `factor * self`.
//!     CustomScale = CustomOpDescriptor::new("custom_scale(Tensor self, float factor) -> Tensor", "scale_f32")
//!         .input(InputType::Tensor, 0)
//!         .input(InputType::UserParams, 1)
//!         .output(0, DType::F32)
//!         .user_params(fill)
//! }
//!
//! #[custom_call(name = "scale_f32")]
//! fn scale(#[attr] factor: f32, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
//!     y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = factor * x);
//! }
//!
//! let op = oxcall::registry::registry().find("custom_scale", "Host").unwrap();
//! let outputs = Call::new(op).arg([1f32, 2.0]).attr("factor", 3.0).run()?;
//! assert_eq!(outputs.get::<f32>(0).as_slice().unwrap(), [3.0, 6.0]);
//! # Ok::<(), oxcall::Error>(())
//! ```

// Modules:
//
// * `descriptor`: both forms of descriptors.
// * `check`: mistakes in a descriptor.
// * `arguments`, `stack`, `params`: a call as its functions see it, and the kernel's parameters.
// * `op`, `execute`: the handler made from a descriptor, and the call of its kernel.

mod arguments;
mod check;
mod descriptor;
mod execute;
mod op;
mod params;
mod stack;
#[cfg(test)]
mod tests;

pub use descriptor::{
    CustomOpDescriptor, Definition, InputDesc, InputType, OutputDesc, OutputMetaFn, OutputShapeFn,
    PartialOutputMetaData, UserCustomOpDescriptor,
};
#[doc(hidden)]
pub use op::{CustomOp, Site};
pub use oxcall_macros::UserParams;
pub use params::UserParams;
pub use stack::Stack;

use crate::Result;
use crate::descriptor::Handler;
use crate::registry::Registry;
use crate::torch::Described;

/// The trait that [`register_custom_op!`](crate::habana::register_custom_op) implements for the type that it makes.
#[doc(hidden)]
pub trait Registered: 'static {
    /// The operator, or the mistake in its descriptor.
    fn op() -> &'static Result<CustomOp>;
}

/// The handler of an operator, for the registry.
///
/// # Errors
/// The mistake in its descriptor.
#[doc(hidden)]
pub fn handler<D: Registered>() -> Result<&'static Handler> {
    D::op().as_ref().map(CustomOp::handler).map_err(Clone::clone)
}

/// Compares a descriptor with the kernel that it names, for the registry.
///
/// # Errors
/// The mismatch.
#[doc(hidden)]
pub fn check<D: Registered>(registry: &Registry) -> Result<()> {
    D::op().as_ref().map_err(Clone::clone)?.check_kernel(registry)
}

impl<D: Registered> Described for D {
    fn handler() -> Option<&'static Handler> {
        D::op().as_ref().ok().map(CustomOp::handler)
    }
}

/// Registers an operator with the process's torch, if there is one; a wrong descriptor is told by the registry.
#[doc(hidden)]
pub fn register_with_torch<D: Registered>() {
    if let Ok(op) = D::op() {
        crate::torch::register_op(op.handler());
    }
}

/// Registers the operator of a descriptor: `register_custom_op! { pub Name = descriptor }`.
///
/// `Name` becomes a type that stands for the operator, with the documentation comments that stand before it. The
/// descriptor is any expression of type [`CustomOpDescriptor`] or [`UserCustomOpDescriptor`]; it is evaluated once,
/// when the library is loaded.
///
/// The macro form of the older descriptors lists their parts, like Habana's `REGISTER_CUSTOM_OP_ATTRIBUTES`:
///
/// ```
/// # use oxcall::{habana::Stack, prelude::*};
/// # #[custom_call(name = "first_rows_f32")]
/// # fn first_rows(#[attr] n: usize, x: Array<f32>, mut y: Out<f32>) {
/// #     let (_, k) = (n, y.len());
/// #     y.copy_from_slice(&x[..k]);
/// # }
/// # #[derive(oxcall::habana::UserParams)]
/// # struct RowParams { n: i64 }
/// # fn rows(stack: &Stack<'_>) -> Result<Vec<i64>> {
/// #     let mut dims = stack.tensor(0)?.dims.clone();
/// #     dims[0] = stack.int(1)?;
/// #     Ok(dims)
/// # }
/// # fn fill(stack: &Stack<'_>) -> Result<RowParams> { Ok(RowParams { n: stack.int(1)? }) }
/// oxcall::habana::register_custom_op! {
///     /// The first `n` rows.
///     CustomFirstRows {
///         schema: "custom_op::custom_first_rows(Tensor self, int n) -> Tensor",
///         guid: "first_rows_f32",
///         inputs: [Tensor, UserParams],
///         outputs: [DType::F32 => rows],
///         user_params: fill,
///     }
/// }
/// ```
///
/// Inputs and outputs are numbered as they stand; `=> function` after an output's dtype computes its shape, and
/// `user_params` may be absent.
#[doc(inline)]
pub use crate::__register_custom_op as register_custom_op;

/// See [`register_custom_op`].
#[doc(hidden)]
#[macro_export]
macro_rules! __register_custom_op {
    (
        $(#[doc = $doc:literal])* $vis:vis $name:ident {
            schema: $schema:expr,
            guid: $guid:expr,
            inputs: [$($input:ident),* $(,)?],
            outputs: [$($dtype:expr $(=> $shape:expr)?),* $(,)?]
            $(, user_params: $params:expr)? $(,)?
        }
    ) => {
        $crate::habana::register_custom_op! {
            $(#[doc = $doc])*
            $vis $name = {
                let descriptor = $crate::habana::CustomOpDescriptor::new($schema, $guid)
                    .inputs([$($crate::habana::InputType::$input),*])
                    .outputs([$(($dtype, $crate::__register_custom_op!(@shape $($shape)?))),*]);
                $(let descriptor = descriptor.user_params($params);)?
                descriptor
            }
        }
    };
    (@shape) => { ::core::option::Option::None };
    (@shape $shape:expr) => { ::core::option::Option::Some($shape as $crate::habana::OutputShapeFn) };
    ($(#[doc = $doc:literal])* $vis:vis $name:ident = $descriptor:expr $(,)?) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        #[allow(dead_code, reason = "stands for the operator")]
        $vis struct $name;

        const _: () = {
            impl $crate::habana::Registered for $name {
                fn op() -> &'static $crate::Result<$crate::habana::CustomOp> {
                    static OP: ::std::sync::OnceLock<$crate::Result<$crate::habana::CustomOp>> =
                        ::std::sync::OnceLock::new();
                    OP.get_or_init(|| {
                        let site = $crate::habana::Site {
                            doc: ::core::concat!($($doc, "\n"),*),
                            module: ::core::module_path!(),
                            file: ::core::file!(),
                            line: ::core::line!(),
                        };
                        $crate::habana::CustomOp::new::<$name>(|| $crate::habana::Definition::from($descriptor), site)
                    })
                }
            }

            $crate::__private::inventory::submit! {
                $crate::registry::Descriptor {
                    handler: $crate::habana::handler::<$name>,
                    check: $crate::habana::check::<$name>,
                    file: ::core::file!(),
                    line: ::core::line!(),
                }
            }

            // Runs when the library is loaded.
            extern "C" fn __register() {
                $crate::habana::register_with_torch::<$name>();
            }

            #[cfg(target_os = "linux")]
            #[used]
            #[unsafe(link_section = ".init_array")]
            static __CONSTRUCTOR: extern "C" fn() = __register;
        };
    };
}
