//! Kernels of pointwise functions: the support code of `#[pointwise]`.
//!
//! The function is recorded with the attributes of the call, printed as CUDA C, and compiled once for all calls that
//! give the same text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use oxcall_math::real::Expression;

use super::module::MOST_ARGUMENTS;
use super::{Argument, Cuda, KernelDecl, Launch, Loaded, Module, PassAs, Source, print};
use crate::buffer::{DeviceArray, DeviceOut};
use crate::context::Context;
use crate::pointwise::{Map, Stored};
use crate::sync::Mutex;
use crate::{Error, Result};

/// The kernels of a function with the attributes of a call: a state of its instantiate stage.
pub struct Kernels {
    module: Arc<Module>,
    operands: usize,
    results: usize,
}

/// The parameters of the longest kernel.
const PARAMS: [(&str, usize); MOST_ARGUMENTS] = {
    let mut params = [("operand or result", size_of::<*const u8>()); MOST_ARGUMENTS];
    params[MOST_ARGUMENTS - 1] = ("n", size_of::<u64>());
    params
};

impl Kernels {
    /// The kernels of a function.
    ///
    /// # Errors
    /// If the function has thousands of operations, or more operands than a kernel takes.
    pub fn new<M: Map<I, O>, const I: usize, const O: usize>(map: M) -> Result<Kernels> {
        let expression = Expression::trace(|inputs| map.call(inputs))
            .ok_or_else(|| Error::unimplemented("a kernel of a function of more than 4096 operations"))?;
        if I + O + 1 > MOST_ARGUMENTS {
            return Err(Error::unimplemented(format!(
                "a kernel with {I} operands and {O} results: at most {} are possible together",
                MOST_ARGUMENTS - 1
            )));
        }
        let text = print::kernel(&expression).ok_or_else(|| Error::unimplemented("a kernel of a function of rows"))?;
        Ok(Kernels { module: shared(text, I + O + 1), operands: I, results: O })
    }

    /// Loads them on the device of a call.
    ///
    /// # Errors
    /// As for [`Module::load_for`].
    pub fn load_for(&self, context: &Context<'_>) -> Result<Loaded> {
        self.module.load_for(context)
    }

    /// Applies the function to the elements of arrays of one size.
    ///
    /// # Errors
    /// If these are not arrays of one size, as many as the function has; those of a launch.
    pub fn run<T: Stored, const I: usize, const O: usize>(
        &self,
        cuda: &Cuda<'_>,
        inputs: [Buffer<'_, T>; I],
        outputs: [Buffer<'_, T>; O],
    ) -> Result<()> {
        let len = outputs.first().map_or(0, |output| output.len);
        let fits = inputs.iter().chain(&outputs).all(|buffer| buffer.len == len);
        if !fits || (I, O) != (self.operands, self.results) {
            return Err(Error::internal("arrays that are not those of the function"));
        }
        let mut arguments = [PassAs::<u64>::pass(len as u64); MOST_ARGUMENTS];
        let given = inputs.into_iter().chain(outputs).map(|buffer| buffer.argument);
        arguments.iter_mut().zip(given).for_each(|(argument, given)| *argument = given);
        let launch = Launch::elements(cuda, len as u64)?;
        // SAFETY: the kernel has these parameters, as it was printed; it reads and writes `len` elements of each.
        unsafe { self.module.launch(0, Some(T::DTYPE), launch, &mut arguments[..I + O + 1]) }
    }
}

/// An operand or a result of a kernel's function.
pub struct Buffer<'b, T> {
    argument: Argument,
    len: usize,
    _borrow: PhantomData<&'b T>,
}

/// An operand.
pub fn operand<'b, T: Stored>(array: &'b DeviceArray<'_, T>) -> Buffer<'b, T> {
    Buffer { len: array.len(), argument: array.pass(), _borrow: PhantomData }
}

/// A result.
pub fn result<'b, T: Stored>(array: &'b mut DeviceOut<'_, T>) -> Buffer<'b, T> {
    Buffer { len: array.len(), argument: array.pass(), _borrow: PhantomData }
}

/// The module of a text; it lives as long as a program that uses it.
fn shared(text: String, params: usize) -> Arc<Module> {
    static MODULES: Mutex<Option<HashMap<String, Weak<Module>>>> = Mutex::new(None);
    let mut modules = MODULES.lock();
    let modules = modules.get_or_insert_default();
    if let Some(module) = modules.get(&text).and_then(Weak::upgrade) {
        return module;
    }
    modules.retain(|_, module| module.strong_count() > 0);
    let kernel =
        KernelDecl { name: "pointwise", dtypes: KernelDecl::FLOATS, params: &PARAMS[MOST_ARGUMENTS - params..] };
    let source = Source::CudaC(Cow::Owned(text.clone()));
    let module = Arc::new(Module::owned("pointwise", source, vec![kernel]));
    modules.insert(text, Arc::downgrade(&module));
    module
}
