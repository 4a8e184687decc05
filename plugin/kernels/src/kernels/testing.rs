//! Test support for kernels: one op in its own function, run on plain vectors of bytes, and index arithmetic as the
//! StableHLO specification defines it. The engine's tests compile this file, too.

#[path = "../../../hlo/tests/common/random.rs"]
mod random;

use std::sync::Arc;

use bytemuck::Pod;
use oxcall::{Code, Error};
use oxcall_hlo::{ArgAttributes, ElementType, Func, LocationId, Op, OpKind, Region, TensorType, Type, ValueId};
use oxcall_kernels::interrupt::Era;
use oxcall_kernels::kernel::{Context, Inputs, Kernel, Outputs};
use oxcall_kernels::memory::{Allocator, BUFFER_ALIGN, RawBuffer};
use oxcall_kernels::pool::Pool;

pub(crate) use random::Random;

/// An op with its own function, whose parameters are the operands.
pub(crate) struct Single {
    pub(crate) func: Func,
    pub(crate) op: Op,
}

impl Single {
    /// An op without regions.
    pub(crate) fn new(kind: OpKind, operands: &[TensorType], results: &[TensorType]) -> Single {
        let mut func = Func {
            name: "test".into(),
            public: false,
            body: Region::default(),
            values: Vec::new(),
            param_attributes: vec![ArgAttributes::new(); operands.len()],
            result_attributes: vec![ArgAttributes::new(); results.len()],
        };
        let mut values = |types: &[TensorType]| -> Vec<ValueId> {
            types.iter().map(|ty| func.add_value(Type::from(ty.clone()))).collect()
        };
        let (operands, results) = (values(operands), values(results));
        func.body.params = operands.clone();
        let op = Op { kind, operands, results, regions: Vec::new(), location: LocationId::UNKNOWN };
        Single { func, op }
    }

