//! The call frame, as the generated handlers read it.
//!
//! Everything here is inlined into the handlers; whatever fails goes to the cold functions of [`crate::explain`].

use std::ffi::c_void;
use std::hint::cold_path;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use xla_ffi_sys::xla_ffi as sys;

use crate::api::HostApi;
use crate::attr::{AttrList, AttrStorage, Attributes};
use crate::buffer::{BufferError, BufferRef, BufferSpec};
use crate::context::Pending;
use crate::descriptor::{Handler, Role, Stage};
use crate::flags::{any_null, any_set, opaque};
use crate::host::CallFrame;
use crate::metadata::asks_for_metadata;
use crate::{Error, Result, explain};

/// A call frame whose head has been checked: its size, its stage, its host.
///
/// Two words, so that cold functions take it in registers and the handler need not keep it in memory for them.
#[derive(Clone, Copy)]
pub struct Frame<'f> {
    raw: *mut sys::XLA_FFI_CallFrame,
    pending: Option<&'f Pending>,
    /// Invariant, as [`Context`](crate::context::Context) is.
    _frame: PhantomData<fn(&'f ()) -> &'f sys::XLA_FFI_CallFrame>,
}

/// Called where a call fails, so that the compiler keeps the way of the others free of jumps.
///
/// It tells cold blocks by their calls of cold functions. What makes errors may unwind, so within `catch_unwind` it is
/// invoked instead of called, and does not count; `cold_path` is lost where branches are merged.
#[cold]
#[inline(never)]
pub extern "C" fn cold() {
    // Something that may not be left out.
    std::hint::black_box(0u8);
}

/// The arguments or the results of a frame, not yet read.
#[derive(Clone, Copy)]
pub struct Operands<'f> {
    len: i64,
    types: *const u32,
    buffers: *const *const sys::XLA_FFI_Buffer,
    _frame: PhantomData<&'f sys::XLA_FFI_CallFrame>,
}

impl<'f> Operands<'f> {
    /// How many there are; `None` if the host's number is absurd.
    fn count(&self) -> Option<usize> {
        usize::try_from(self.len).ok().filter(|len| *len <= isize::MAX as usize / 8)
    }

    /// The description at `index`; null if the host gave none.
    ///
    /// # Panics
    /// Past the end.
    fn raw(&self, index: usize) -> *const sys::XLA_FFI_Buffer {
        const { assert!(sys::XLA_FFI_ArgType_BUFFER == sys::XLA_FFI_RetType_BUFFER) };
        assert!((index as i64) < self.len);
        if self.types.is_null() || self.buffers.is_null() {
            return std::ptr::null();
        }
        // SAFETY: in range; the arrays are live during 'f.
        unsafe {
            if *self.types.add(index) == sys::XLA_FFI_ArgType_BUFFER {
                *self.buffers.add(index)
            } else {
                std::ptr::null()
            }
        }
    }

    /// The `N` operands, if each is a buffer with a whole description.
    ///
    /// # Safety
    /// There are `N`; unless that is 0, the lists are not null.
    #[inline(always)]
    unsafe fn list<const N: usize>(&self) -> Option<[Described<'f>; N]> {
        const { assert!(sys::XLA_FFI_ArgType_BUFFER == sys::XLA_FFI_RetType_BUFFER) };
        const BUFFER: [u32; 2] = [sys::XLA_FFI_ArgType_BUFFER; 2];
        let mut list = [Described { raw: std::ptr::null(), _frame: PhantomData }; N];
        // SAFETY: in range; the arrays are live during 'f.
        unsafe {
            // Two kinds have one comparison.
            if (0..N / 2).any(|i| self.types.add(2 * i).cast::<[u32; 2]>().read() != BUFFER) {
                return None;
            }
            if N % 2 == 1 && *self.types.add(N - 1) != BUFFER[0] {
                return None;
            }
            for (i, described) in list.iter_mut().enumerate() {
                described.raw = *self.buffers.add(i);
                if described.raw.is_null()
                    || ((*described.raw).struct_size as isize) < sys::XLA_FFI_Buffer_STRUCT_SIZE as isize
                {
                    return None;
                }
            }
        }
        Some(list)
    }

