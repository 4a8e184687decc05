//! Calls an operation in a plain `#[test]`, without JAX: through real call frames, by the crate's own [`host`].
//!
//! ```
//! use oxcall::{ndarray::array, prelude::*, testing::call};
//!
//! #[custom_call]
//! fn negate(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
//!     y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = -x);
//! }
//!
//! let outputs = call::<negate>().arg(array![[3f32, 4.0]]).run()?;
//! assert_eq!(outputs.get::<f32>(0), array![[-3f32, -4.0]].into_dyn());
//!
//! let error = call::<negate>().arg([1f32]).ret_of::<f32>(&[2]).run().unwrap_err();
//! assert!(error.message().contains("result `y` has shape [2]"));
//! # Ok::<(), oxcall::Error>(())
//! ```
//!
//! [`host`]: crate::host

mod config;
mod infer;
mod instance;
#[cfg(test)]
mod tests;
mod value;

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Stream};
use instance::CallSpec;
use ndarray::ArrayD;

pub use self::instance::Instance;
pub use self::value::Value;
use crate::api::HostApi;
use crate::context::UserDataType;
use crate::descriptor::{Handler, Op, Stage};
use crate::element::Element;
use crate::host::{AttrValue, HeapScratch, HostVersion, LazyPool};
use crate::{DType, Error, Result};

/// A call of operation `O`.
pub fn call<O: Op>() -> Call {
    Call::new(O::HANDLER)
}

/// A call in the making: arguments, results, attributes, and what its host offers.
///
/// Unless said otherwise the host is the newest, has two threads and neither stream, scratch memory, user data nor
/// custom options, and runs every stage that the operation has.
#[must_use = "a call does nothing until it is `run`"]
pub struct Call {
    spec: CallSpec,
    args: Vec<Value>,
}

impl Call {
    /// A call of the operation that `handler` describes.
    pub fn new(handler: &'static Handler) -> Call {
        let spec = CallSpec {
            handler,
            attrs: Vec::new(),
            rets: None,
            dtypes: Vec::new(),
            num_results: None,
            aliases: Vec::new(),
            config: Config::default(),
        };
        Call { spec, args: Vec::new() }
    }

    /// Adds an argument.
    pub fn arg(mut self, value: impl Into<Value>) -> Call {
        self.args.push(value.into());
        self
    }

    /// Adds arguments.
    pub fn args<V: Into<Value>>(mut self, values: impl IntoIterator<Item = V>) -> Call {
        self.args.extend(values.into_iter().map(Into::into));
        self
    }

    /// Adds an attribute.
    pub fn attr(mut self, name: impl Into<String>, value: impl Into<AttrValue>) -> Call {
        self.spec.attrs.push((name.into(), value.into()));
        self
    }

    /// Adds a result. Without any, the results follow from the operation's own rule.
    pub fn ret(mut self, dtype: DType, dims: &[i64]) -> Call {
        self.spec.rets.get_or_insert_default().push((dtype, dims.to_vec()));
        self
    }

    /// Adds a result with elements of type `T`.
    pub fn ret_of<T: Element>(self, dims: &[i64]) -> Call {
        self.ret(T::DTYPE, dims)
    }

    /// The number of results, where it does not follow from the arguments.
    pub fn num_results(mut self, number: usize) -> Call {
        self.spec.num_results = Some(number);
        self
    }

    /// The dtype of a type parameter, or of a result, where it does not follow from the arguments.
    pub fn dtype(mut self, name: impl Into<String>, dtype: DType) -> Call {
        self.spec.dtypes.push((name.into(), dtype));
        self
    }

    /// Puts result `ret` into the memory of argument `arg`, as `input_output_aliases` of `jax.ffi.ffi_call` does.
    pub fn alias(mut self, arg: usize, ret: usize) -> Call {
        self.spec.aliases.push((arg, ret));
        self
    }

    /// The host's version.
    pub fn host(mut self, version: HostVersion) -> Call {
        self.spec.config.version = version;
        self
    }

    /// The number of the host's threads; with 0 it lends none, as on a GPU.
    pub fn threads(mut self, threads: usize) -> Call {
        self.spec.config.pool = match threads {
            0 => None,
            threads => Some(Arc::new(LazyPool::new(threads))),
        };
        self
    }

