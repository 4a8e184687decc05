//! Calls of functions in Rust from machine code.

use std::any::Any;
use std::sync::Arc;

use bytemuck::Pod;
use oxcall_jit::Callee;

use crate::math::function::TileFn;
use crate::memory::RawBuffer;
use crate::plan::Slot;

/// The function of tiles as one of vectors, whose lanes are elements of 32 bits.
pub(super) fn of_vectors(function: TileFn) -> Callee {
    unsafe extern "C" fn apply(data: *const (), vectors: *mut [[u32; 16]; 4], lanes: usize) {
        // SAFETY: `data` is the function of which `of_vectors` made the callee.
        let function: TileFn = unsafe { std::mem::transmute(data) };
        // SAFETY: the caller promises that the vectors may be read and written.
        let [a, b, c, out] = unsafe { &mut *vectors };
        let args = [&a[..lanes], &b[..lanes], &c[..lanes]].map(bytemuck::cast_slice);
        function(bytemuck::cast_slice_mut(&mut out[..lanes]), args);
    }
    // SAFETY: functions live forever; those of tiles depend on nothing but their operands.
    unsafe { Callee::of_vectors(apply, function as *const ()) }
}

/// A kernel on small arrays, which machine code can call: it cannot fail, and needs no services.
pub(crate) trait Small: Send + Sync {
    /// The type of the elements of all operands and the result.
    type Element: Pod;

    /// Computes the result.
    fn run(&self, operands: &[&[Self::Element]], result: &mut [Self::Element]);
}

/// A small kernel with its slots.
struct Bound<K> {
    kernel: K,
    inputs: Vec<Slot>,
    output: Slot,
}

/// What callees refer to, for as long as the code exists.
pub(crate) type Kept = Arc<dyn Any + Send + Sync>;

/// A small kernel on these slots, and what has to be kept for it.
pub(super) fn of_table<K: Small + 'static>(kernel: K, inputs: &[Slot], output: Slot) -> (Callee, Kept) {
    unsafe extern "C" fn run<K: Small>(data: *const (), table: *mut u8) {
        // SAFETY: `data` is that of `of_table`, which is kept as long as the code.
        let Bound { kernel, inputs, output } = unsafe { &*data.cast::<Bound<K>>() };
        let buffer = |slot: Slot| {
            // SAFETY: the table has an entry for each slot of the plan.
            unsafe { *table.cast::<RawBuffer>().add(slot as usize) }
        };
        let operands: smallvec::SmallVec<[&[K::Element]; 4]> = (inputs.iter())
            .map(|&slot| {
                let RawBuffer { data, len } = buffer(slot);
                // SAFETY: as for kernels, an operand is initialised, aligned, and overlaps no result.
                bytemuck::cast_slice(unsafe { std::slice::from_raw_parts(data.cast_const(), len) })
            })
            .collect();
        let RawBuffer { data, len } = buffer(*output);
        // SAFETY: as above; a result may be written.
        let result = unsafe { std::slice::from_raw_parts_mut(data, len) };
        kernel.run(&operands, bytemuck::cast_slice_mut(result));
    }
    let bound = Arc::new(Bound { kernel, inputs: inputs.to_vec(), output });
    let data: *const Bound<K> = Arc::as_ptr(&bound);
    // SAFETY: the data is kept with the code.
    (unsafe { Callee::of_table(run::<K>, data.cast()) }, bound)
}
