//! Instructions as bytes: VEX with vectors of 256 bits, EVEX with vectors of 512.
//!
//! Formats are those of Intel's Software Developer's Manual, volume 2, sections 2.3 and 2.7.

use crate::ir::Width;
use crate::listing::Mark;

/// A set of vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// AVX2, FMA and F16C: 16 registers of 256 bits.
    Avx2,
    /// AVX-512 F, BW, DQ and VL, and BMI2: 32 registers of 512 bits.
    Avx512,
}

impl Isa {
    /// The widest that the processor has.
    pub fn detect() -> Option<Isa> {
        Isa::all().find(|isa| isa.is_present())
    }

    /// Those that this crate can emit, widest first.
    pub fn all() -> impl Iterator<Item = Isa> {
        [Isa::Avx512, Isa::Avx2].into_iter()
    }

    /// Whether the processor has it.
    pub fn is_present(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Isa::Avx2 => {
                is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
            }
            Isa::Avx512 => {
                !cfg!(oxcall_max_isa = "avx2")
                    && Isa::Avx2.is_present()
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        };
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// The number of lanes in a vector.
    pub fn lanes(self) -> usize {
        match self {
            Isa::Avx2 => 8,
            Isa::Avx512 => 16,
        }
    }

    /// The number of vector registers.
    pub(crate) fn registers(self) -> u8 {
        match self {
            Isa::Avx2 => 16,
            Isa::Avx512 => 32,
        }
    }

    /// The size of a vector in bytes.
    pub(crate) fn bytes(self) -> usize {
        4 * self.lanes()
    }

    /// The length of the shortest vector with at least `lanes` lanes; the longest if there is none.
    pub(crate) fn length(self, lanes: usize) -> Length {
        match lanes {
            0..=4 => Length::Xmm,
            5..=8 => Length::Ymm,
            _ => self.longest(),
        }
    }

    pub(crate) fn longest(self) -> Length {
        match self {
            Isa::Avx2 => Length::Ymm,
            Isa::Avx512 => Length::Zmm,
        }
    }
}

/// The length of a vector: 4, 8 or 16 lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Length {
    Xmm,
    Ymm,
    Zmm,
}

impl Length {
    pub(crate) fn lanes(self) -> usize {
        4 << self as usize
    }
}

/// A vector instruction: its prefix (0 none, 1 `66`, 2 `F3`, 3 `F2`), opcode map (1 `0F`, 2 `0F38`, 3 `0F3A`) and
/// opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) prefix: u8,
    pub(crate) map: u8,
    pub(crate) opcode: u8,
    /// The bit W, which most instructions on elements of 64 bits have.
    pub(crate) is_wide: bool,
}

/// The instruction with a given prefix, map and opcode, on elements of 32 bits.
pub(crate) const fn code(prefix: u8, map: u8, opcode: u8) -> Code {
    Code { prefix, map, opcode, is_wide: false }
}

/// The same with the bit W.
pub(crate) const fn wide(prefix: u8, map: u8, opcode: u8) -> Code {
    Code { is_wide: true, ..code(prefix, map, opcode) }
}

/// The instruction for elements of a width: `narrow` is that for bytes, `word` that for words, and those for twice the
/// width have the bit W.
pub(crate) fn by_width(width: Width, narrow: Code, word: Code) -> Code {
    match width {
        Width::Byte => narrow,
        Width::Half | Width::Float16 => Code { is_wide: true, ..narrow },
        Width::Word => word,
        Width::Pair | Width::Quad => Code { is_wide: true, ..word },
    }
}

/// General registers, by their numbers.
pub(crate) mod general {
    pub(crate) const AX: u8 = 0;
    pub(crate) const CX: u8 = 1;
    pub(crate) const DX: u8 = 2;
    /// A register that functions give back as they found it.
    pub(crate) const BX: u8 = 3;
    pub(crate) const SP: u8 = 4;
    pub(crate) const SI: u8 = 6;
    pub(crate) const DI: u8 = 7;
    pub(crate) const R8: u8 = 8;
    pub(crate) const R9: u8 = 9;
    pub(crate) const R10: u8 = 10;
    pub(crate) const R11: u8 = 11;
}

