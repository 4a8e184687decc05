//! Compiled programs.

use crate::emit::{Emitted, EmittedRegion, OUT_OF_FUEL, emit, emit_region};
use crate::encode::Isa;
use crate::ir::{Counts, Program};
use crate::pages::Code;
use crate::region::Region;

/// A program as machine code.
#[derive(Debug)]
pub struct Kernel {
    code: Code,
    block: usize,
    arrays: usize,
    takes_any_count: bool,
}

impl Kernel {
    /// Whether programs can be compiled for this processor. The system may still refuse.
    pub fn is_supported() -> bool {
        // The calling convention is System V's, and registers are those of x86-64.
        cfg!(all(target_arch = "x86_64", unix)) && !cfg!(miri) && Isa::detect().is_some()
    }

    /// Whether the system allows generated code now: it takes a page, and makes it executable.
    pub fn is_allowed() -> bool {
        const RETURN: u8 = 0xc3;
        Kernel::is_supported() && Code::new(&[RETURN]).is_some()
    }

    /// Compiles a program for the widest vectors that the processor has. `None` if it has none that are supported, the
    /// program is too large, memory runs out, or the system does not allow generated code.
    pub fn compile(program: &Program, counts: Counts) -> Option<Kernel> {
        Kernel::compile_for(program, Isa::detect()?, counts)
    }

    /// Compiles a program for a set of instructions; `None` also if the processor does not have it.
    pub fn compile_for(program: &Program, isa: Isa, counts: Counts) -> Option<Kernel> {
        if !Kernel::is_supported() || !isa.is_present() || program.stores.is_empty() {
            return None;
        }
        let Emitted { bytes, block, takes_any_count } = emit(program, isa, counts)?;
        Some(Kernel { code: Code::new(&bytes)?, block, arrays: program.arrays(), takes_any_count })
    }

    /// Whether [`run`](Kernel::run) takes any number of elements.
    pub fn takes_any_count(&self) -> bool {
        self.takes_any_count
    }

    /// The number of elements that are computed together. [`run`](Kernel::run) takes multiples of it, unless it
    /// [takes any number](Kernel::takes_any_count).
    pub fn block(&self) -> usize {
        self.block
    }

    /// Computes `count` elements.
    ///
    /// # Panics
    /// If there are fewer addresses than the program has arrays, or the kernel does not take this number of elements.
    ///
    /// # Safety
    /// Each array has `count` elements of the width with which the program loads or stores it, or one word if it is a
    /// splat; arrays that are loaded are initialised, and those that are stored may be written. Arrays that the program
    /// stores overlap no others, except where both begin at the same address and have the same width, and the program
    /// stores an element after it has loaded it.
    #[inline]
    pub unsafe fn run(&self, arrays: &[*mut u8], count: usize) {
        assert!(arrays.len() >= self.arrays, "there is an address for each array");
        let whole = count / self.block * self.block;
        assert!(whole == count || self.takes_any_count, "the elements are whole blocks");
        if count == 0 {
            return;
        }
        type Function = unsafe extern "C" fn(*const *mut u8, usize, usize);
        // SAFETY: the code is a function of this type: `emit` made it, for instructions that the processor has.
        let function: Function = unsafe { std::mem::transmute(self.code.start()) };
        // SAFETY: as the caller promises; the code accesses nothing else but its own stack.
        unsafe { function(arrays.as_ptr(), whole, count) };
    }
}

/// A region as machine code.
#[derive(Debug)]
pub struct Routine {
    code: Code,
    starts: Vec<usize>,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At an exit.
    Exit(u32),
    /// Before this block, since the fuel is used up.
    OutOfFuel(u32),
}

impl Routine {
    /// Compiles a region for a set of instructions; `None` as in [`Kernel::compile_for`].
    pub fn compile_for(region: &Region, isa: Isa) -> Option<Routine> {
        if !Kernel::is_supported() || !isa.is_present() {
            return None;
        }
        let EmittedRegion { bytes, starts } = emit_region(region, isa)?;
        Some(Routine { code: Code::new(&bytes)?, starts })
    }

    /// The size of the machine code in bytes.
    pub fn bytes(&self) -> usize {
        self.code.bytes()
    }

    /// Runs the region from a block on. Each jump back uses up one of `fuel`.
    ///
    /// # Panics
    /// If there is no such block.
    ///
    /// # Safety
    /// `table` is a list of pairs of address and size, one for each slot of the region. Each place that the region
    /// reads or writes, wherever its indices and rotations lead, is memory that may be accessed so, aligned to 64 bytes
    /// where the place is not exact.
    #[inline]
    pub unsafe fn run(&self, table: *mut u8, block: u32, fuel: &mut i64) -> Stop {
        type Function = unsafe extern "C" fn(*mut u8, *mut i64, *const u8) -> u32;
        let start = self.code.start().as_ptr();
        let first = start.wrapping_add(self.starts[block as usize]);
        // SAFETY: the code is a function of this type: `emit_region` made it, for instructions that the processor has.
        let function: Function = unsafe { std::mem::transmute(start) };
        // SAFETY: as the caller promises; the code accesses nothing else but its own stack.
        let number = unsafe { function(table, fuel, first) };
        if number & OUT_OF_FUEL == 0 { Stop::Exit(number) } else { Stop::OutOfFuel(number ^ OUT_OF_FUEL) }
    }
}
