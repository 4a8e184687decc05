//! Lists of attributes: the host's, and an operation's in its own order.

use std::ffi::c_void;
use std::marker::PhantomData;

use xla_ffi_sys::xla_ffi as sys;

use super::Attr;
use super::raw::span_bytes;
use crate::descriptor::AttrParam;

/// An operation's attributes, in the order of its list: the host's arrays, or storage of ours.
#[derive(Clone, Copy)]
pub struct Attributes<'s, 'f> {
    kinds: *const sys::XLA_FFI_AttrType,
    values: *const *const c_void,
    len: usize,
    _arrays: PhantomData<&'s c_void>,
    _frame: PhantomData<&'f c_void>,
}

impl<'f> Attributes<'_, 'f> {
    /// The attribute at its place in the operation's list; `None` if it is absent.
    ///
    /// # Panics
    /// Past the end.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<Attr<'f>> {
        assert!(index < self.len);
        // SAFETY: in range, and the arrays are live.
        let (kind, value) = unsafe { (*self.kinds.add(index), *self.values.add(index)) };
        // SAFETY: kind and value are the host's, live during 'f.
        (kind != 0).then(|| unsafe { Attr::new(kind, value) })
    }

    /// As [`get`](Self::get); an absent attribute has the kind 0, which nothing converts from.
    ///
    /// # Panics
    /// Past the end.
    #[inline(always)]
    pub fn required(&self, index: usize) -> Attr<'f> {
        assert!(index < self.len);
        // SAFETY: in range, and the arrays are live; kind and value are the host's, live during 'f.
        unsafe { Attr::new(*self.kinds.add(index), *self.values.add(index)) }
    }
}

/// Where attributes are put in order when the host's list is not the operation's: `A` holds kinds, `V` values.
pub struct AttrStorage<'f, A, V> {
    pub(crate) kinds: A,
    pub(crate) values: V,
    _frame: PhantomData<&'f c_void>,
}

impl<const N: usize> AttrStorage<'_, [sys::XLA_FFI_AttrType; N], [*const c_void; N]> {
    /// No attributes yet.
    #[inline(always)]
    pub const fn array() -> Self {
        AttrStorage { kinds: [0; N], values: [std::ptr::null(); N], _frame: PhantomData }
    }
}

impl AttrStorage<'_, Vec<sys::XLA_FFI_AttrType>, Vec<*const c_void>> {
    /// No attributes yet, of as many as will be.
    pub(crate) fn vec(len: usize) -> Self {
        AttrStorage { kinds: vec![0; len], values: vec![std::ptr::null(); len], _frame: PhantomData }
    }
}

impl<'f, A: AsRef<[sys::XLA_FFI_AttrType]>, V: AsRef<[*const c_void]>> AttrStorage<'f, A, V> {
    /// The attributes that were put here.
    pub(crate) fn sorted(&self) -> Attributes<'_, 'f> {
        let (kinds, values) = (self.kinds.as_ref(), self.values.as_ref());
        let len = kinds.len().min(values.len());
        Attributes { kinds: kinds.as_ptr(), values: values.as_ptr(), len, _arrays: PhantomData, _frame: PhantomData }
    }

    /// The attribute at its place in the operation's list; `None` if it is absent.
    ///
    /// # Panics
    /// Past the end.
    pub fn get(&self, index: usize) -> Option<Attr<'f>> {
        self.sorted().get(index)
    }

    /// As [`Attributes::required`].
    ///
    /// # Panics
    /// Past the end.
    pub fn required(&self, index: usize) -> Attr<'f> {
        self.sorted().required(index)
    }
}

/// The three parallel arrays of an `XLA_FFI_Attrs`.
#[derive(Clone, Copy)]
pub(crate) struct AttrList<'f> {
    len: usize,
    types: *const sys::XLA_FFI_AttrType,
    names: *const *const sys::XLA_FFI_ByteSpan,
    values: *const *const c_void,
    _frame: PhantomData<&'f c_void>,
}

/// Whether the bytes equal a name that is known at compile time. Comparing four of them and branching is a single
/// instruction; the last four may overlap the ones before.
///
/// # Safety
/// There are as many bytes as the name has.
#[inline(always)]
unsafe fn is_name(bytes: *const u8, name: &'static str) -> bool {
    let name = name.as_bytes();
    // SAFETY: in range, as the caller guarantees.
    let is_word = |at: usize| unsafe { bytes.add(at).cast::<[u8; 4]>().read() } == name[at..at + 4];
    // SAFETY: as above.
    let is_byte = |at: usize| unsafe { *bytes.add(at) } == name[at];
    match name.len() {
        len @ 0..4 => (0..len).all(is_byte),
        len => (0..len / 4).all(|word| is_word(4 * word)) && is_word(len - 4),
    }
}

/// An `XLA_FFI_Attrs` is short, or has null or absurd fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MalformedAttrs;