    /// The platform's stream. It must be usable on every thread that runs the operation.
    pub fn stream(mut self, stream: *mut c_void) -> Call {
        self.spec.config.stream = Some(Stream(stream));
        self
    }

    /// Lends scratch memory, at most `limit` bytes at once. XLA:CPU has none.
    pub fn scratch(mut self, limit: usize) -> Call {
        self.spec.config.scratch = Some(Arc::new(HeapScratch::with_limit(limit)));
        self
    }

    /// The number of the device; 0 unless given.
    pub fn device_ordinal(mut self, ordinal: i32) -> Call {
        self.spec.config.device_ordinal = ordinal;
        self
    }

    /// The id of every run; without one, run ids count up.
    pub fn run_id(mut self, run_id: i64) -> Call {
        self.spec.config.run_id = Some(run_id);
        self
    }

    /// Sets user data, which the handler gets as [`UserData<T>`](crate::context::UserData).
    pub fn user_data<T: UserDataType>(self, data: T) -> Call {
        let type_id = |version: HostVersion| {
            // SAFETY: the tables of this crate's hosts are static.
            let api = unsafe { HostApi::new(version.api()) };
            let api = api.ok_or_else(|| Error::internal("the host has no API table"))?;
            T::host_type().id(api).map(|id| id.type_id)
        };
        self.user_data_as(type_id, Arc::new(data))
    }

    /// Sets user data of the type whose id on a host `type_id` finds.
    fn user_data_as<T: Any + Send + Sync>(
        mut self,
        type_id: impl Fn(HostVersion) -> Result<i64> + Send + Sync + 'static,
        data: Arc<T>,
    ) -> Call {
        self.spec.config.user_data.push((Arc::new(type_id), data));
        self
    }

    /// Adds a custom option (API 0.5).
    pub fn custom_option(mut self, name: impl Into<String>, value: impl Into<AttrValue>) -> Call {
        self.spec.config.options.push((name.into(), value.into()));
        self
    }

    /// Does not run a stage.
    pub fn skip_stage(mut self, stage: Stage) -> Call {
        self.spec.config.skipped.push(stage);
        self
    }

    /// Runs the stages that XLA:CPU runs: instantiate and execute.
    pub fn cpu_stages(self) -> Call {
        self.skip_stage(Stage::Prepare).skip_stage(Stage::Initialize)
    }

    /// How long an asynchronous operation may take; a minute unless given.
    pub fn timeout(mut self, timeout: Duration) -> Call {
        self.spec.config.timeout = timeout;
        self
    }

    /// Instantiates the operation and runs it once.
    ///
    /// # Errors
    /// As for [`instance`](Call::instance) and [`Instance::run`].
    pub fn run(mut self) -> Result<Outputs> {
        let args = std::mem::take(&mut self.args);
        self.instance()?.run_values(args)
    }

    /// Instantiates the operation, to run it many times; arguments given so far are forgotten.
    ///
    /// # Errors
    /// The error that the instantiate stage returned; `INVALID_ARGUMENT` if the host does not support the
    /// handler's version.
    pub fn instance(self) -> Result<Instance> {
        Instance::new(self.spec)
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("op", &self.spec.handler.name).finish_non_exhaustive()
    }
}

/// The results of a call. Elements that the operation left unwritten have 0xA5 in every byte (`pred`: 0).
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs(Vec<Value>);

impl Outputs {
    /// Result `index` as an ndarray array.
    ///
    /// # Panics
    /// If there is no such result, its dtype is not that of `T`, or a `bool` has another byte than 0 and 1.
    pub fn get<T: Element>(&self, index: usize) -> ArrayD<T> {
        self.value(index).to_array()
    }

    /// Result `index`.
    ///
    /// # Panics
    /// If there is no such result.
    pub fn value(&self, index: usize) -> &Value {
        &self.0[index]
    }

    /// The bytes of result `index`.
    ///
    /// # Panics
    /// If there is no such result.
    pub fn bytes(&self, index: usize) -> &[u8] {
        self.value(index).bytes()
    }

    /// All results, in order.
    pub fn values(&self) -> &[Value] {
        &self.0
    }

    /// The results themselves.
    pub fn into_values(self) -> Vec<Value> {
        self.0
    }
}