/// An operand that may be in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A vector register.
    Register(u8),
    /// An address: base, index with the logarithm of its scale, displacement.
    Memory { base: u8, index: Option<(u8, u8)>, displacement: i32 },
    /// A constant, in every lane.
    Constant(u32),
    /// A constant, in every pair of lanes.
    Pair(u64),
    /// All bits of so many lanes, and none of the others: AVX2 only.
    Mask(u8),
    /// The number of each lane, from 0: AVX2 only.
    Lanes,
    /// The places of bytes, in the order in which each lane is rotated to the left by so many: AVX2 only.
    Rotated(u8),
    /// Places among the pairs of lanes of two vectors: AVX-512 only.
    Places([u8; 8]),
}

/// Finished code.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) bytes: Vec<u8>,
    pub(crate) marks: Vec<Mark>,
}

/// Code under construction. Constants follow the instructions.
#[derive(Debug)]
pub(crate) struct Assembler {
    isa: Isa,
    /// The length of vectors.
    length: Length,
    bytes: Vec<u8>,
    /// Constants and masks.
    constants: Vec<Operand>,
    /// Displacements of constants: their place, the end of their instruction, the index of the constant.
    references: Vec<(usize, usize, usize)>,
    /// Labels, if there are any.
    marks: Option<Vec<Mark>>,
}

impl Assembler {
    /// No code yet, which has labels if `is_listed` is set.
    pub(crate) fn new(isa: Isa, is_listed: bool) -> Assembler {
        let (length, marks) = (isa.longest(), is_listed.then(Vec::new));
        Assembler { isa, length, bytes: Vec::new(), constants: Vec::new(), references: Vec::new(), marks }
    }

    /// Puts a label before the next instruction.
    pub(crate) fn mark(&mut self, name: impl FnOnce() -> String) {
        let offset = self.here();
        if let Some(marks) = &mut self.marks {
            marks.push(Mark { offset, name: name() });
        }
    }

    /// Sets the length of vectors for the instructions that follow, and returns the one before.
    pub(crate) fn set_length(&mut self, length: Length) -> Length {
        std::mem::replace(&mut self.length, length)
    }

    /// The position of the next instruction.
    pub(crate) fn here(&self) -> usize {
        self.bytes.len()
    }

    /// The instructions and the constants.
    pub(crate) fn finish(mut self) -> Assembled {
        self.bytes.resize(self.bytes.len().next_multiple_of(64), 0xcc);
        let mut starts = Vec::with_capacity(self.constants.len());
        if !self.constants.is_empty() {
            self.mark(|| "constants".to_owned());
        }
        for &constant in &self.constants {
            starts.push(self.bytes.len());
            let word = |lane: usize| match constant {
                Operand::Constant(bits) => bits,
                Operand::Pair(bits) => (bits >> (32 * (lane % 2))) as u32,
                Operand::Mask(lanes) if lane < usize::from(lanes) => u32::MAX,
                Operand::Lanes => lane as u32,
                // Instructions choose bytes among those of four lanes.
                Operand::Rotated(by) => (0x0302_0100 + 0x0404_0404 * (lane as u32 % 4)).rotate_left(8 * u32::from(by)),
                Operand::Places(places) if lane.is_multiple_of(2) => places[lane / 2].into(),
                _ => 0,
            };
            (0..self.constant_bytes(constant) / 4).for_each(|lane| self.bytes.extend(word(lane).to_le_bytes()));
        }
        for (place, end, constant) in self.references {
            let displacement = (starts[constant] - end) as i32;
            self.bytes[place..place + 4].copy_from_slice(&displacement.to_le_bytes());
        }
        Assembled { bytes: self.bytes, marks: self.marks.unwrap_or_default() }
    }

    /// The size of a constant: EVEX repeats one or two words, VEX reads a whole vector.
    fn constant_bytes(&self, constant: Operand) -> usize {
        match (self.isa, constant) {
            (Isa::Avx2, _) | (_, Operand::Places(_)) => self.isa.bytes(),
            (Isa::Avx512, _) => 8,
        }
    }

    /// A vector instruction: `register` and `other` are in the fields ModRM.reg and VEX.vvvv.
    pub(crate) fn vector(&mut self, code: Code, register: u8, other: u8, operand: Operand, immediate: Option<u8>) {
        match self.isa {
            Isa::Avx2 => self.vex(code, register, other, operand, self.length > Length::Xmm),
            Isa::Avx512 => self.evex(code, register, other, operand, 0),
        }
        self.tail(register, operand, immediate);
    }