    /// Adds a region of scalar parameters; `body` adds its ops and returns its results.
    pub(crate) fn region(mut self, params: &[ElementType], body: impl FnOnce(&mut Body<'_>) -> Vec<ValueId>) -> Single {
        let params: Vec<ValueId> =
            params.iter().map(|&element| self.func.add_value(TensorType::scalar(element).into())).collect();
        let mut block = Body { func: &mut self.func, params, ops: Vec::new() };
        let results = body(&mut block);
        let region = Region { params: block.params, ops: block.ops, results };
        self.op.regions.push(region);
        self
    }

    /// Adds a region that applies one op to parameters of one type: `add` for a sum.
    pub(crate) fn binary_region(self, op: oxcall_hlo::BinaryOp, element: ElementType) -> Single {
        self.region(&[element; 2], |body| {
            let (a, b) = (body.params[0], body.params[1]);
            vec![body.op(OpKind::Binary(op), &[a, b], element)]
        })
    }

    /// The op's kernel.
    pub(crate) fn kernel(&self) -> Result<Box<dyn Kernel>, Error> {
        oxcall_kernels::single(&self.op, &self.func)
    }

    /// Runs the op on the operands' bytes, on two threads if that is worth it; results start as garbage. If the kernel
    /// can work in place, it runs both ways, and must give the same.
    pub(crate) fn run(&self, operands: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let kernel = self.kernel().unwrap_or_else(|error| panic!("{error}"));
        let results = self.run_kernel(&*kernel, operands, &[], 2);
        for pair in kernel.in_place() {
            assert_eq!(self.run_kernel(&*kernel, operands, &[pair], 2), results, "{} in place", kernel.name());
        }
        results
    }

    /// Runs the op on one thread.
    pub(crate) fn run_alone(&self, operands: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let kernel = self.kernel().unwrap_or_else(|error| panic!("{error}"));
        self.run_kernel(&*kernel, operands, &[], 1)
    }

    fn run_kernel(
        &self,
        kernel: &dyn Kernel,
        operands: &[Vec<u8>],
        in_place: &[(usize, usize)],
        threads: usize,
    ) -> Vec<Vec<u8>> {
        let tensor = |value: &ValueId| self.func.ty(*value).tensor().expect("a tensor").byte_size();
        for (bytes, value) in operands.iter().zip(&self.op.operands) {
            assert_eq!(bytes.len(), tensor(value), "operand {value:?}");
        }
        let sizes: Vec<usize> = self.op.results.iter().map(tensor).collect();
        run_kernel(kernel, operands, &sizes, in_place, threads)
    }
}

/// Runs a kernel on the operands' bytes; results are of the given sizes.
pub(crate) fn run_kernel(
    kernel: &dyn Kernel,
    operands: &[Vec<u8>],
    results: &[usize],
    in_place: &[(usize, usize)],
    threads: usize,
) -> Vec<Vec<u8>> {
    let (pool, memory) = (Pool::new(threads), Arc::new(Allocator::new()));
    let cx = Context { pool: &pool, memory: &memory, era: Era::now() };
    let run = || run_once(kernel, cx, operands, results, in_place);
    let expected = run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(memory.memory_use().live, 0, "{} keeps scratch", kernel.name());
    // Its allocations fail in turn: the first ones, one in the middle and the last one.
    let allocations = memory.memory_use().allocations as usize;
    let first = (FAILING_BYTES / operands.iter().map(Vec::len).sum::<usize>().max(1)).max(1);
    for count in 0..allocations {
        if count >= first && count != allocations / 2 && count != allocations - 1 {
            continue;
        }
        memory.fail_after(Some(count));
        let error = run().expect_err("an allocation failed");
        assert_eq!(error.code(), Code::ResourceExhausted, "{}: {error}", kernel.name());
        memory.fail_after(None);
        assert_eq!(memory.memory_use().live, 0, "{} loses scratch", kernel.name());
    }
    if allocations > 0 {
        let again = run().unwrap_or_else(|error| panic!("{error}"));
        assert!(again == expected || kernel.name() == "rng", "{} after failures", kernel.name());
    }
    expected
}

/// The bytes of operands of runs in which the first allocations fail: all of them in all but a few tests.
const FAILING_BYTES: usize = 1 << 22;

/// Runs a kernel once.
fn run_once(
    kernel: &dyn Kernel,
    cx: Context<'_>,
    operands: &[Vec<u8>],
    results: &[usize],
    in_place: &[(usize, usize)],
) -> Result<Vec<Vec<u8>>, Error> {
    let mut operands: Vec<Aligned> = operands.iter().map(|bytes| Aligned::new(bytes)).collect();
    let mut results: Vec<Aligned> = results.iter().map(|&len| Aligned::new(&vec![0xA5; len])).collect();
    let mut mask = 0;
    for &(operand, result) in in_place {
        results[result] = Aligned::new(operands[operand].bytes());
        mask |= 1 << operand;
    }
    let inputs: Vec<RawBuffer> = operands.iter_mut().map(Aligned::raw).collect();
    let outputs: Vec<RawBuffer> = results.iter_mut().map(Aligned::raw).collect();
    // SAFETY: each buffer is a separate allocation that lives until the end of this function.
    let (inputs, outputs) = unsafe { (Inputs::new(&inputs, mask), Outputs::new(&outputs)) };
    kernel.run(cx, inputs, outputs)?;
    Ok(results.iter().map(|result| result.bytes().to_vec()).collect())
}

/// A region under construction.
pub(crate) struct Body<'a> {
    pub(crate) func: &'a mut Func,
    pub(crate) params: Vec<ValueId>,
    ops: Vec<Op>,
}

impl Body<'_> {
    /// Adds an op with a scalar result.
    pub(crate) fn op(&mut self, kind: OpKind, operands: &[ValueId], element: ElementType) -> ValueId {
        let result = self.func.add_value(TensorType::scalar(element).into());
        self.ops.push(Op {
            kind,
            operands: operands.to_vec(),
            results: vec![result],
            regions: Vec::new(),
            location: LocationId::UNKNOWN,
        });
        result
    }
}