    pub(crate) fn get(&self, index: usize) -> Result<BufferRef<'f>, BufferError> {
        // SAFETY: descriptions are live during 'f.
        unsafe { BufferRef::read(self.raw(index)) }
    }

    /// The buffer at `index`.
    ///
    /// # Errors
    /// If its description is unsound.
    ///
    /// # Panics
    /// Past the end.
    pub fn read(&self, handler: &'static Handler, role: Role, index: usize) -> Result<BufferRef<'f>> {
        match self.get(index) {
            Ok(buffer) => Ok(buffer),
            Err(error) => Err(explain::buffer(handler, role, index, error)),
        }
    }
}

/// The operands of a frame that has `A` arguments and `R` results, as [`Frame::exactly`] found; not yet read.
#[derive(Clone, Copy)]
pub struct Counted<'f, const A: usize, const R: usize>(Frame<'f>);

impl<'f, const A: usize, const R: usize> Counted<'f, A, R> {
    /// The arguments and the results, if each is a buffer with a whole description.
    #[inline(always)]
    pub fn buffers(&self) -> Option<([Described<'f>; A], [Described<'f>; R])> {
        let (args, rets) = (self.0.operands(Role::Arg), self.0.operands(Role::Ret));
        // Nothing is read of a list without entries.
        let lists = |operands: &Operands<'_>, count| {
            let addresses = [operands.types.addr(), operands.buffers.addr()];
            addresses.into_iter().take(if count == 0 { 0 } else { 2 })
        };
        if any_null(lists(&args, A).chain(lists(&rets, R))) {
            return None;
        }
        // SAFETY: there are as many as `exactly` found, in lists that are not null.
        unsafe { Some((args.list::<A>()?, rets.list::<R>()?)) }
    }
}

/// The whole description of a buffer, not yet read.
#[derive(Clone, Copy)]
pub struct Described<'f> {
    raw: *const sys::XLA_FFI_Buffer,
    _frame: PhantomData<&'f sys::XLA_FFI_CallFrame>,
}

impl<'f> Described<'f> {
    /// Buffers that must have the dimensions of the first, at least `LEAST`; `None` if one has not, or is unsound.
    #[inline(always)]
    pub fn alike<const LEAST: usize, const N: usize>(buffers: [Described<'f>; N]) -> Option<[BufferRef<'f>; N]> {
        // SAFETY: whole, and live during 'f.
        unsafe { BufferRef::alike::<LEAST, N>(buffers.map(|buffer| buffer.raw)) }
    }
}

impl<'f> Frame<'f> {
    /// The frame at `raw`, if it is whole, for this stage, from a host with an API table, and no metadata query.
    ///
    /// # Safety
    /// Null, or a pointer to a call frame that is live during `'f`, as long as its size field says.
    #[inline(always)]
    pub(crate) unsafe fn new(
        raw: *mut sys::XLA_FFI_CallFrame,
        stage: Stage,
        pending: Option<&'f Pending>,
    ) -> Option<Frame<'f>> {
        // SAFETY: non-null frames start with their size; fields are read only after it is checked.
        unsafe {
            if raw.is_null() || (*raw).struct_size < sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize || (*raw).api.is_null()
            {
                return None;
            }
            let extension = (*raw).extension_start;
            let stages = u64::from((*raw).stage ^ stage as sys::XLA_FFI_ExecutionStage);
            if any_set([extension.addr() as u64, stages]) && (stages != 0 || asks_for_metadata(extension)) {
                return None;
            }
            Some(Frame { raw, pending, _frame: PhantomData })
        }
    }