    /// A load of the lanes that a mask register has, which fills the others with zeros. AVX-512 only.
    pub(crate) fn masked_load(&mut self, code: Code, register: u8, from: Operand, mask: u8) {
        self.evex(code, register, 0, from, mask);
        let third = self.bytes.len() - 2;
        self.bytes[third] |= 0x80;
        self.tail(register, from, None);
    }

    /// A store of the lanes that a mask register has. AVX-512 only.
    pub(crate) fn masked_store(&mut self, code: Code, register: u8, to: Operand, mask: u8, immediate: Option<u8>) {
        self.evex(code, register, 0, to, mask);
        self.tail(register, to, immediate);
    }

    /// A vector instruction of 128 bits, for the ends of AVX2's narrow stores.
    pub(crate) fn short_vector(
        &mut self,
        code: Code,
        register: u8,
        other: u8,
        operand: Operand,
        immediate: Option<u8>,
    ) {
        self.vex(code, register, other, operand, false);
        self.tail(register, operand, immediate);
    }

    /// An instruction on general or mask registers in the encoding of vectors: `register` and `other` as in
    /// [`vector`](Assembler::vector).
    pub(crate) fn general_vex(&mut self, code: Code, register: u8, other: u8, operand: Operand) {
        self.vex(code, register, other, operand, false);
        self.tail(register, operand, None);
    }

    /// A vector instruction of 256 bits in the encoding of AVX2.
    pub(crate) fn long_vector(&mut self, code: Code, register: u8, operand: Operand, immediate: u8) {
        self.vex(code, register, 0, operand, true);
        self.tail(register, operand, Some(immediate));
    }

    fn vex(&mut self, code: Code, register: u8, other: u8, operand: Operand, is_long: bool) {
        let (x, b) = extension(operand);
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let first = inverted(register >> 3, 7) | inverted(x, 6) | inverted(b, 5) | code.map;
        let second = u8::from(code.is_wide) << 7 | (!other & 15) << 3 | u8::from(is_long) << 2 | code.prefix;
        self.bytes.extend([0xc4, first, second, code.opcode]);
    }

    /// `mask` is the register of a mask that the instruction reads; 0 for none.
    fn evex(&mut self, code: Code, register: u8, other: u8, operand: Operand, mask: u8) {
        let (x, b) = extension(operand);
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let (register_high, other_high) = (register >> 4, other >> 4);
        let first =
            inverted(register >> 3, 7) | inverted(x, 6) | inverted(b, 5) | inverted(register_high, 4) | code.map;
        let second = u8::from(code.is_wide) << 7 | (!other & 15) << 3 | 4 | code.prefix;
        let repeats = matches!(operand, Operand::Constant(_) | Operand::Pair(_));
        let third = (self.length as u8) << 5 | u8::from(repeats) << 4 | inverted(other_high, 3) | mask;
        self.bytes.extend([0x62, first, second, third, code.opcode]);
    }

    /// ModRM, SIB, displacement and immediate.
    fn tail(&mut self, register: u8, operand: Operand, immediate: Option<u8>) {
        let field = (register & 7) << 3;
        match operand {
            Operand::Register(number) => self.bytes.push(0xc0 | field | number & 7),
            Operand::Memory { base, index, displacement } => {
                // A base of 5 or 13 without displacement means something else.
                let mode = if displacement == 0 && base & 7 != 5 { 0 } else { 0x80 };
                match index {
                    None if base & 7 != 4 => self.bytes.push(mode | field | base & 7),
                    _ => {
                        let (index, scale) = index.unwrap_or((4, 0));
                        self.bytes.extend([mode | field | 4, scale << 6 | (index & 7) << 3 | base & 7]);
                    }
                }
                if mode != 0 {
                    self.bytes.extend(displacement.to_le_bytes());
                }
            }
            Operand::Constant(_)
            | Operand::Pair(_)
            | Operand::Mask(_)
            | Operand::Lanes
            | Operand::Rotated(_)
            | Operand::Places(_) => {
                let known = self.constants.iter().position(|&constant| constant == operand);
                let constant = known.unwrap_or_else(|| {
                    self.constants.push(operand);
                    self.constants.len() - 1
                });
                self.bytes.push(field | 5);
                let place = self.here();
                self.bytes.extend([0; 4]);
                self.references.push((place, place + 4 + immediate.iter().len(), constant));
            }
        }
        self.bytes.extend(immediate);
    }

