//! Compiled programs.

use crate::emit::{Emitted, emit};
use crate::encode::Isa;
use crate::ir::Program;
use crate::pages::Code;

/// A program as machine code.
#[derive(Debug)]
pub struct Kernel {
    code: Code,
    block: usize,
    arrays: usize,
}

impl Kernel {
    /// Whether programs can be compiled for this processor. The system may still refuse.
    pub fn is_supported() -> bool {
        // The calling convention is System V's, and registers are those of x86-64.
        cfg!(all(target_arch = "x86_64", unix)) && !cfg!(miri) && Isa::detect().is_some()
    }

    /// Compiles a program for the widest vectors that the processor has. `None` if it has none that are supported, the
    /// program is too large, memory runs out, or the system does not allow generated code.
    pub fn compile(program: &Program) -> Option<Kernel> {
        Kernel::compile_for(program, Isa::detect()?)
    }

    /// Compiles a program for a set of instructions; `None` also if the processor does not have it.
    pub fn compile_for(program: &Program, isa: Isa) -> Option<Kernel> {
        if !Kernel::is_supported() || !isa.is_present() || program.stores.is_empty() {
            return None;
        }
        let Emitted { bytes, block } = emit(program, isa)?;
        Some(Kernel { code: Code::new(&bytes)?, block, arrays: program.arrays() })
    }

    /// The number of elements that are computed together: [`run`](Kernel::run) takes multiples of it.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Computes `blocks` blocks of elements.
    ///
    /// # Panics
    /// If there are fewer addresses than the program has arrays.
    ///
    /// # Safety
    /// Each array has `blocks` blocks of elements of the width with which the program loads or stores it, or one word
    /// if it is a splat; arrays that are loaded are initialised, and those that are stored may be written. Arrays that
    /// the program stores overlap no others, except where both begin at the same address and have the same width, and
    /// the program stores an element after it has loaded it.
    #[inline]
    pub unsafe fn run(&self, arrays: &[*mut u8], blocks: usize) {
        assert!(arrays.len() >= self.arrays, "there is an address for each array");
        if blocks == 0 {
            return;
        }
        type Function = unsafe extern "sysv64" fn(*const *mut u8, usize);
        // SAFETY: the code is a function of this type: `emit` made it, for instructions that the processor has.
        let function: Function = unsafe { std::mem::transmute(self.code.start()) };
        // SAFETY: as the caller promises; the code accesses nothing else but its own stack.
        unsafe { function(arrays.as_ptr(), blocks * self.block) };
    }
}
