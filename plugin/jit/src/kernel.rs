//! Compiled programs.

use crate::emit::{Emitted, EmittedRegion, OUT_OF_FUEL, emit, emit_region};
use crate::encode::Isa;
use crate::ir::{Counts, Program};
use crate::listing::{Listing, Mark};
use crate::pages::Code;
use crate::region::Region;

/// A program as machine code.
#[derive(Debug)]
pub struct Kernel {
    code: Code,
    marks: Vec<Mark>,
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
        let Emitted { code, block, takes_any_count } = emit(program, isa, counts)?;
        let (code, marks) = (Code::new(&code.bytes)?, code.marks);
        Some(Kernel { code, marks, block, arrays: program.arrays(), takes_any_count })
    }

    /// The machine code.
    pub fn listing(&self) -> Listing<'_> {
        self.code.listing(&self.marks)
    }

    /// Whether [`run`](Kernel::run) takes any number of elements, and there is [`run_rows`](Kernel::run_rows).
    pub fn takes_any_count(&self) -> bool {
        self.takes_any_count
    }

    /// The number of elements that are computed together, at most [`LONGEST_BLOCK`](crate::LONGEST_BLOCK) unless the
    /// kernel takes any number. [`run`](Kernel::run) takes multiples of it, unless the kernel
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
    /// splat, or as many words as the program picks from; arrays that are loaded are initialised, and those that are
    /// stored may be written. Arrays that the program stores overlap no others, except where both begin at the same
    /// address and have the same width, and the program stores an element after it has loaded it.
    #[inline]
    pub unsafe fn run(&self, arrays: &[*mut u8], count: usize) {
        assert!(arrays.len() >= self.arrays, "there is an address for each array");
        if self.takes_any_count {
            let mut rows = Rows::new(self);
            rows.push(arrays[..self.arrays].iter().copied(), count);
            // SAFETY: as the caller promises.
            return unsafe { self.run_rows(&rows) };
        }
        assert!(count.is_multiple_of(self.block), "the elements are whole blocks");
        if count > 0 {
            // SAFETY: as the caller promises; the code is that of one list of addresses.
            unsafe { self.call(arrays.as_ptr(), count) };
        }
    }

    /// Computes rows, one after another.
    ///
    /// # Panics
    /// If the rows are those of another kernel.
    ///
    /// # Safety
    /// As for [`run`](Kernel::run), for each row by itself.
    #[inline]
    pub unsafe fn run_rows(&self, rows: &Rows) {
        assert!(rows.arrays == self.arrays && rows.block == self.block, "the rows are those of the kernel");
        assert!(self.takes_any_count, "the kernel takes rows");
        if !rows.words.is_empty() {
            let end = rows.words.as_ptr_range().end;
            // SAFETY: as the caller promises; the code is that of a table of rows, which ends there.
            unsafe { self.call(rows.words.as_ptr(), end.addr()) };
        }
    }

    /// Calls the code, with what `emit` says that it takes.
    ///
    /// # Safety
    /// As for [`run`](Kernel::run) and [`run_rows`](Kernel::run_rows).
    #[inline]
    unsafe fn call(&self, list: *const *mut u8, end: usize) {
        type Function = unsafe extern "C" fn(*const *mut u8, usize);
        // SAFETY: the code is a function of this type: `emit` made it, for instructions that the processor has.
        let function: Function = unsafe { std::mem::transmute(self.code.start()) };
        // SAFETY: as the caller promises; the code accesses nothing else but its own stack.
        unsafe { function(list, end) };
    }
}

/// Rows of elements for a kernel that takes any number of them: for each row, the addresses of its arrays, and numbers
/// of elements as `emit` says.
#[derive(Debug)]
pub struct Rows {
    words: Vec<*mut u8>,
    arrays: usize,
    block: usize,
}

impl Rows {
    /// A table of rows for a kernel.
    pub fn new(kernel: &Kernel) -> Rows {
        Rows { words: Vec::new(), arrays: kernel.arrays, block: kernel.block }
    }

    /// The same table for another kernel, without rows.
    #[must_use]
    pub fn reused(self, kernel: &Kernel) -> Rows {
        let mut words = self.words;
        words.clear();
        Rows { words, arrays: kernel.arrays, block: kernel.block }
    }

    /// Takes all rows out.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.words.len() / (self.arrays + 2)
    }

    /// Adds a row of `count` elements.
    ///
    /// # Panics
    /// If there is not one address for each array of the program.
    #[inline]
    pub fn push(&mut self, arrays: impl IntoIterator<Item = *mut u8>, count: usize) {
        let start = self.words.len();
        self.words.extend(arrays);
        assert!(self.words.len() - start == self.arrays, "there is an address for each array");
        self.words.extend(self.counts(count));
    }

    /// Adds `rows` rows of `count` elements, for each array with the address of the first one and the distance of
    /// neighbours in bytes.
    ///
    /// # Panics
    /// Like [`push`](Rows::push).
    #[inline]
    pub fn push_evenly(&mut self, arrays: &[(*mut u8, usize)], rows: usize, count: usize) {
        assert!(arrays.len() == self.arrays, "there is an address for each array");
        let (width, counts) = (arrays.len() + 2, self.counts(count));
        let start = self.words.len();
        self.words.resize(start + rows * width, std::ptr::null_mut());
        for (row, words) in self.words[start..].chunks_exact_mut(width).enumerate() {
            let (addresses, numbers) = words.split_at_mut(arrays.len());
            for (address, (first, step)) in addresses.iter_mut().zip(arrays) {
                *address = first.wrapping_add(row * step);
            }
            numbers.copy_from_slice(&counts);
        }
    }

    /// The numbers of elements of a row: in whole blocks, and all.
    fn counts(&self, count: usize) -> [*mut u8; 2] {
        [count / self.block * self.block, count].map(std::ptr::without_provenance_mut)
    }
}

/// A region as machine code.
#[derive(Debug)]
pub struct Routine {
    code: Code,
    marks: Vec<Mark>,
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
        let EmittedRegion { code, starts } = emit_region(region, isa)?;
        let (code, marks) = (Code::new(&code.bytes)?, code.marks);
        Some(Routine { code, marks, starts })
    }

    /// The machine code.
    pub fn listing(&self) -> Listing<'_> {
        self.code.listing(&self.marks)
    }

    /// The offset of each block's code, ascending.
    pub fn starts(&self) -> &[usize] {
        &self.starts
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
