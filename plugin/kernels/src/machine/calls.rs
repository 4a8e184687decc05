//! Calls of functions in Rust from machine code.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use bytemuck::Pod;
use oxcall_jit::Callee;

use super::Slot;
use crate::math::function::TileFn;
use crate::memory::RawBuffer;

thread_local! {
    /// The panic of a function that machine code has called, through which it cannot go.
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

/// Calls a function for machine code, and keeps its panic.
fn guarded(function: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(function)) {
        PANIC.set(Some(payload));
    }
}

/// Resumes the panic of a function that machine code has called on this thread, once the code has returned.
///
/// # Panics
/// If such a function has.
#[inline]
pub fn resume_panic() {
    if let Some(payload) = PANIC.take() {
        resume_unwind(payload);
    }
}

/// The function of tiles as one of vectors, where elements of the operands and of the result take one lane or two.
pub(super) fn of_vectors(function: TileFn, lanes: [u8; 2]) -> Callee {
    unsafe extern "C" fn apply<const FROM: usize, const TO: usize>(
        data: *const (),
        vectors: *mut [[u32; 16]; 4],
        count: usize,
    ) {
        // SAFETY: `data` is the function of which `of_vectors` made the callee.
        let function: TileFn = unsafe { std::mem::transmute(data) };
        // SAFETY: the caller promises that the vectors may be read and written.
        let [a, b, c, out] = unsafe { &mut *vectors };
        let args = [a, b, c].map(|vector| bytemuck::cast_slice(&vector[..FROM * count]));
        guarded(|| function(bytemuck::cast_slice_mut(&mut out[..TO * count]), args));
    }
    let apply = match lanes {
        [1, 1] => apply::<1, 1>,
        [1, _] => apply::<1, 2>,
        [_, 1] => apply::<2, 1>,
        _ => apply::<2, 2>,
    };
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
pub type Kept = Arc<dyn Any + Send + Sync>;

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
        guarded(|| kernel.run(&operands, bytemuck::cast_slice_mut(result)));
    }
    let bound = Arc::new(Bound { kernel, inputs: inputs.to_vec(), output });
    let data: *const Bound<K> = Arc::as_ptr(&bound);
    // SAFETY: the data is kept with the code.
    (unsafe { Callee::of_table(run::<K>, data.cast()) }, bound)
}

#[cfg(test)]
mod tests {
    use oxcall_jit::{Block, Builder, End, Isa, Place, Region, Routine, Stop, Target, Width};

    use super::*;

    #[repr(C, align(64))]
    struct Array([u32; 16]);

    #[test]
    fn panics_of_functions_come_after_the_code() {
        let Some(isa) = Isa::detect().filter(|_| oxcall_jit::Kernel::is_supported()) else { return };
        let builder = Builder::new();
        builder.set_lanes(1);
        let place = Place { slot: 0, offset: 0, lanes: 1, width: Width::Word, is_exact: true };
        let number = builder.read(place, None, 0);
        let called = builder.call(of_vectors(|_, _| panic!("a function panicked"), [1, 1]), [number; 3]);
        builder.write(place, None, called);
        let region = Region { blocks: vec![Block::new(builder, End::Jump(Target::Exit(5)))] };
        let routine = Routine::compile_for(&region, isa).unwrap();
        let mut array = Array([7; 16]);
        let mut table = [RawBuffer { data: array.0.as_mut_ptr().cast(), len: 64 }];
        // SAFETY: the only slot has an array of 16 words.
        let stop = unsafe { routine.run(table.as_mut_ptr().cast(), 0, &mut 0) };
        assert_eq!(stop, Stop::Exit(5));
        let payload = catch_unwind(resume_panic).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"a function panicked"));
        resume_panic();
    }
}