    /// The host's API table.
    #[inline(always)]
    pub(crate) fn api(&self) -> HostApi<'f> {
        // SAFETY: live, inside the checked size, and not null, as `new` found.
        unsafe { HostApi::known((*self.raw).api) }
    }

    /// The host's context of this call.
    #[inline(always)]
    pub(crate) fn ctx(&self) -> *mut sys::XLA_FFI_InvokeContext {
        // SAFETY: live, and inside the checked size.
        unsafe { (*self.raw).ctx }
    }

    /// The call's work beyond its return; `None` in stages and in handlers that end when they return.
    #[inline(always)]
    pub(crate) fn pending(&self) -> Option<&'f Pending> {
        self.pending
    }

    /// Calls another operation's execute handler with a frame of its own, as the host of this call.
    ///
    /// # Errors
    /// The error that the handler reports; `UNIMPLEMENTED` if it is not done when it returns.
    ///
    /// # Safety
    /// The handler obeys the contract of the XLA FFI, needs no other stage, and the frame's buffers are what it takes.
    pub(crate) unsafe fn call(&self, handler: &'static Handler, frame: &mut CallFrame) -> Result<()> {
        if handler.asynchronous {
            return Err(Error::unimplemented(format!(
                "`{}` completes after it returns, but a nested call cannot wait for it",
                handler.name
            )));
        }
        let raw = frame.as_ptr();
        // SAFETY: a whole frame that nobody else uses, of the same host and context as this one.
        let error = unsafe {
            (*raw).api = self.api().raw();
            (*raw).ctx = self.ctx();
            (handler.execute)(raw)
        };
        self.api().take(error)
    }

    /// Moves the buffers' dimensions to where they outlive the frame.
    #[cold]
    pub fn outlive(&self, buffers: &mut [BufferRef<'f>]) {
        let Some(pending) = self.pending else { return };
        for buffer in buffers {
            // SAFETY: asked for only where a handler has an `Async`, whose job owns the dimensions then.
            *buffer = buffer.with_dims(unsafe { pending.keep(buffer.dims()) });
        }
    }

    /// Leaves a future in the frame, for the host to wait on.
    pub(crate) fn set_future(&self, future: *mut sys::XLA_FFI_Future) {
        // SAFETY: hosts that have futures have this field, although the size that they report ends before it.
        unsafe { (&raw mut (*self.raw).future).write(future) };
    }

    /// The arguments or the results. Their structs lie inside the frame, whose size has been checked.
    #[inline(always)]
    pub fn operands(&self, role: Role) -> Operands<'f> {
        // SAFETY: live, and inside the checked size.
        let (len, types, buffers) = unsafe {
            match role {
                Role::Ret => {
                    let rets = &raw const (*self.raw).rets;
                    ((*rets).size, (*rets).types, (*rets).rets)
                }
                _ => {
                    let args = &raw const (*self.raw).args;
                    ((*args).size, (*args).types, (*args).args)
                }
            }
        };
        Operands { len, types, buffers: buffers.cast(), _frame: PhantomData }
    }

    /// The operands, if there are exactly `A` arguments and `R` results.
    ///
    /// # Errors
    /// If there are more or fewer.
    #[inline(always)]
    pub fn exactly<const A: usize, const R: usize>(&self, handler: &'static Handler) -> Result<Counted<'f, A, R>> {
        let differs = |role, count: usize| (self.operands(role).len ^ count as i64) as u64;
        if !any_set([differs(Role::Arg, A), differs(Role::Ret, R)]) {
            return Ok(Counted(*self));
        }
        cold();
        let wrong = if differs(Role::Arg, A) != 0 { Role::Arg } else { Role::Ret };
        Err(self.wrong_count(handler, wrong))
    }

    #[cold]
    #[inline(never)]
    fn wrong_count(self, handler: &'static Handler, role: Role) -> Error {
        explain::count(handler, role, self.operands(role).count())
    }

    /// The buffers of an operation that has optional or variadic arguments (or results): from `least` to `most`.
    pub fn between(
        &self,
        handler: &'static Handler,
        role: Role,
        least: usize,
        most: Option<usize>,
    ) -> Result<Vec<BufferRef<'f>>> {
        let operands = self.operands(role);
        match operands.count() {
            Some(count) if count >= least && most.is_none_or(|most| count <= most) => {
                // Collecting results would not know how many there are.
                let mut buffers = Vec::with_capacity(count);
                for i in 0..count {
                    buffers.push(operands.read(handler, role, i)?);
                }
                Ok(buffers)
            }
            _ => Err(self.wrong_count(handler, role)),
        }
    }

    /// All buffers of one side, as far as they are sound; for messages.
    pub(crate) fn sound_buffers(&self, role: Role) -> Vec<BufferRef<'f>> {
        let operands = self.operands(role);
        (0..operands.count().unwrap_or(0)).map_while(|i| operands.get(i).ok()).collect()
    }

    /// The attributes.
    #[inline(always)]
    pub(crate) fn attrs(&self, handler: &'static Handler) -> Result<AttrList<'f>> {
        // SAFETY: live, and inside the checked size.
        match unsafe { AttrList::read(&raw const (*self.raw).attrs) } {
            Ok(list) => Ok(list),
            Err(_) => {
                cold();
                Err(explain::malformed_attrs(handler))
            }
        }
    }

    /// The operation's attributes, each at its place in the operation's list.
    ///
    /// Hosts give attributes sorted by name, as that list is, so when all are given theirs is taken as it is.
    /// Otherwise they are put in order in `storage`.
    ///
    /// # Errors
    /// Missing required attributes, unknown ones, ones that are given twice.
    #[inline(always)]
    pub fn attributes<'s, const N: usize>(
        &self,
        handler: &'static Handler,
        storage: &'s mut MaybeUninit<ArrayStorage<'f, N>>,
    ) -> Result<Attributes<'s, 'f>>
    where
        'f: 's,
    {
        match self.ordered_attributes::<N>(handler) {
            Some(attributes) => Ok(attributes),
            None => {
                cold();
                let storage = storage.write(ArrayStorage::array());
                self.sort_attributes(handler, &mut storage.kinds, &mut storage.values)?;
                Ok(storage.sorted())
            }
        }
    }

    /// The host's attributes, if they are all that the operation has, in the order of its list.
    #[inline(always)]
    fn ordered_attributes<const N: usize>(&self, handler: &'static Handler) -> Option<Attributes<'f, 'f>> {
        // SAFETY: live, and inside the checked size.
        unsafe { AttrList::read_ordered::<N>(&raw const (*self.raw).attrs, handler.attrs) }.map(|list| list.sorted())
    }

    /// Puts the attributes in the order of the operation's list. Reads the host's list again, so that the handler need
    /// not keep it in memory.
    #[cold]
    #[inline(never)]
    fn sort_attributes(self, handler: &'static Handler, kinds: &mut [u32], values: &mut [*const c_void]) -> Result<()> {
        explain::sort_attributes(handler, &self.attrs(handler)?, kinds, values)
    }

    /// As [`attributes`](Self::attributes), for stages that run once and may take their time.
    ///
    /// # Errors
    /// As there.
    pub fn sorted_attributes(
        &self,
        handler: &'static Handler,
    ) -> Result<AttrStorage<'f, Vec<sys::XLA_FFI_AttrType>, Vec<*const c_void>>> {
        let mut storage = AttrStorage::vec(handler.attrs.len());
        self.sort_attributes(handler, &mut storage.kinds, &mut storage.values)?;
        Ok(storage)
    }
}

