//! The results of a call: their dtypes, dimensions and tensors, and the values for torch.

use serde_json::{Map, Value};
use smallvec::SmallVec;
use xla_ffi_sys::xla_ffi as sys;

use super::Call;
use crate::descriptor::{Arity, DTypeRule, Role};
use crate::shape::{self, Shape};
use crate::torch::call::attrs::CallAttrs;
use crate::torch::call::buffer::buffer;
use crate::torch::call::plan::{Destination, Output, OutputDType, OutputKind};
use crate::torch::libtorch::device::Device;
use crate::torch::libtorch::handles::List;
use crate::torch::libtorch::memory_format::channels_last_strides;
use crate::torch::libtorch::tensor::{Tensor, contiguous_strides};
use crate::{DType, Error, Result, attr};

impl Call<'_> {
    /// Makes the tensors of the results, and describes all results behind the arguments.
    #[inline]
    pub(crate) fn make_results(&mut self, attrs: &CallAttrs) -> Result<()> {
        let plan = self.plan;
        if plan.by_function {
            return self.make_inferred(attrs);
        }
        for output in &plan.outputs {
            if let OutputKind::InPlace(index) = output.kind {
                // An absent optional parameter is absent among both arguments and results.
                if index < self.args.len() {
                    self.buffers.push(self.buffers[index]);
                }
                continue;
            }
            let (dtype, code) = self.dtype(output)?;
            let first = |index: usize| self.buffers.get(index).map(dims).ok_or_else(|| no_shape(self, output));
            match output.kind {
                OutputKind::Like(index) => {
                    let dims = first(index)?;
                    self.make(dtype, code, dims)?;
                }
                OutputKind::Rank0 => self.make(dtype, code, &[])?,
                _ => {
                    let dims = self.dims_by_pattern(output, attrs)?;
                    self.make(dtype, code, &dims)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the tensor of one result, and describes it.
    #[inline]
    fn make(&mut self, dtype: DType, code: i32, dims: &[i64]) -> Result<()> {
        let mut strides: SmallVec<[i64; 8]> = SmallVec::from_elem(0, dims.len());
        match self.channels_last {
            // Nothing is computed: the tensor only carries the format.
            Some(rank) if self.meta && rank == dims.len() => channels_last_strides(dims, &mut strides),
            _ => contiguous_strides(dims, &mut strides),
        }
        let tensor = Tensor::empty(self.plan.shim, dims, &strides, code, self.device()?)?;
        // The tensor's own sizes live as long as the call.
        let description = buffer(dtype, tensor.data()?, tensor.sizes()?);
        self.buffers.push(description);
        self.results.push(tensor);
        Ok(())
    }

    /// The device of the results.
    #[inline]
    pub(crate) fn device(&self) -> Result<Device> {
        let plan = self.plan;
        if plan.on_host && !self.meta {
            return Ok(plan.device);
        }
        let alone = if self.meta { Device { ty: plan.shim.meta, index: -1 } } else { plan.device };
        self.args.iter().flatten().next().map_or(Ok(alone), Tensor::device)
    }

    /// Checks all shapes against the patterns, as a call of the operation does.
    pub(crate) fn check_shapes(&self, num_args: usize, attrs: &CallAttrs) -> Result<()> {
        let (args, results) = self.buffers.split_at(num_args);
        let [args, results] = [args, results].map(|side| side.iter().map(dims).collect::<Vec<&[i64]>>());
        let integers: Vec<(&str, i64)> = self.integers(attrs).collect();
        shape::check(self.plan.handler, &args[..], &results[..], &integers)
    }

    /// The dtype of a result.
    #[inline]
    fn dtype(&self, output: &Output) -> Result<(DType, i32)> {
        let dtype = match &output.dtype {
            OutputDType::Fixed(dtype, code) => return Ok((*dtype, *code)),
            OutputDType::Like(index) => self.dtype_of_argument(*index),
            OutputDType::TypeParam(var) => {
                let params = (0..self.args.len()).map(|index| self.plan.param(index));
                let bound = params.enumerate().find(|(_, param)| param.dtype == DTypeRule::Var(*var));
                let given =
                    self.dtypes.iter().find(|(goes, _)| matches!(goes, Destination::TypeParam(other) if other == var));
                let only = || match self.plan.handler.type_params[*var].dtypes {
                    [one] => Some(*one),
                    _ => None,
                };
                bound
                    .and_then(|(index, _)| self.dtype_of_argument(index))
                    .or(given.map(|(_, dtype)| *dtype))
                    .or_else(only)
            }
            OutputDType::Requested(param) => {
                let given = self
                    .dtypes
                    .iter()
                    .find(|(goes, _)| matches!(goes, Destination::ResultDType(other) if other == param));
                given.map(|(_, dtype)| *dtype).or_else(|| self.dtype_of_argument(0))
            }
        };
        let name = self.plan.handler.params[output.param].name;
        let dtype = dtype
            .ok_or_else(|| Error::invalid_argument(format!("no argument determines the dtype of result `{name}`")))?;
        self.code(dtype).map(|code| (dtype, code))
    }

    /// torch's code of a dtype.
    fn code(&self, dtype: DType) -> Result<i32> {
        let code = self.plan.shim.dtypes.code(dtype);
        code.ok_or_else(|| Error::invalid_argument(format!("this torch has no tensors of dtype {dtype}")))
    }

    fn dtype_of_argument(&self, index: usize) -> Option<DType> {
        // Results may already be described behind the arguments.
        DType::from_code(self.buffers[..self.args.len()].get(index)?.dtype)
    }

    /// The dimensions of a result that a pattern gives.
    fn dims_by_pattern(&self, output: &Output, attrs: &CallAttrs) -> Result<Vec<i64>> {
        let (OutputKind::Pattern(pattern) | OutputKind::Broadcast(pattern)) = output.kind else {
            return Err(no_shape(self, output));
        };
        let args: SmallVec<[&[i64]; 8]> = self.buffers[..self.args.len()].iter().map(dims).collect();
        let integers: SmallVec<[(&str, i64); 8]> = self.integers(attrs).collect();
        shape::result_dims(self.plan.handler, &args[..], &integers, output.param, pattern)
    }

    /// The attributes that are integers.
    fn integers(&self, attrs: &CallAttrs) -> impl Iterator<Item = (&'static str, i64)> {
        let known = self.plan.handler.attrs;
        attrs.given().filter_map(|(index, attr)| Some((known[index].name, attr.scalar()?.exact::<i64>()?)))
    }

    /// Makes the results of an operation with a shape function.
    fn make_inferred(&mut self, attrs: &CallAttrs) -> Result<()> {
        let plan = self.plan;
        let num_args = self.args.len();
        let shape =
            |buffer: &sys::XLA_FFI_Buffer| DType::from_code(buffer.dtype).map(|dtype| Shape::new(dtype, dims(buffer)));
        let args: Vec<Shape> = self.buffers.iter().filter_map(shape).collect();
        let named = attrs.given().map(|(index, attr)| Ok((plan.handler.attrs[index].name.to_owned(), json(attr)?)));
        let attrs: Map<String, Value> = named.collect::<Result<_>>()?;
        let given = |goes: &Destination| match goes {
            Destination::TypeParam(var) => plan.handler.type_params[*var].name,
            Destination::ResultDType(param) => plan.handler.params[*param].name,
            Destination::Arg(_) | Destination::Attr(_) => "",
        };
        let dtypes: Vec<(&str, DType)> = self.dtypes.iter().map(|(goes, dtype)| (given(goes), *dtype)).collect();
        let results = shape::infer(plan.handler, &args, &attrs, &dtypes, None)?;
        let mut in_place = plan.outputs.iter().filter_map(|output| match output.kind {
            OutputKind::InPlace(index) if index < num_args => Some((output, index)),
            _ => None,
        });
        let roles = self.roles(results.len());
        for (shape, role) in results.iter().zip(roles) {
            if role == Role::InOut {
                if let Some((_, index)) = in_place.next() {
                    self.buffers.push(self.buffers[index]);
                }
                continue;
            }
            self.make(shape.dtype, self.code(shape.dtype)?, &shape.dims)?;
        }
        Ok(())
    }

    /// The role of each of `count` results: in place or separate.
    fn roles(&self, count: usize) -> Vec<Role> {
        let params = self.plan.handler.params;
        let mut roles = Vec::with_capacity(count);
        for output in &self.plan.outputs {
            let param = &params[output.param];
            let absent = matches!(output.kind, OutputKind::InPlace(index) if index >= self.args.len());
            let members = match param.arity {
                Arity::Variadic => count.saturating_sub(roles.len()),
                _ => usize::from(!absent),
            };
            roles.extend(std::iter::repeat_n(param.role, members));
        }
        roles
    }

    /// Puts the results on the stack.
    ///
    /// # Safety
    /// The stack has room for the results of the schema.
    pub(crate) unsafe fn leave_results(&mut self, stack: *mut u64) -> Result<()> {
        let plan = self.plan;
        let mut results = std::mem::take(&mut self.results).into_iter();
        let mut slot = 0;
        for output in &plan.outputs {
            let value = match output.kind {
                OutputKind::InPlace(_) => continue,
                _ if plan.handler.params[output.param].arity == Arity::Variadic => {
                    let list = List::with_capacity(plan.shim, results.len())?;
                    for tensor in results.by_ref() {
                        list.push(value(tensor))?;
                    }
                    list.into_value()
                }
                _ => match results.next() {
                    Some(tensor) => value(self.formatted(tensor)?),
                    None => return Err(Error::internal("a result is missing")),
                },
            };
            // SAFETY: as the caller guarantees.
            unsafe { stack.add(slot).write(value) };
            slot += 1;
        }
        Ok(())
    }
}

impl Call<'_> {
    /// A result in its required memory format; operations write row-major ones.
    #[inline]
    fn formatted(&self, tensor: Tensor) -> Result<Tensor> {
        match self.channels_last {
            Some(rank) if !self.meta && tensor.sizes()?.len() == rank => self.to_channels_last(&tensor),
            _ => Ok(tensor),
        }
    }

    #[cold]
    fn to_channels_last(&self, tensor: &Tensor) -> Result<Tensor> {
        let sizes = tensor.sizes()?;
        let mut strides: SmallVec<[i64; 8]> = SmallVec::from_elem(0, sizes.len());
        channels_last_strides(sizes, &mut strides);
        let formatted = Tensor::empty(self.plan.shim, sizes, &strides, tensor.dtype_code()?, tensor.device()?)?;
        formatted.copy_from(tensor)?;
        Ok(formatted)
    }
}

/// Converts a tensor to a value of the stack, which then belongs to torch.
#[inline]
fn value(tensor: Tensor) -> u64 {
    tensor.into_handle().expose_provenance() as u64
}

/// The dimensions of a described buffer.
#[inline]
fn dims<'a>(buffer: &sys::XLA_FFI_Buffer) -> &'a [i64] {
    if buffer.rank == 0 {
        return &[];
    }
    // SAFETY: made by `buffer` of a slice that lives as long as the tensor, which the call owns.
    unsafe { std::slice::from_raw_parts(buffer.dims, buffer.rank as usize) }
}

#[cold]
fn no_shape(call: &Call<'_>, output: &Output) -> Error {
    let name = call.plan.handler.params[output.param].name;
    Error::invalid_argument(format!("no argument determines the shape of result `{name}`"))
}

/// An attribute in the form for shape functions.
fn json(attr: attr::Attr<'_>) -> Result<Value> {
    let value = attr.value().map_err(|error| Error::internal(error.to_string()))?;
    Ok(match value {
        attr::AttrValue::Scalar(scalar) => number(scalar),
        attr::AttrValue::Array(array) => (0..array.len()).filter_map(|i| array.get(i)).map(number).collect(),
        attr::AttrValue::String(text) => text.into(),
        attr::AttrValue::Dictionary(dict) => {
            let entries = dict.iter().map(|(name, attr)| Ok((name.to_owned(), json(attr)?)));
            Value::Object(entries.collect::<Result<_>>()?)
        }
    })
}

/// A scalar of one of the dtypes that torch passes.
fn number(scalar: attr::AttrScalar<'_>) -> Value {
    let integer = || scalar.exact::<i64>().map(Value::from);
    let float = || scalar.exact::<f64>().map(Value::from);
    integer().or_else(float).or_else(|| scalar.exact::<bool>().map(Value::from)).unwrap_or(Value::Null)
}
