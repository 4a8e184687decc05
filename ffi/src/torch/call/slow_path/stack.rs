//! Values of the stack: taking them, and storing them at their destinations.

use super::Call;
use crate::torch::call::plan::{Destination, Input, Plan};
use crate::torch::libtorch::ivalue::{Attribute, IValue, handle};
use crate::torch::libtorch::tensor::Tensor;
use crate::{Error, Result};

/// The values of a stack that have not been taken yet; dropping it frees them.
struct Stack<'p> {
    plan: &'p Plan,
    slots: *mut u64,
    next: usize,
}

impl Drop for Stack<'_> {
    fn drop(&mut self) {
        while let Some(input) = self.plan.inputs.get(self.next) {
            // SAFETY: one value for each input, not taken yet.
            unsafe {
                let value = self.slots.add(self.next).read();
                self.next += 1;
                match input {
                    Input::Tensor(_) => drop(Tensor::own(self.plan.shim, handle(value))),
                    Input::Scalar(..) => {}
                    Input::Other(ty, _) => drop(IValue::take(self.plan.shim, *ty, value)),
                }
            }
        }
    }
}

impl Call<'_> {
    /// Takes all arguments from the stack.
    ///
    /// # Safety
    /// As for [`call`](super::call).
    #[inline]
    pub(super) unsafe fn take_inputs(&mut self, slots: *mut u64) -> Result<()> {
        let plan = self.plan;
        self.args.resize_with(plan.args.len() - usize::from(plan.variadic), || None);
        self.attrs.prepare(plan.names.len());
        let mut stack = Stack { plan, slots, next: 0 };
        while let Some(input) = plan.inputs.get(stack.next) {
            // SAFETY: one value for each input; the counter advances, so that each is taken once.
            unsafe {
                let value = slots.add(stack.next).read();
                stack.next += 1;
                match input {
                    Input::Tensor(index) => self.args[*index] = Some(Tensor::own(plan.shim, handle(value))),
                    Input::Scalar(index, dtype) => self.attrs.set_scalar(*index, *dtype, value),
                    Input::Other(ty, goes) => {
                        let taken = IValue::take(plan.shim, *ty, value)?;
                        self.place(goes, taken)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Stores a value at its destination.
    fn place(&mut self, goes: &Destination, value: IValue) -> Result<()> {
        match (goes, value) {
            (_, IValue::None) => {}
            (Destination::Arg(index), IValue::Tensor(tensor)) => self.args[*index] = Some(tensor),
            (Destination::Arg(_), IValue::Tensors(tensors)) => self.args.extend(tensors.into_iter().map(Some)),
            (Destination::Attr(at), IValue::Str(text)) if at.path.is_empty() => self.attrs.set_text(at.index, text)?,
            (Destination::Attr(at), IValue::Scalars(dtype, bits)) if at.path.is_empty() => {
                self.attrs.set_numbers(at.index, dtype, bits);
            }
            (Destination::Attr(at), value) => match value.attribute(self.plan.handler.attrs[at.index].name)? {
                Attribute::Scalar(dtype, bits) if at.path.is_empty() => {
                    self.attrs.set_scalar(at.index, dtype.code(), bits);
                }
                value => self.attrs.set(at.index, &at.path, value.into_value()),
            },
            (Destination::TypeParam(var), IValue::DType(dtype)) => {
                self.dtypes.push((Destination::TypeParam(*var), dtype));
            }
            (Destination::ResultDType(index), IValue::DType(dtype)) => {
                self.dtypes.push((Destination::ResultDType(*index), dtype));
            }
            _ => return Err(Error::internal("a value whose type differs from the schema")),
        }
        Ok(())
    }
}
