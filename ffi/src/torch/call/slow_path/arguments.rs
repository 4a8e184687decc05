//! Arguments of a call: their order, memory and buffers.

use xla_ffi_sys::xla_ffi as sys;

use super::Call;
use crate::torch::call::buffer::{buffer, bytes, describe};
use crate::torch::dispatch_key::dispatch_key;
use crate::torch::libtorch::memory_format::is_channels_last;
use crate::torch::libtorch::tensor::{Tensor, is_contiguous};
use crate::{Error, Result};

/// A broadcast view of a row-major tensor, as `expand` makes them, and its dimensions in memory: 1 for those that
/// repeat elements. `None` for any other tensor.
fn view(tensor: &Tensor) -> Result<Option<(sys::XLA_FFI_Buffer, Vec<i64>)>> {
    let sizes = tensor.sizes()?;
    let strides = tensor.strides(sizes.len())?;
    let dims: Vec<i64> =
        sizes.iter().zip(strides).map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size }).collect();
    if !is_contiguous(&dims, strides) {
        return Ok(None);
    }
    Ok(Some((buffer(tensor.dtype()?, tensor.data()?, sizes), dims)))
}

impl Call<'_> {
    /// Describes the arguments as buffers, after copying those that are not row-major.
    #[inline]
    pub(super) fn describe_args(&mut self) -> Result<()> {
        if !self.plan.fixed {
            self.drop_absent()?;
        }
        if !self.plan.on_host {
            self.check_devices()?;
        }
        self.promote()?;
        self.note_memory_format()?;
        for index in 0..self.args.len() {
            let Some(tensor) = &self.args[index] else { continue };
            let buffer = self
                .check_storage(tensor)
                .and_then(|()| describe(tensor))
                .map_err(|error| self.of_argument(index, error))?;
            let view = if buffer.is_none() && self.plan.handler.traits.expands() { view(tensor)? } else { None };
            let buffer = match (buffer, view) {
                (Some(buffer), _) => buffer,
                (None, Some((buffer, dims))) => {
                    self.views.push((index, dims));
                    buffer
                }
                (None, None) => self.make_contiguous(index).map_err(|error| self.of_argument(index, error))?,
            };
            self.buffers.push(buffer);
        }
        if !self.plan.in_place.is_empty() {
            self.separate_shared_memory()?;
        }
        Ok(())
    }

    /// [`Tensor::check_storage`], unless the tensor's elements may be elsewhere: on other devices, or nowhere.
    #[inline]
    pub(super) fn check_storage(&self, tensor: &Tensor) -> Result<()> {
        let is_stored = !self.meta && (self.plan.on_host || dispatch_key(self.plan.handler) == "CUDA");
        if is_stored { tensor.check_storage() } else { Ok(()) }
    }

    /// Gives broadcast views the dimensions that they have in memory, once those of the results are known.
    pub(super) fn describe_views(&mut self) {
        for (index, dims) in &self.views {
            self.buffers[*index].dims = dims.as_ptr().cast_mut();
        }
    }

    /// Determines the memory format of the results, where it is that of the first argument.
    #[inline]
    pub(super) fn note_memory_format(&mut self) -> Result<()> {
        if self.plan.keeps_memory_format
            && let Some(Some(first)) = self.args.first()
        {
            let sizes = first.sizes()?;
            self.channels_last = is_channels_last(sizes, first.strides(sizes.len())?).then_some(sizes.len());
        }
        Ok(())
    }

    /// Torch calls a device's kernel as soon as one argument is on that device.
    fn check_devices(&self) -> Result<()> {
        let mut devices = self.args.iter().flatten().map(Tensor::device);
        let Some(first) = devices.next().transpose()? else { return Ok(()) };
        for (index, device) in devices.enumerate() {
            if device? != first {
                let other = Error::invalid_argument("it is on another device than the first argument");
                return Err(self.of_argument(index + 1, other));
            }
        }
        Ok(())
    }

    /// Only their number identifies optional arguments, so those that are present must come first.
    pub(super) fn drop_absent(&mut self) -> Result<()> {
        let present = self.args.iter().position(Option::is_none).unwrap_or(self.args.len());
        if let Some(given) = self.args[present..].iter().position(Option::is_some) {
            let name = |index: usize| self.plan.param(index).name;
            return Err(Error::invalid_argument(format!(
                "argument `{}` is given, so `{}` before it must be too",
                name(present + given),
                name(present)
            )));
        }
        self.args.truncate(present);
        Ok(())
    }

    /// Replaces an argument by a row-major copy. If it is updated in place, it is copied back at the end.
    #[cold]
    fn make_contiguous(&mut self, index: usize) -> Result<sys::XLA_FFI_Buffer> {
        let Some(original) = self.args[index].take() else { return Err(Error::internal("there is no tensor")) };
        let copy = original.contiguous_copy()?;
        let buffer = describe(&copy)?.ok_or_else(|| Error::internal("a copy is not row-major"))?;
        self.args[index] = Some(copy);
        if self.plan.in_place.contains(&index) {
            self.originals.push((index, original));
        }
        Ok(buffer)
    }

    /// Copies arguments that share memory with one that is updated in place: they keep their old values, as with
    /// torch's own operators.
    fn separate_shared_memory(&mut self) -> Result<()> {
        let extent = |buffer: &sys::XLA_FFI_Buffer| {
            let start = buffer.data.addr();
            (start, start + bytes(buffer))
        };
        for other in 0..self.args.len() {
            if self.plan.in_place.contains(&other) {
                continue;
            }
            let (start, end) = extent(&self.buffers[other]);
            let shared = self.plan.in_place.iter().filter_map(|&index| self.buffers.get(index)).any(|updated| {
                let (first, last) = extent(updated);
                start < last && first < end
            });
            if shared {
                self.buffers[other] = self.make_contiguous(other).map_err(|error| self.of_argument(other, error))?;
            }
        }
        Ok(())
    }
}