    /// A comparison into a mask register: AVX-512 only.
    pub(crate) fn compare_to_mask(&mut self, code: Code, mask: u8, other: u8, operand: Operand, immediate: u8) {
        self.evex(code, mask, other, operand, 0);
        self.tail(mask, operand, Some(immediate));
    }

    /// All bits of the elements that a mask register has, and none of the others: AVX-512 only.
    pub(crate) fn mask_to_vector(&mut self, register: u8, mask: u8, width: Width) {
        self.evex(by_width(width, code(2, 2, 0x28), code(2, 2, 0x38)), register, 0, Operand::Register(mask), 0);
        self.tail(register, Operand::Register(mask), None);
    }

    /// `mask ? yes : no` of elements by a mask register: AVX-512 only.
    pub(crate) fn blend_by_mask(&mut self, register: u8, mask: u8, no: u8, yes: Operand, width: Width) {
        self.evex(by_width(width, code(1, 2, 0x66), code(1, 2, 0x65)), register, no, yes, mask);
        self.tail(register, yes, None);
    }

    /// Loads a constant by an instruction of AVX-512 that broadcasts it: the bit for embedded broadcast is off.
    fn broadcast(&mut self, code: Code, register: u8, constant: Operand) {
        self.evex(code, register, 0, constant, 0);
        let third = self.bytes.len() - 2;
        self.bytes[third] &= !0x10;
        self.tail(register, constant, None);
    }

    /// The words at an address by the indices in a vector register, which is another. The instruction clears its mask:
    /// a vector register with AVX2, a mask register of its own with AVX-512.
    pub(crate) fn pick_words(&mut self, register: u8, base: u8, index: u8, mask: Option<u8>) {
        const PICK: Code = code(1, 2, 0x90);
        const EQUAL: Code = code(1, 1, 0x76);
        const SAME_BITS: Code = code(0, 1, 0x46);
        const PICKED: u8 = 6;
        let from = Operand::Memory { base, index: Some((index, 2)), displacement: 0 };
        match mask {
            Some(mask) => {
                self.vector(EQUAL, mask, mask, Operand::Register(mask), None);
                self.vector(PICK, register, mask, from, None);
            }
            None => {
                self.vex(SAME_BITS, PICKED, PICKED, Operand::Register(PICKED), true);
                self.tail(PICKED, Operand::Register(PICKED), None);
                // The highest bit of the index is where that of another operand is.
                self.evex(PICK, register, index & 16, from, PICKED);
                self.tail(register, from, None);
            }
        }
    }

    /// A constant in every lane of a register.
    pub(crate) fn load_constant(&mut self, register: u8, bits: u32) {
        const XOR: Code = code(1, 1, 0xef);
        const BROADCAST: Code = code(1, 2, 0x18);
        const LOAD: Code = code(0, 1, 0x10);
        match (bits, self.isa) {
            (0, _) => self.vector(XOR, register, register, Operand::Register(register), None),
            (_, Isa::Avx2) => self.vector(LOAD, register, 0, Operand::Constant(bits), None),
            (_, Isa::Avx512) => self.broadcast(BROADCAST, register, Operand::Constant(bits)),
        }
    }

    /// A constant in every pair of lanes of a register.
    pub(crate) fn load_pair(&mut self, register: u8, bits: u64) {
        match self.isa {
            Isa::Avx2 => self.vector(code(0, 1, 0x10), register, 0, Operand::Pair(bits), None),
            Isa::Avx512 => self.broadcast(wide(1, 2, 0x59), register, Operand::Pair(bits)),
        }
    }

    /// `register = [base + displacement]`, of 64 bits.
    pub(crate) fn load_general(&mut self, register: u8, base: u8, displacement: i32) {
        self.bytes.extend([0x48 | (register >> 3) << 2 | base >> 3, 0x8b]);
        self.tail(register, Operand::Memory { base, index: None, displacement }, None);
    }

