//! The macros of oxcall. Depend on `oxcall`, which re-exports them, rather than on this crate.
//!
//! Each macro is parse -> check -> expand: `model` is what lies between, `messages` has every text that is reported,
//! and all mistakes of an item are reported in one run.
//!
//! Modules:
//!
//! * `custom_call`, `pointwise`, `rowwise`, `stage`, `derive*`, `library`: the macros, from tokens to a checked item.
//! * `entries`, `options`, `attrs`, `dims`, `generics`: grammars: lists of entries, options, helper attributes,
//!   patterns, lists of types.
//! * `types`, `params`, `signature`: the role of a parameter; rules of a function.
//! * `check`, `relations`: rules across parameters; the binding of names in patterns.
//! * `names`: names of targets, platforms and attributes.
//! * `model`: the checked item, between parsing and expansion.
//! * `expand`: token output.
//! * `messages`, `errors`, `suggest`: the texts of all errors; the collection of an item's mistakes; "did you mean".

use proc_macro::TokenStream;

mod attrs;
mod batch;
mod bodies;
mod captures;
mod check;
mod custom_call;
mod derive;
mod derive_enum;
mod derive_params;
mod derive_struct;
mod dims;
mod entries;
mod errors;
mod expand;
mod generics;
mod library;
mod messages;
#[allow(dead_code, reason = "filled by the parser and read by the expansion")]
mod model;
mod names;
mod options;
mod params;
mod pointwise;
mod relations;
mod rowwise;
mod signature;
mod stage;
mod suggest;
mod types;

