//! Arguments of one dtype and one shape, for operations whose operands are promoted and broadcast.

use smallvec::SmallVec;

use super::{Call, INLINE};
use crate::descriptor::DTypeRule;
use crate::torch::promotion::{is_integral, result_type};
use crate::{DType, Result, shape};

impl Call<'_> {
    /// Replaces arguments of another dtype or shape by copies with those of all arguments, as torch's own operators
    /// take them. The handler broadcasts arguments itself where it can.
    ///
    /// Arguments without a common dtype that the operation takes stay as they are: the handler names them in its error.
    pub(super) fn promote(&mut self) -> Result<()> {
        let traits = &self.plan.handler.traits;
        if !traits.broadcast {
            return Ok(());
        }
        let dims = if traits.expands() { None } else { self.common_dims()? };
        let params = self.plan.handler.type_params.len();
        let dtypes = (0..params).map(|var| self.common_dtype(var)).collect::<Result<SmallVec<[_; 2]>>>()?;
        for index in 0..self.args.len() {
            let Some(tensor) = &self.args[index] else { continue };
            let wanted = match self.plan.param(index).dtype {
                DTypeRule::Var(var) => dtypes[var],
                _ => None,
            };
            let (own, sizes) = (tensor.dtype_code()?, tensor.sizes()?);
            let code = wanted.and_then(|dtype| self.plan.shim.dtypes.code(dtype)).unwrap_or(own);
            let dims = dims.as_deref().unwrap_or(sizes);
            if code != own || dims != sizes {
                let copy = self.check_storage(tensor).and_then(|()| tensor.copy_as(dims, code));
                self.args[index] = Some(copy.map_err(|error| self.of_argument(index, error))?);
            }
        }
        Ok(())
    }

    /// The dtype of the arguments of a type parameter, if the operation takes it. Integers become floats for operations
    /// that take only these, and booleans become integers, as in `x + 0`, for others.
    fn common_dtype(&self, var: usize) -> Result<Option<DType>> {
        let mut given: SmallVec<[(DType, bool); INLINE]> = SmallVec::new();
        for (index, tensor) in self.args.iter().enumerate() {
            if let Some(tensor) = tensor
                && self.plan.param(index).dtype == DTypeRule::Var(var)
            {
                given.push((tensor.dtype()?, !tensor.sizes()?.is_empty()));
            }
        }
        let allowed = self.plan.handler.type_params[var].dtypes;
        let takes = |dtype: &DType| allowed.contains(dtype);
        let common = result_type(given.into_iter());
        let integer = common.filter(|dtype| *dtype == DType::Pred).map(|_| DType::S64);
        let float = common.filter(|dtype| is_integral(*dtype)).map(|_| self.plan.shim.default_dtype());
        Ok([common, integer, float].into_iter().flatten().find(takes))
    }

    /// The dimensions to which all arguments are broadcast; `None` if they have them already.
    fn common_dims(&self) -> Result<Option<Vec<i64>>> {
        let mut dims: SmallVec<[&[i64]; INLINE]> = SmallVec::new();
        for tensor in self.args.iter().flatten() {
            dims.push(tensor.sizes()?);
        }
        if dims.iter().all(|other| *other == dims[0]) {
            return Ok(None);
        }
        shape::broadcast(self.plan.handler.params, &dims[..]).map(Some)
    }
}