    /// `[base + displacement] = register`, of 64 bits.
    pub(crate) fn store_general(&mut self, register: u8, base: u8, displacement: i32) {
        self.bytes.extend([0x48 | (register >> 3) << 2 | base >> 3, 0x89]);
        self.tail(register, Operand::Memory { base, index: None, displacement }, None);
    }

    /// `register` = one or two bytes of memory, filled with zeros above.
    pub(crate) fn load_narrow(&mut self, register: u8, from: Operand, bytes: usize) {
        let (x, b) = extension(from);
        let opcode = if bytes == 1 { 0xb6 } else { 0xb7 };
        self.bytes.extend([0x40 | (register >> 3) << 2 | (x & 1) << 1 | b & 1, 0x0f, opcode]);
        self.tail(register, from, None);
    }

    /// Reads a word of memory.
    pub(crate) fn touch(&mut self, base: u8, displacement: i32) {
        self.bytes.push(0x85);
        self.tail(general::AX, Operand::Memory { base, index: None, displacement }, None);
    }

    /// `register = other`, of 64 bits, both of the first eight.
    pub(crate) fn copy_general(&mut self, register: u8, other: u8) {
        self.bytes.extend([0x48, 0x89, 0xc0 | other << 3 | register]);
    }

    /// `register = base + displacement`, of 64 bits.
    pub(crate) fn address(&mut self, register: u8, base: u8, displacement: i32) {
        self.address_of(register, Operand::Memory { base, index: None, displacement });
    }

    /// `register` = the address of an operand in memory, of 64 bits.
    pub(crate) fn address_of(&mut self, register: u8, operand: Operand) {
        let (x, b) = extension(operand);
        self.bytes.extend([0x48 | (register >> 3) << 2 | (x & 1) << 1 | b & 1, 0x8d]);
        self.tail(register, operand, None);
    }

    /// One of the first eight registers = an address.
    pub(crate) fn set_address(&mut self, register: u8, address: usize) {
        self.bytes.extend([0x48, 0xb8 | register]);
        self.bytes.extend((address as u64).to_le_bytes());
    }

    /// Clears the upper halves of vectors, and calls the function whose address is in one of the first eight registers.
    pub(crate) fn call_register(&mut self, register: u8) {
        self.bytes.extend([0xc5, 0xf8, 0x77, 0xff, 0xd0 | register]);
    }

    /// `register = number`.
    pub(crate) fn set_general(&mut self, register: u8, number: u32) {
        self.bytes.extend([0x40 | register >> 3, 0xb8 | register & 7]);
        self.bytes.extend(number.to_le_bytes());
    }

    /// All bits of the first `lanes` lanes of a register, and none of the others: AVX2 only.
    pub(crate) fn load_mask(&mut self, register: u8, lanes: u8) {
        const LOAD: Code = code(0, 1, 0x10);
        self.vector(LOAD, register, 0, Operand::Mask(lanes), None);
    }

    /// Sets a mask register to the bits of a general register of 64 bits: AVX-512 only.
    pub(crate) fn mask_from_general(&mut self, mask: u8, register: u8) {
        const MOVE: Code = wide(3, 1, 0x92);
        self.general_vex(MOVE, mask, 0, Operand::Register(register));
    }

    /// A mask register = the bits of another, without so many of the lowest: AVX-512 only.
    pub(crate) fn shift_mask(&mut self, mask: u8, from: u8, amount: u8) {
        const SHIFT: Code = wide(1, 3, 0x31);
        self.vex(SHIFT, mask, 0, Operand::Register(from), false);
        self.tail(mask, Operand::Register(from), Some(amount));
    }

    /// Sets the zero flag if the low byte of `AX`, `CX`, `DX` or `BX` is 0.
    pub(crate) fn test_byte(&mut self, register: u8) {
        self.bytes.extend([0x84, 0xc0 | register << 3 | register]);
    }

    /// Sets the zero flag if the first register has none of these bits.
    pub(crate) fn test_bits(&mut self, bits: u32) {
        self.bytes.push(0xa9);
        self.bytes.extend(bits.to_le_bytes());
    }

    /// Jumps to the address in one of the first eight registers.
    pub(crate) fn jump_to_register(&mut self, register: u8) {
        self.bytes.extend([0xff, 0xe0 | register]);
    }