/// Makes an XLA custom call of a function.
///
/// The function stays an ordinary function. Beside it, the macro makes a type of the same name, which implements
/// `oxcall::descriptor::Op`, and registers the operation with the library.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// `a * x + y`, element by element.
/// #[custom_call(T = floats, vmap = "broadcast_all")]
/// fn axpy<T: Float>(
///     #[attr(default = 1.0)] a: f64,
///     #[dims(..s)] x: ArrayViewD<T>,
///     #[dims(..s)] y: ArrayViewD<T>,
///     #[dims(..s)] mut out: ArrayViewMutD<T>,
/// ) {
///     let a = T::from_f64(a);
///     ndarray::Zip::from(&mut out).and(&x).and(&y).for_each(|out, &x, &y| *out = a * x + y);
/// }
/// # use oxcall::ndarray;
/// # fn main() {}
/// ```
///
/// # Options
///
/// | option | meaning |
/// |---|---|
/// | `name = "..."` | The target name; without it, the function's name. Printable ASCII without spaces, quotes, `\` and `#`. |
/// | `platform = "..."` | `Host` (without it), `CUDA`, `ROCM`, or another platform's name. |
/// | `T = [f32, f64]` | The element types that the type parameter `T` stands for; one such option for each type parameter. A call is dispatched on its dtypes; several parameters form a product. |
/// | `T = floats` | The same by a named set; a list may hold sets too: `T = [floats, i32]`. |
/// | `batch = b` | The dimensions `..b` are independent: a call on a batch does what calls on its parts do. `vmap` makes one call, and `..b` may be split among devices. Arguments may lack `..b`; a result without it is marked `#[sum(b)]`. |
/// | `vmap = "..."` | The `vmap_method` of `jax.ffi.ffi_call`: `sequential`, `sequential_unrolled`, `expand_dims`, `broadcast_all` or `legacy_vectorized`. |
/// | `vmap = path` | The operation that computes a batch of calls: it has the same parameters, each with a leading dimension more. |
/// | `vjp = path` | The operation that computes the vector-Jacobian product. It takes the cotangent of each floating-point result: `dy` of `y`; its other parameters have the names of the operation's, and its results those of arguments behind a `d`. The compiler checks this and the next three. |
/// | `jvp = path` | The operation that computes the Jacobian-vector product: it takes the tangent `tx` of each floating-point argument `x`, and gives `ty` of each result. |
/// | `fwd = path` | The operation that is called in place of this one where a derivative is taken. It gives residuals beside the results, which `vjp` and `jvp` take by name. |
/// | `transpose = path` | The operation is linear in some arguments: this one takes `dy` and gives the cotangents of these arguments. In place of `vjp`, `jvp` and `fwd`. |
/// | `nondiff = [x, y]` | Floating-point arguments and results whose derivatives are zero. |
/// | `autocast = f32`, `autocast = lowest` | Inside `torch.autocast`, arguments are cast to `f32`, or to its own dtype, `bf16` or `f16`. JAX has no such context. |
/// | `instantiate = path`, `prepare = path`, `initialize = path` | Functions with [`#[stage]`](macro@stage), which make states. |
/// | `shape = path` | A function that gives the shapes of the results, where `#[dims]` cannot. |
/// | `namespace = "..."` | The namespace of the torch operator, where it is not that of `oxcall::namespace!`. |
/// | `schema = "..."` | The schema of the torch operator, where it is not the one that follows from the signature; needs the feature `torch`. |
/// | `legacy` | The operation can also be called as API v1, v2 and v3; needs the feature `legacy`. |
/// | `side_effect` | Calls must run even where no result is used. |
/// | `command_buffer` | Calls may be recorded into a CUDA or HIP graph. |
/// | `crate = path` | Where `oxcall` is, for crates that re-export it. |
///
/// | set | element types |
/// |---|---|
/// | `floats` | `f16`, `bf16`, `f32`, `f64` |
/// | `signed`, `unsigned`, `ints` | `i8` to `i64`, `u8` to `u64`, both |
/// | `complex` | `Complex<f32>`, `Complex<f64>` |
/// | `numbers` | `ints`, `floats` and `complex` |
///
/// # Parameters
///
/// The role of a parameter follows from the last segment of its type's path, and in any order:
///
/// | type | what it is |
/// |---|---|
/// | `Array<T>`, `Array<T, Rank<2>>`, `AnyArray`, `Scalar<T>`, `ArrayView0<T>` to `ArrayView6<T>`, `ArrayViewD<T>`, `&[T]`, `Token` | an argument |
/// | `Out<T>`, `AnyOut`, `ScalarOut<T>`, `ArrayViewMut0<T>` to `ArrayViewMut6<T>`, `ArrayViewMutD<T>`, `&mut [T]`, `TokenOut` | a result |
/// | `InOut<T>` | an argument and a result in the same memory |
/// | `DeviceArray<T>`, `DeviceOut<T>`, `DeviceInOut<T>` | the same by address alone; platforms other than `Host` have only these |
/// | `Option<P>` | an argument or result that a call may leave out; after those that every call has |
/// | `Variadic<P>` | any number of arguments or results; the last one |
/// | `Context`, `Stream`, `Scratch`, `ThreadPool`, `RunId`, `DeviceOrdinal`, `UserData<T>`, `CustomOptions`, `Async` | something of the host |
/// | `Cuda`, `CudaDevice` | the GPU of the call (feature `cuda`) |
///
/// Attributes of the parameter say the rest:
///
/// | attribute | meaning |
/// |---|---|
/// | `#[attr]` | an attribute of the call, named like the parameter; `Option<A>` if it may be absent |
/// | `#[attr(name = "...")]` | under another name |
/// | `#[attr(default = expr)]` | with a value for when it is absent |
/// | `#[attr(rest)] rest: Dict<'_>` | all attributes that no other parameter names; without it they are an error |
/// | `#[state] s: &S` | the state that the `instantiate` function made; also `#[state(prepare)]`, `#[state(initialize)]` |
/// | `#[dims(...)]` | the dimensions of a buffer |
/// | `#[sum(b)]` | a result without the dimensions `..b` of the batch is the sum over it |
/// | `#[arg]`, `#[ret]`, `#[inout]`, `#[ctx]` | the role of a parameter whose type is not listed above |
///
/// # Dimensions
///
/// | in `#[dims(...)]` | matches |
/// |---|---|
/// | `n` | one dimension; the same wherever `n` stands |
/// | `..b` | any number of dimensions; the same wherever `..b` stands |
/// | `4` | a dimension of that size |
/// | `h * w + 1` | a dimension of that size; `+ - * / %` and parentheses |
/// | `_`, `..` | any dimension; any number of dimensions |
///
/// A name is bound where it stands alone in an argument that is not optional (a variadic one without members binds
/// nothing), or by an integer attribute's parameter of that name. Expressions and results use bound names only. The
/// patterns are checked at each call, and give the shapes of the results; a result without a pattern has the shape of
/// the first argument.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// Sums blocks of `k` elements.
/// #[custom_call]
/// fn sum_blocks(#[attr] k: i64, #[dims(n)] x: &[f32], #[dims(n / k)] y: &mut [f32]) -> Result<()> {
///     for (y, x) in y.iter_mut().zip(x.chunks_exact(k as usize)) {
///         *y = x.iter().sum();
///     }
///     Ok(())
/// }
/// # fn main() {}
/// ```
///
/// # Return type
///
/// Nothing, or a `Result<(), E>` whose error converts into `oxcall::Error`. With an `Async<'f>` parameter, a
/// `Future<'f>` or `Result<Future<'f>>`.
#[proc_macro_attribute]
pub fn custom_call(args: TokenStream, item: TokenStream) -> TokenStream {
    match custom_call::parse(args.into(), item.clone().into()) {
        Ok(call) => expand::custom_call(&call),
        Err(error) => expand::rejected(error, item.into(), true, true),
    }
    .into()
}