/// Bytes at a multiple of [`BUFFER_ALIGN`].
struct Aligned {
    storage: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    fn new(bytes: &[u8]) -> Aligned {
        let mut storage = vec![0; bytes.len() + BUFFER_ALIGN];
        let start = storage.as_ptr().align_offset(BUFFER_ALIGN);
        storage[start..start + bytes.len()].copy_from_slice(bytes);
        Aligned { storage, start, len: bytes.len() }
    }

    fn bytes(&self) -> &[u8] {
        &self.storage[self.start..][..self.len]
    }

    fn raw(&mut self) -> RawBuffer {
        RawBuffer { data: self.storage[self.start..].as_mut_ptr(), len: self.len }
    }
}

/// A tensor's type.
pub(crate) fn ty(element: ElementType, dims: &[usize]) -> TensorType {
    TensorType::new(element, dims.iter().copied())
}

/// The bytes of elements.
pub(crate) fn bytes<T: Pod>(elements: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(elements).to_vec()
}

/// The elements in bytes of any alignment.
pub(crate) fn elements<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Random elements, each in the range of its type.
pub(crate) fn random_bytes(random: &mut Random, element: ElementType, count: usize) -> Vec<u8> {
    let mut all = random.bytes(count * element.byte_width());
    match element {
        ElementType::Pred => all.iter_mut().for_each(|byte| *byte &= 1),
        ElementType::S2 | ElementType::S4 | ElementType::U2 | ElementType::U4 => {
            let shift = 8 - element.bits();
            let is_signed = element.is_signed();
            all.iter_mut().for_each(|byte| {
                *byte = if is_signed { ((*byte << shift) as i8 >> shift) as u8 } else { *byte >> shift };
            });
        }
        ElementType::F4E2M1FN => all.iter_mut().for_each(|byte| *byte &= 15),
        ElementType::F6E2M3FN | ElementType::F6E3M2FN => all.iter_mut().for_each(|byte| *byte &= 63),
        _ => {}
    }
    all
}

/// All indices of a shape, in row-major order.
pub(crate) fn indices(dims: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let dims = dims.to_vec();
    (0..dims.iter().product::<usize>()).map(move |linear| unravel(linear, &dims))
}

/// The index of the element at `linear` in row-major order.
pub(crate) fn unravel(mut linear: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for (i, &dim) in index.iter_mut().zip(dims).rev() {
        *i = linear % dim;
        linear /= dim;
    }
    index
}

/// The place of an index in row-major order.
pub(crate) fn ravel(index: &[usize], dims: &[usize]) -> usize {
    assert!(index.iter().zip(dims).all(|(&i, &dim)| i < dim), "{index:?} of {dims:?}");
    index.iter().zip(dims).fold(0, |linear, (&i, &dim)| linear * dim + i)
}

impl Random {
    /// A number of `start..end`.
    pub(crate) fn between(&mut self, start: i64, end: i64) -> i64 {
        start + self.below((end - start) as usize) as i64
    }

    /// A float of [-1, 1).
    pub(crate) fn float(&mut self) -> f64 {
        self.number() as i64 as f64 / (1u64 << 63) as f64
    }

    /// So many random bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.number() as u8).collect()
    }

    /// A shape of `rank` dimensions: mostly small, at times 0, 1, a prime or a power of two.
    pub(crate) fn shape(&mut self, rank: usize) -> Vec<usize> {
        const SIZES: &[usize] = &[1, 2, 3, 5, 7, 8, 13, 16, 17, 33];
        (0..rank).map(|_| if self.below(40) == 0 { 0 } else { SIZES[self.below(SIZES.len())] }).collect()
    }

    /// A permutation of `0..len`.
    pub(crate) fn permutation(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..len).collect();
        for i in (1..len).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}