    /// A jump; [`set_jump`](Assembler::set_jump) takes the place that it returns.
    pub(crate) fn jump(&mut self) -> usize {
        self.jump_by(&[0xe9])
    }

    /// A jump if the zero flag is set.
    pub(crate) fn jump_if_zero(&mut self) -> usize {
        self.jump_by(&[0x0f, 0x84])
    }

    /// A jump if the low half of one of the first eight registers differs from `number`.
    pub(crate) fn jump_unless_equal(&mut self, register: u8, number: i32) -> usize {
        self.bytes.extend([0x81, 0xf8 | register]);
        self.bytes.extend(number.to_le_bytes());
        self.jump_by(&[0x0f, 0x85])
    }

    /// Decreases one of the first eight registers, and jumps unless it is below 0.
    pub(crate) fn count_down(&mut self, register: u8) -> usize {
        self.bytes.extend([0x48, 0xff, 0xc8 | register]);
        self.jump_by(&[0x0f, 0x89])
    }

    fn jump_by(&mut self, opcode: &[u8]) -> usize {
        self.bytes.extend(opcode);
        self.bytes.extend([0; 4]);
        self.here() - 4
    }

    /// Sets the target of a jump.
    pub(crate) fn set_jump(&mut self, place: usize, target: usize) {
        let distance = target as i64 - (place as i64 + 4);
        self.bytes[place..place + 4].copy_from_slice(&(distance as i32).to_le_bytes());
    }

    /// `register = 0`.
    pub(crate) fn zero_general(&mut self, register: u8) {
        let high = register >> 3;
        self.bytes.extend([0x48 | high << 2 | high, 0x31, 0xc0 | (register & 7) << 3 | register & 7]);
    }

    /// `register += amount`.
    pub(crate) fn add_general(&mut self, register: u8, amount: i32) {
        self.bytes.extend([0x48 | register >> 3, 0x81, 0xc0 | register & 7]);
        self.bytes.extend(amount.to_le_bytes());
    }

    /// `register = left - right`, of 64 bits.
    pub(crate) fn difference(&mut self, register: u8, left: u8, right: u8) {
        for (opcode, other) in [(0x89, left), (0x29, right)] {
            let extended = 0x48 | (other >> 3) << 2 | register >> 3;
            self.bytes.extend([extended, opcode, 0xc0 | (other & 7) << 3 | register & 7]);
        }
    }

    /// Compares general registers.
    fn compare_general(&mut self, register: u8, limit: u8) {
        self.bytes.extend([0x48 | (limit >> 3) << 2 | register >> 3, 0x39, 0xc0 | (limit & 7) << 3 | register & 7]);
    }

    /// A jump unless `register` is below `limit`, as unsigned numbers.
    pub(crate) fn jump_unless_below(&mut self, register: u8, limit: u8) -> usize {
        self.compare_general(register, limit);
        self.jump_by(&[0x0f, 0x83])
    }

    /// A jump if `register` is above `limit`, as unsigned numbers.
    pub(crate) fn jump_unless_at_most(&mut self, register: u8, limit: u8) -> usize {
        self.compare_general(register, limit);
        self.jump_by(&[0x0f, 0x87])
    }

    /// Jumps to `target`, an earlier position, if `register` is below `limit`, as unsigned numbers.
    pub(crate) fn jump_if_below(&mut self, register: u8, limit: u8, target: usize) {
        self.compare_general(register, limit);
        self.bytes.extend([0x0f, 0x82]);
        let distance = target as i64 - (self.here() as i64 + 4);
        self.bytes.extend((distance as i32).to_le_bytes());
    }

    /// Clears the upper halves of vectors, which older instructions would have to keep, and returns.
    pub(crate) fn return_to_caller(&mut self) {
        self.bytes.extend([0xc5, 0xf8, 0x77, 0xc3]);
    }
}

/// The extension bits X and B of an operand.
fn extension(operand: Operand) -> (u8, u8) {
    match operand {
        Operand::Register(number) => (number >> 4, number >> 3),
        Operand::Memory { base, index, .. } => (index.map_or(0, |(index, _)| index >> 3), base >> 3),
        _ => (0, 0),
    }
}