/// Makes an operation over arrays of a function of single numbers, with its derivatives.
///
/// The function is generic in its numbers, `T: Real`. Its parameters of type `T` are operands, those with `#[attr]` are
/// attributes, of any type that is `Copy`; it returns `T`, or a tuple of them for several results. It stays an ordinary
/// function, for one number.
///
/// The operation applies it to each element of its operands, of dtype `f16`, `bf16`, `f32` or `f64`, with the vector
/// instructions that the processor has, on the host's threads. Operands are broadcast as NumPy does, and promoted as
/// `jax.numpy` and torch promote those of their own functions. Halves are computed in `f32`, and each result is rounded
/// once. `vmap`, sharding and symbolic shapes follow from the operation being one of elements.
///
/// Its derivatives are the function itself on dual numbers: operations of their own, `<name>_jvp` and `<name>_vjp`,
/// which `jax.jvp`, `jax.grad`, and PyTorch's counterparts use, and theirs in turn, for second derivatives. Results are
/// called `out`, or `out0`, `out1` and so on.
///
/// | option | meaning |
/// |---|---|
/// | `name = "..."` | The target name; without it, the function's name. |
/// | `derivatives = n` | How often it can be differentiated: 0 to 2, 2 by default. There are 2^(n + 1) - 1 operations. |
/// | `vjp = path` | A function in place of the derivative in reverse mode: of the operands, the cotangents of the results, and the attributes, to the cotangents of the operands. |
/// | `jvp = path` | The same in forward mode, of tangents. Where only one of the two is given, the other one is its transpose. |
/// | `crate = path` | Where `oxcall` is, for crates that re-export it. |
///
/// A number differs from element to element, so `if` cannot ask for it: both values are computed, and
/// [`Mask::select`](../oxcall/pointwise/trait.Mask.html) chooses.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// Huber's loss: a parabola up to `delta`, straight lines beyond.
/// #[pointwise]
/// fn huber<T: Real>(x: T, #[attr(default = 1.0)] delta: f64) -> T {
///     let size = x.abs();
///     size.less(delta).select(x * x * 0.5, (size - delta * 0.5) * delta)
/// }
/// # fn main() {
/// # use oxcall::pointwise::Scalar;
/// # assert_eq!([0.5, -3.0].map(|x| huber(Scalar(x), 1.0).0), [0.125, 2.5]);
/// # }
/// ```
#[proc_macro_attribute]
pub fn pointwise(args: TokenStream, item: TokenStream) -> TokenStream {
    match pointwise::parse(args.into(), item.clone().into()) {
        Ok(function) => expand::pointwise(&function),
        Err(error) => expand::rejected(error, item.into(), true, false),
    }
    .into()
}

/// Makes an operation of a function of rows.
///
/// `fn f(x: Row, y: Row, t: PerRow, #[attr] eps: f64) -> (Row, PerRow)`: an operand is an array of rows, along its last
/// axis, or of one number for each row, without that axis; so are the results. The function computes with rows and
/// numbers by the methods of [`Real`](../oxcall/pointwise/trait.Real.html), and reduces rows by [`sum`, `mean`, `max`
/// and `min`](../oxcall/rowwise/struct.Row.html). The operation runs it for all rows of arrays of `f16`, `bf16`, `f32`
/// or `f64`, on the host's threads. `vmap`, sharding along all dimensions but the last and symbolic shapes follow.
/// Operands are broadcast and promoted as those of `#[pointwise]`, unless one is a `PerRow`.
///
/// When a program is compiled, the function is called to record what it computes. So its body cannot ask for numbers:
/// both values are computed, and [`Mask::select`](../oxcall/pointwise/trait.Mask.html) chooses. An attribute has a
/// value then.
///
/// Derivatives are made of what was recorded, as operations `<name>_jvp` and `<name>_vjp`, and theirs in turn. Options
/// are those of [`#[pointwise]`](macro@pointwise): `name`, `derivatives` and `crate`.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// The cross entropy of labels and the softmax of logits.
/// #[rowwise]
/// fn cross_entropy(logits: Row, labels: Row) -> PerRow {
///     let shifted = logits - logits.max().stop_gradient();
///     (labels * (shifted.exp().sum().ln() - shifted)).sum()
/// }
/// # fn main() {}
/// ```
#[proc_macro_attribute]
pub fn rowwise(args: TokenStream, item: TokenStream) -> TokenStream {
    match rowwise::parse(args.into(), item.clone().into()) {
        Ok(function) => expand::rowwise(&function),
        Err(error) => expand::rejected(error, item.into(), true, false),
    }
    .into()
}

