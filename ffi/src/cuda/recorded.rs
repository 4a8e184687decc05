//! Kernels of recorded functions: what those of single numbers and those of rows have in common.

use std::borrow::Cow;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};

use super::module::MOST_ARGUMENTS;
use super::{Argument, KernelDecl, Launch, Loaded, Module, PassAs, Source};
use crate::buffer::{DeviceArray, DeviceOut};
use crate::context::Context;
use crate::pointwise::Stored;
use crate::sync::Mutex;
use crate::{Error, Result};

/// The parameters of the longest kernel, of which the last ones are sizes.
const fn params(sizes: &[&'static str]) -> [(&'static str, usize); MOST_ARGUMENTS] {
    let mut params = [("operand or result", size_of::<*const u8>()); MOST_ARGUMENTS];
    let mut index = 0;
    while index < sizes.len() {
        params[MOST_ARGUMENTS - sizes.len() + index] = (sizes[index], size_of::<u64>());
        index += 1;
    }
    params
}

/// The kinds of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pointwise,
    Rowwise,
}

impl Kind {
    /// The name of a module and of its kernel.
    fn name(self) -> &'static str {
        match self {
            Kind::Pointwise => "pointwise",
            Kind::Rowwise => "rowwise",
        }
    }

    /// The parameters of a kernel with so many.
    fn params(self, count: usize) -> &'static [(&'static str, usize)] {
        static POINTWISE: [(&str, usize); MOST_ARGUMENTS] = params(&["n"]);
        static ROWWISE: [(&str, usize); MOST_ARGUMENTS] = params(&["rows", "n"]);
        let all = match self {
            Kind::Pointwise => &POINTWISE,
            Kind::Rowwise => &ROWWISE,
        };
        &all[MOST_ARGUMENTS - count..]
    }
}

/// The kernels of a function, one for each float dtype.
pub(super) struct Recorded {
    module: Arc<Module>,
    operands: usize,
    results: usize,
    sizes: usize,
}

impl Recorded {
    /// The kernels whose text is given by `print`; they take the operands, the results and so many sizes.
    ///
    /// # Errors
    /// If these are more than a kernel takes; that of `print`.
    pub(super) fn new(
        kind: Kind,
        [operands, results, sizes]: [usize; 3],
        print: impl FnOnce() -> Result<String>,
    ) -> Result<Recorded> {
        if operands + results + sizes > MOST_ARGUMENTS {
            return Err(Error::unimplemented(format!(
                "expected at most {} operands and results, got {operands} and {results}",
                MOST_ARGUMENTS - sizes
            )));
        }
        let module = shared(kind, print()?, operands + results + sizes);
        Ok(Recorded { module, operands, results, sizes })
    }

    pub(super) fn load_for(&self, context: &Context<'_>) -> Result<Loaded> {
        self.module.load_for(context)
    }

    /// Whether there are as many arrays as the function has, and `fits` of each, operands and results.
    pub(super) fn check<T>(
        &self,
        inputs: &[Buffer<'_, T>],
        outputs: &[Buffer<'_, T>],
        fits: impl Fn(&Buffer<'_, T>, bool, usize) -> bool,
    ) -> Result<()> {
        let all = |buffers: &[Buffer<'_, T>], is_result: bool| {
            buffers.iter().enumerate().all(|(index, buffer)| fits(buffer, is_result, index))
        };
        if (inputs.len(), outputs.len()) == (self.operands, self.results) && all(inputs, false) && all(outputs, true) {
            return Ok(());
        }
        Err(Error::internal("expected arrays of the function's number and sizes"))
    }

    /// Enqueues the kernel of a dtype.
    ///
    /// # Errors
    /// Those of a launch.
    ///
    /// # Safety
    /// The arrays have passed [`check`](Recorded::check), and the sizes are theirs, as the kernel takes them.
    pub(super) unsafe fn launch<T: Stored>(
        &self,
        launch: Launch<'_>,
        inputs: &[Buffer<'_, T>],
        outputs: &[Buffer<'_, T>],
        sizes: &[u64],
    ) -> Result<()> {
        let mut arguments = [PassAs::<u64>::pass(0); MOST_ARGUMENTS];
        let buffers = inputs.iter().chain(outputs).map(|buffer| buffer.argument);
        let given = buffers.chain(sizes.iter().map(|size| PassAs::<u64>::pass(*size)));
        arguments.iter_mut().zip(given).for_each(|(argument, given)| *argument = given);
        let count = self.operands + self.results + self.sizes;
        // SAFETY: the kernel has these parameters, as it was printed; the rest is the caller's.
        unsafe { self.module.launch(0, Some(T::DTYPE), launch, &mut arguments[..count]) }
    }
}

/// An operand or a result of a kernel's function.
pub struct Buffer<'b, T> {
    argument: Argument,
    len: usize,
    _borrow: PhantomData<&'b T>,
}

impl<T> Buffer<'_, T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

/// An operand of a name.
pub fn operand<'b, T: Stored>(name: &'static str, array: &'b DeviceArray<'_, T>) -> Buffer<'b, T> {
    Buffer { len: array.len(), argument: PassAs::<*const T>::pass(array).named(name), _borrow: PhantomData }
}

/// A result of a name.
pub fn result<'b, T: Stored>(name: &'static str, array: &'b mut DeviceOut<'_, T>) -> Buffer<'b, T> {
    Buffer { len: array.len(), argument: PassAs::<*mut T>::pass(array).named(name), _borrow: PhantomData }
}

/// The module of a text; it lives as long as a program that uses it.
fn shared(kind: Kind, text: String, params: usize) -> Arc<Module> {
    static MODULES: Mutex<Option<HashMap<String, Weak<Module>>>> = Mutex::new(None);
    let mut modules = MODULES.lock();
    let modules = modules.get_or_insert_default();
    if let Some(module) = modules.get(&text).and_then(Weak::upgrade) {
        return module;
    }
    modules.retain(|_, module| module.strong_count() > 0);
    let kernel = KernelDecl { name: kind.name(), dtypes: KernelDecl::FLOATS, params: kind.params(params) };
    let source = Source::CudaC(Cow::Owned(text.clone()));
    let module = Arc::new(Module::owned(kind.name(), source, vec![kernel]));
    modules.insert(text, Arc::downgrade(&module));
    module
}