impl<'f> AttrList<'f> {
    pub(crate) const EMPTY: AttrList<'static> = AttrList {
        len: 0,
        types: std::ptr::null(),
        names: std::ptr::null(),
        values: std::ptr::null(),
        _frame: PhantomData,
    };

    /// # Safety
    /// `attrs` points to an `XLA_FFI_Attrs` whose arrays have `size` entries, live and unchanged during `'f`.
    #[inline(always)]
    pub(crate) unsafe fn read(attrs: *const sys::XLA_FFI_Attrs) -> Result<AttrList<'f>, MalformedAttrs> {
        // SAFETY: as the caller guarantees.
        let (len, types) = unsafe { ((*attrs).size, (*attrs).types) };
        // SAFETY: as the caller guarantees.
        let (names, values) = unsafe { ((*attrs).names.cast_const(), (*attrs).attrs.cast_const()) };
        if len != 0 {
            if len as u64 > isize::MAX as u64 / 8 {
                return Err(MalformedAttrs);
            }
            if types.is_null() {
                return Err(MalformedAttrs);
            }
            if names.is_null() {
                return Err(MalformedAttrs);
            }
            if values.is_null() {
                return Err(MalformedAttrs);
            }
        }
        Ok(AttrList { len: len as usize, types, names: names.cast(), values: values.cast(), _frame: PhantomData })
    }

    /// As [`read`](Self::read), on the way of every call: `None` unless the attributes are those of `known`, which has
    /// `N`, in that order.
    ///
    /// # Safety
    /// As for [`read`](Self::read).
    #[inline(always)]
    pub(crate) unsafe fn read_ordered<const N: usize>(
        attrs: *const sys::XLA_FFI_Attrs,
        known: &'static [AttrParam],
    ) -> Option<AttrList<'f>> {
        // SAFETY: as the caller guarantees.
        let (size, types, names, values) =
            unsafe { ((*attrs).size, (*attrs).types, (*attrs).names.cast_const(), (*attrs).attrs.cast_const()) };
        if size as usize != N || known.len() != N {
            return None;
        }
        if N > 0 && (types.is_null() || names.is_null() || values.is_null()) {
            return None;
        }
        for (i, attr) in known.iter().enumerate() {
            // SAFETY: there are N, which are live during 'f, as are as many bytes as a span says.
            unsafe {
                let span = *names.add(i);
                if span.is_null()
                    || (*span).len != attr.name.len()
                    || (*span).ptr.is_null()
                    || !is_name((*span).ptr.cast(), attr.name)
                {
                    return None;
                }
            }
        }
        Some(AttrList { len: N, types, names: names.cast(), values: values.cast(), _frame: PhantomData })
    }

    /// As [`read`](Self::read), for a struct that stands alone: its own size is checked.
    ///
    /// # Safety
    /// As for [`read`](Self::read), except that the struct may be as short as its `struct_size` says.
    pub(crate) unsafe fn read_sized(attrs: *const sys::XLA_FFI_Attrs) -> Result<AttrList<'f>, MalformedAttrs> {
        // SAFETY: every struct has its size, and if that suffices, the rest.
        unsafe {
            if (*attrs).struct_size < sys::XLA_FFI_Attrs_STRUCT_SIZE as usize {
                return Err(MalformedAttrs);
            }
            AttrList::read(attrs)
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The attribute at an index below `len`.
    ///
    /// # Panics
    /// Past the end.
    pub(crate) fn attr(&self, index: usize) -> Attr<'f> {
        let (kind, value) = self.parts(index);
        // SAFETY: the entries are live, as `read` demands.
        unsafe { Attr::new(kind, value) }
    }

    /// Kind and value at an index below `len`.
    ///
    /// # Panics
    /// Past the end.
    pub(crate) fn parts(&self, index: usize) -> (sys::XLA_FFI_AttrType, *const c_void) {
        assert!(index < self.len);
        // SAFETY: in range; the arrays are live, as `read` demands.
        unsafe { (*self.types.add(index), *self.values.add(index)) }
    }

    /// The list as an operation's attributes, for one that has been found to be in order.
    #[inline(always)]
    pub(crate) fn sorted(&self) -> Attributes<'f, 'f> {
        let AttrList { len, types: kinds, values, .. } = *self;
        Attributes { kinds, values, len, _arrays: PhantomData, _frame: PhantomData }
    }

    /// The name at an index below `len`; `None` where the host gave a null.
    ///
    /// # Panics
    /// Past the end.
    #[inline(always)]
    pub(crate) fn name(&self, index: usize) -> Option<&'f [u8]> {
        assert!(index < self.len);
        // SAFETY: in range; the spans are live, as `read` demands.
        unsafe {
            let span = *self.names.add(index);
            if span.is_null() { None } else { span_bytes(*span) }
        }
    }

    /// The attribute of a name, in a list of any order.
    pub(crate) fn find(&self, name: &str) -> Option<Attr<'f>> {
        (0..self.len).find(|&i| self.name(i) == Some(name.as_bytes())).map(|i| self.attr(i))
    }
}