/// Makes a function of a stage before execute.
///
/// `#[stage(instantiate)]` runs once for each executable, `#[stage(prepare)]` and `#[stage(initialize)]` before each
/// execution (XLA's CPU runs only `instantiate`). The function returns a state, `S` or `Result<S>`, which the operation
/// and the stages after it borrow as `#[state] s: &S`, `#[state(prepare)]`, `#[state(initialize)]`. Its parameters are
/// attributes, contexts and states of earlier stages, as in [`#[custom_call]`](macro@custom_call). `crate = path` says
/// where `oxcall` is.
///
/// ```
/// use oxcall::prelude::*;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// struct Counter(AtomicU32);
///
/// #[stage(instantiate)]
/// fn start(#[attr(default = 0)] from: u32) -> Counter {
///     Counter(AtomicU32::new(from))
/// }
///
/// /// How often it was called.
/// #[custom_call(instantiate = start, side_effect)]
/// fn count(#[state] counter: &Counter, mut calls: ScalarOut<u32>) {
///     calls.set(counter.0.fetch_add(1, Ordering::Relaxed) + 1);
/// }
/// # fn main() {}
/// ```
#[proc_macro_attribute]
pub fn stage(args: TokenStream, item: TokenStream) -> TokenStream {
    match stage::parse(args.into(), item.clone().into()) {
        Ok(stage) => expand::stage(&stage),
        Err(error) => expand::rejected(error, item.into(), false, true),
    }
    .into()
}

/// Makes an enum the type of an attribute, given as a variant's name or number.
///
/// A variant's name is its identifier in snake case, or `#[attr(name = "...")]`. `#[attr(crate = path)]` on the enum
/// says where `oxcall` is.
///
/// ```
/// use oxcall::AttrEnum;
///
/// #[derive(AttrEnum)]
/// enum Mode {
///     Fast, // "fast" or 0
///     #[attr(name = "ieee")]
///     Precise = 7, // "ieee" or 7
/// }
/// ```
#[proc_macro_derive(AttrEnum, attributes(attr))]
pub fn derive_attr_enum(item: TokenStream) -> TokenStream {
    expanded(derive_enum::derive(item.into()))
}

/// Makes a struct the type of an attribute that is a dictionary.
///
/// Each field is an entry of the dictionary, of any type that an attribute can have, structs included. An entry may be
/// absent where the field is an `Option` or has a default; one that no field names is an error. The struct may have one
/// lifetime parameter, for what it borrows from the call.
///
/// | attribute of a field | meaning |
/// |---|---|
/// | `#[attr(name = "...")]` | the entry's name, where it is not the field's |
/// | `#[attr(default = expr)]` | the value where the entry is absent |
///
/// `#[attr(crate = path)]` on the struct says where `oxcall` is.
///
/// ```
/// use oxcall::AttrStruct;
///
/// #[derive(AttrStruct)]
/// struct Window<'a> {
///     size: [i64; 2],
///     #[attr(default = 1)]
///     stride: i64,
///     label: Option<&'a str>,
/// }
/// ```
#[proc_macro_derive(AttrStruct, attributes(attr))]
pub fn derive_attr_struct(item: TokenStream) -> TokenStream {
    expanded(derive_struct::derive(item.into()))
}

/// Makes a struct the parameters that a descriptor of `oxcall::habana` fills in for its kernel.
///
/// The kernel gets each field as the attribute of that name. Fields are numbers, `bool`, `String`, `Vec`s and arrays of
/// numbers; an `Option` of one is an attribute that may be absent.
///
/// | attribute of a field | meaning |
/// |---|---|
/// | `#[attr(name = "...")]` | the attribute's name, where it is not the field's |
///
/// `#[attr(crate = path)]` on the struct says where `oxcall` is.
///
/// ```
/// use oxcall::habana::UserParams;
///
/// #[derive(UserParams)]
/// struct BeamParams {
///     bsw: i64,
///     axis: i64,
///     #[attr(name = "bottomK")]
///     bottom: bool,
/// }
/// ```
#[proc_macro_derive(UserParams, attributes(attr))]
pub fn derive_user_params(item: TokenStream) -> TokenStream {
    expanded(derive_params::derive(item.into()))
}

/// Names the crates whose operations belong to a library, and links them in.
///
/// A crate that is only named in `Cargo.toml` is not linked, and its operations would be missing without a word. A
/// named crate that holds no operation is reported when the library is loaded. `crate` stands for the crate itself;
/// `crate: path` says where `oxcall` is.
///
/// ```ignore
/// // `my_linalg_ops` and `my_signal_ops` are dependencies of the library.
/// oxcall::library! { ops: [my_linalg_ops, my_signal_ops] }
/// ```
#[proc_macro]
pub fn library(input: TokenStream) -> TokenStream {
    expanded(library::library(input.into()))
}

fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}