/// Storage for the attributes of an operation that has `N`.
pub type ArrayStorage<'f, const N: usize> = AttrStorage<'f, [sys::XLA_FFI_AttrType; N], [*const c_void; N]>;

/// Checks that no result shares bytes with another buffer, for operations with optional or variadic parameters. The
/// declared pairs of argument and result may be one buffer.
///
/// # Errors
/// If one does.
pub fn check_overlap(
    handler: &'static Handler,
    args: &[BufferRef<'_>],
    rets: &[BufferRef<'_>],
    pairs: &[(usize, usize)],
) -> Result<()> {
    for (r, ret) in rets.iter().enumerate() {
        for (a, arg) in args.iter().enumerate() {
            let one_buffer = pairs.contains(&(a, r)) && arg.data() == ret.data();
            if !one_buffer && overlap(ret.extent(), arg.extent()) {
                return Err(explain::overlap(handler, (Role::Arg, a), r));
            }
        }
        if let Some(other) = rets[..r].iter().position(|other| overlap(ret.extent(), other.extent())) {
            return Err(explain::overlap(handler, (Role::Ret, other), r));
        }
    }
    Ok(())
}

/// First address and number of bytes of a buffer, if it has the dtype and the alignment of `spec`.
#[inline(always)]
pub fn extent(buffer: &BufferRef<'_>, spec: BufferSpec) -> Option<(usize, usize)> {
    let address = buffer.data().addr();
    if address & (spec.align - 1) != 0 {
        return None;
    }
    let Some(dtype) = spec.dtype else { return Some(buffer.extent()) };
    if buffer.dtype_code() != dtype.code() {
        return None;
    }
    let bytes =
        if dtype.is_packed() { buffer.len().div_ceil(8 / dtype.bits()) } else { buffer.len() * (dtype.bits() / 8) };
    Some((address, bytes))
}

/// Whether two extents have an address in common.
///
/// They have if `a` starts less than `a`'s bytes before `b`, or less than `b`'s bytes behind it. That is one comparison
/// of unsigned numbers: sizes are below 2^58, as buffers have fewer than 2^55 elements.
#[inline(always)]
pub fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    // The same number for all `a` of one size.
    let offset = opaque(a.1.wrapping_sub(1).wrapping_sub(b.0) as u64) as usize;
    if a.0.wrapping_add(offset) >= (a.1 + b.1).wrapping_sub(1) {
        return false;
    }
    cold_path();
    a.1 != 0 && b.1 != 0
}

/// Whether two lists of dimensions are equal; a plain loop, since lists are short.
#[inline(always)]
pub fn same_dims(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Whether an array of the dimensions `from` can be broadcast to `to` by NumPy's rules.
#[inline(always)]
pub fn expands(from: &[i64], to: &[i64]) -> bool {
    from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(from, to)| from == to || *from == 1)
}

#[cfg(test)]
mod tests {
    use xla_ffi_sys::xla_ffi as sys;

    use super::overlap;
    use crate::descriptor::{Op, Stage};
    use crate::host::{self, CallFrameBuilder, HostVersion, InvokeContext};
    use crate::prelude::*;

    #[test]
    fn extents_overlap_where_they_share_an_address() {
        // Also at both ends of the address space, where sums of addresses overflow.
        for base in [8, usize::MAX - 16] {
            let extents = || (0..6).flat_map(|start| (0..4).map(move |bytes| (base + start, bytes)));
            for (a, b) in extents().flat_map(|a| extents().map(move |b| (a, b))) {
                let shared = (0..a.1).any(|i| (b.0..b.0 + b.1).contains(&(a.0 + i)));
                assert_eq!(overlap(a, b), shared, "{a:?} {b:?}");
            }
        }
    }

    #[custom_call(crate = crate)]
    fn sum_of_two(#[dims(..s)] a: Array<f32>, #[dims(..s)] b: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
        y.iter_mut().zip(a.iter().zip(b.iter())).for_each(|(y, (a, b))| *y = a + b);
    }

    /// Calls `sum_of_two` for arrays of this shape, with a frame that `change` breaks.
    fn call_changed(dims: &[i64], change: impl FnOnce(&mut sys::XLA_FFI_CallFrame)) -> Result<Vec<f32>> {
        let len = dims.iter().product::<i64>() as usize;
        let (a, b, mut y) = (vec![1f32; len], vec![2f32; len], vec![0f32; len]);
        let mut frame = CallFrameBuilder::new();
        frame.arg(DType::F32, a.as_ptr().cast(), dims).arg(DType::F32, b.as_ptr().cast(), dims);
        let mut frame = frame.ret(DType::F32, y.as_mut_ptr().cast(), dims).build();
        // SAFETY: nobody else uses the frame.
        change(unsafe { &mut *frame.as_ptr() });
        let context = InvokeContext::builder().version(HostVersion::V0_9_2).build();
        // SAFETY: a handler of this crate, which finds out what is wrong before it uses a buffer.
        unsafe { host::call(sum_of_two::HANDLER.execute, &mut frame, &context, Stage::Execute) }?;
        Ok(y)
    }

    /// The description of an operand: an argument, or behind them the result.
    fn description(frame: &mut sys::XLA_FFI_CallFrame, operand: usize) -> *mut *mut sys::XLA_FFI_Buffer {
        if operand < 2 {
            // SAFETY: there are two arguments.
            unsafe { frame.args.args.cast::<*mut sys::XLA_FFI_Buffer>().add(operand) }
        } else {
            frame.rets.rets.cast()
        }
    }

    const OPERANDS: [&str; 3] = ["argument `a`", "argument `b`", "result `y`"];

    /// Arrays of one dimension are read in another way than all others.
    const SHAPES: [&[i64]; 4] = [&[], &[4], &[2, 2], &[2, 1, 3]];

    #[test]
    fn broken_descriptions_are_told_by_operand() {
        type Fault = (fn(&mut sys::XLA_FFI_Buffer), &'static str);
        let always: [Fault; 6] = [
            (|raw| raw.struct_size = 0, "the size of an XLA_FFI_Buffer"),
            (|raw| raw.struct_size = sys::XLA_FFI_Buffer_STRUCT_SIZE as usize - 1, "the size of an XLA_FFI_Buffer"),
            (|raw| raw.struct_size = usize::MAX, "the size of an XLA_FFI_Buffer"),
            (|raw| raw.rank = -1, "impossible rank"),
            (|raw| raw.rank = 5000, "impossible rank"),
            (|raw| raw.data = std::ptr::null_mut(), "no data pointer"),
        ];
        let of_dimensions: [Fault; 3] = [
            (|raw| raw.dims = std::ptr::null_mut(), "impossible rank"),
            // SAFETY: there is a last dimension.
            (|raw| unsafe { *raw.dims.add(raw.rank as usize - 1) = -2 }, "negative dimension"),
            // SAFETY: as above.
            (|raw| unsafe { *raw.dims.add(raw.rank as usize - 1) = 1 << 55 }, "larger than memory can be"),
        ];
        for (dims, (operand, name)) in
            SHAPES.iter().flat_map(|dims| OPERANDS.into_iter().enumerate().map(move |o| (dims, o)))
        {
            assert!(call_changed(dims, |_| {}).unwrap().iter().all(|y| *y == 3.0));
            let tell = |change: &dyn Fn(&mut sys::XLA_FFI_CallFrame)| {
                let text = call_changed(dims, |frame| change(frame)).unwrap_err().to_string();
                assert!(text.contains(name), "{name} in {text} for {dims:?}");
                text
            };
            for (fault, told) in always.iter().chain(if dims.is_empty() { &[][..] } else { &of_dimensions }) {
                // SAFETY: the description is alive, and nobody else uses it.
                let text = tell(&|frame| fault(unsafe { &mut **description(frame, operand) }));
                assert!(text.contains(told), "{told} in {text} for {dims:?}");
            }
            // SAFETY: the entry is alive.
            let text = tell(&|frame| unsafe { *description(frame, operand) = std::ptr::null_mut() });
            assert!(text.contains("null buffer description"), "{text}");
            let text = tell(&|frame| {
                let kinds = if operand < 2 { frame.args.types } else { frame.rets.types };
                // SAFETY: there is a kind for each operand.
                unsafe { *kinds.add(operand % 2) = 7 }
            });
            assert!(text.contains("null buffer description"), "{text}");
        }
    }

    #[test]
    fn operands_that_differ_are_told() {
        for (dims, operand) in SHAPES.iter().flat_map(|dims| (0..3).map(move |operand| (dims, operand))) {
            let tell = |change: &dyn Fn(&mut sys::XLA_FFI_Buffer)| {
                // SAFETY: the description is alive, and nobody else uses it.
                let change = |frame: &mut _| change(unsafe { &mut **description(frame, operand) });
                call_changed(dims, change).unwrap_err().to_string()
            };
            let name = OPERANDS[operand];
            let text = tell(&|raw| raw.dtype = DType::F64.code());
            assert!(text.contains(name) && text.contains("expected dtype f32, got f64"), "{text}");
            let text = tell(&|raw| raw.data = raw.data.wrapping_byte_add(2));
            let aligned = text.contains(name) && text.contains("not aligned to 4 bytes");
            // The first two bytes behind an argument may belong to the result.
            assert!(aligned || text.contains("share memory"), "{text}");
            for axis in 0..dims.len() {
                // SAFETY: there is such a dimension.
                let text = tell(&|raw| unsafe { *raw.dims.add(axis) += 1 });
                let expected = if operand == 0 { OPERANDS[1] } else { name };
                assert!(text.contains(expected), "{text}");
            }
            if !dims.is_empty() {
                let text = tell(&|raw| raw.rank -= 1);
                let expected = if operand == 0 { OPERANDS[1] } else { name };
                assert!(text.contains(expected), "{text}");
            }
        }
        for (operand, name) in OPERANDS[..2].iter().enumerate() {
            for distance in [0, 4, -4, 12, -12] {
                let text = call_changed(&[4], |frame| {
                    // SAFETY: the descriptions are alive, and nobody else uses them.
                    unsafe {
                        (**description(frame, 2)).data =
                            (**description(frame, operand)).data.wrapping_byte_offset(distance);
                    }
                });
                let text = text.unwrap_err().to_string();
                assert!(text.contains(name) && text.contains("share memory"), "{text}");
            }
        }
    }

    #[test]
    fn empty_operands_need_no_data() {
        for dims in [&[0][..], &[0, 3], &[3, 0]] {
            for operand in 0..3 {
                // SAFETY: the description is alive, and nobody else uses it.
                let change = |frame: &mut _| unsafe { (**description(frame, operand)).data = std::ptr::null_mut() };
                assert!(call_changed(dims, change).unwrap().is_empty());
            }
        }
        // A scalar needs no dimensions.
        for operand in 0..3 {
            // SAFETY: as above.
            let change = |frame: &mut _| unsafe { (**description(frame, operand)).dims = std::ptr::null_mut() };
            assert_eq!(call_changed(&[], change).unwrap(), [3.0]);
        }
    }

    #[test]
    fn absent_lists_are_told() {
        type Fault = (fn(&mut sys::XLA_FFI_CallFrame), &'static str);
        let faults: [Fault; 4] = [
            (|frame| frame.args.types = std::ptr::null_mut(), "argument `a`"),
            (|frame| frame.args.args = std::ptr::null_mut(), "argument `a`"),
            (|frame| frame.rets.types = std::ptr::null_mut(), "result `y`"),
            (|frame| frame.rets.rets = std::ptr::null_mut(), "result `y`"),
        ];
        for (fault, name) in faults {
            let text = call_changed(&[2, 2], fault).unwrap_err().to_string();
            assert!(text.contains(name) && text.contains("null buffer description"), "{text}");
        }
    }

    /// Names that share a prefix, of lengths around those of words.
    #[custom_call(crate = crate)]
    fn prefixes(
        #[attr] a: i64,
        #[attr] aa: i64,
        #[attr] aaa: i64,
        #[attr] aaaaaaa: i64,
        #[attr] aaaaaaaa: i64,
        #[attr] aaaaaaab: i64,
        #[attr] aaaaaaaaa: i64,
        #[attr] aaaaaaaaaaaaaaa: i64,
        #[attr] aaaaaaaaaaaaaaaa: i64,
        #[attr] aaaaaaaaaaaaaaaaa: i64,
        #[attr] aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: i64,
        #[attr] aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: i64,
        #[dims(12)] mut y: Out<i64>,
    ) {
        let values = [
            a,
            aa,
            aaa,
            aaaaaaa,
            aaaaaaaa,
            aaaaaaab,
            aaaaaaaaa,
            aaaaaaaaaaaaaaa,
            aaaaaaaaaaaaaaaa,
            aaaaaaaaaaaaaaaaa,
            aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,
            aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,
        ];
        y.copy_from_slice(&values);
    }

    /// Calls `prefixes` with these attributes, in this order.
    fn call(attrs: &[(String, i64)]) -> Result<[i64; 12]> {
        let mut y = [0i64; 12];
        let mut frame = CallFrameBuilder::new();
        frame.unsorted();
        for (name, value) in attrs {
            frame.attr(name, *value);
        }
        let mut frame = frame.ret(DType::S64, y.as_mut_ptr().cast(), &[12]).build();
        let context = InvokeContext::builder().version(HostVersion::V0_9_2).build();
        // SAFETY: a handler of this crate, with a frame whose buffer is alive and as large as the frame says.
        unsafe { host::call(prefixes::HANDLER.execute, &mut frame, &context, Stage::Execute) }?;
        Ok(y)
    }

    #[test]
    fn attributes_are_found_by_name_in_any_order() {
        let lengths = [1, 2, 3, 7, 8, 8, 9, 15, 16, 17, 33, 40];
        let named = |(i, length): (usize, &usize)| {
            let mut name = "a".repeat(*length);
            if i == 5 {
                name.replace_range(7.., "b");
            }
            (name, i as i64)
        };
        let all: Vec<_> = lengths.iter().enumerate().map(named).collect();
        let expected = std::array::from_fn(|i| i as i64);
        let mut sorted = all.clone();
        sorted.sort();
        assert_eq!(call(&sorted).unwrap(), expected);
        // Each turn takes 17 seconds under Miri.
        for turn in (0..all.len()).step_by(if cfg!(miri) { 5 } else { 1 }) {
            let mut turned = sorted.clone();
            turned.rotate_left(turn);
            assert_eq!(call(&turned).unwrap(), expected, "{turn}");
            let error = |attrs: &[(String, i64)]| call(attrs).unwrap_err().to_string();
            let name = &sorted[turn].0;
            let missing: Vec<_> = sorted.iter().filter(|(other, _)| other != name).cloned().collect();
            let text = error(&missing);
            assert!(text.contains(&format!("attribute `{name}` is missing")), "{text}");
            let mut twice = missing.clone();
            twice.insert(turn, sorted[(turn + 1) % sorted.len()].clone());
            let text = error(&twice);
            assert!(text.contains("is given twice") && text.contains("is missing"), "{text}");
            let extra = [&sorted[..], &[("b".to_owned(), 0)]].concat();
            let text = error(&extra);
            assert!(text.contains("there is no attribute `b`"), "{text}");
            // One name differs in one byte only, or is longer by one.
            let differs = |at: usize| format!("{}z{}", &name[..at], &name[at + 1..]);
            for wrong in
                (0..name.len()).step_by(if cfg!(miri) { 8 } else { 1 }).map(differs).chain([format!("{name}_")])
            {
                let mut renamed = sorted.clone();
                renamed[turn].0.clone_from(&wrong);
                let text = error(&renamed);
                assert!(text.contains(&format!("there is no attribute `{wrong}`")), "{text}");
            }
        }
    }
}
