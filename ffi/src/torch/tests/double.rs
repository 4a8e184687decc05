//! A libtorch of Rust functions: tensors in memory, values on a stack. It counts what is alive on each thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::OnceLock;

use crate::host::AlignedBytes;
use crate::torch::libtorch::shim::{BUMP_VERSION, Shim};

thread_local! {
    /// Handles, lists, strings and boxes that have not been deleted yet.
    static ALIVE: Cell<isize> = const { Cell::new(0) };
    /// Allocations that still succeed; none is counted down while it is `None`.
    static ALLOCATIONS: Cell<Option<usize>> = const { Cell::new(None) };
    /// The updates reported to autograd, or `None` while reporting one throws.
    static VERSIONS: Cell<Option<usize>> = const { Cell::new(Some(0)) };
}

/// The updates reported to autograd since the last call of this function.
pub(super) fn updates() -> usize {
    VERSIONS.replace(Some(0)).unwrap_or_default()
}

/// Makes every update throw until [`updates`] is called, as those of inference tensors do.
pub(super) fn refuse_updates() {
    VERSIONS.set(None);
}

/// How many objects of this thread are alive.
pub(super) fn alive() -> isize {
    ALIVE.get()
}

/// Lets only so many tensors be allocated.
pub(super) fn allow_allocations(number: Option<usize>) {
    ALLOCATIONS.set(number);
}

fn born<T>(value: T) -> *mut T {
    ALIVE.set(ALIVE.get() + 1);
    Box::into_raw(Box::new(value))
}

/// # Safety
/// From [`born`], not used again.
unsafe fn die<T>(value: *mut T) -> T {
    ALIVE.set(ALIVE.get() - 1);
    // SAFETY: as the caller guarantees.
    unsafe { *Box::from_raw(value) }
}

/// A tensor of the double.
#[derive(Clone)]
pub(super) struct FakeTensor {
    pub(super) data: Rc<RefCell<AlignedBytes>>,
    pub(super) sizes: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) offset: usize,
    pub(super) dtype: i32,
    pub(super) device: i32,
}

pub(super) const FLOAT: i32 = 6;
pub(super) const LONG: i32 = 4;
/// A dtype of torch that operations do not know.
pub(super) const QINT8: i32 = 12;
pub(super) const CPU: i32 = 0;
pub(super) const META: i32 = 2;

fn element_size(dtype: i32) -> usize {
    if dtype == LONG { 8 } else { 4 }
}

impl FakeTensor {
    pub(super) fn floats(values: &[f32], sizes: &[i64]) -> FakeTensor {
        let mut strides = vec![0; sizes.len()];
        crate::torch::libtorch::tensor::contiguous_strides(sizes, &mut strides);
        FakeTensor {
            data: Rc::new(RefCell::new(AlignedBytes::encode(values.iter().copied()))),
            sizes: sizes.to_vec(),
            strides,
            offset: 0,
            dtype: FLOAT,
            device: CPU,
        }
    }

    /// The elements' places in memory, in row-major order.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![self.offset];
        for (size, stride) in self.sizes.iter().zip(&self.strides) {
            places = places.iter().flat_map(|at| (0..*size).map(move |i| at + (i * stride) as usize)).collect();
        }
        places
    }

    pub(super) fn values(&self) -> Vec<f32> {
        let data = self.data.borrow();
        let at = |place: usize| f32::from_ne_bytes(data[4 * place..][..4].try_into().unwrap());
        self.places().into_iter().map(at).collect()
    }

    pub(super) fn integers(&self) -> Vec<i64> {
        let data = self.data.borrow();
        let at = |place: usize| i64::from_ne_bytes(data[8 * place..][..8].try_into().unwrap());
        self.places().into_iter().map(at).collect()
    }

    /// The address of the first element.
    fn address(&self) -> *mut c_void {
        let data = self.data.borrow_mut().as_mut_ptr();
        data.wrapping_add(self.offset * element_size(self.dtype)).cast()
    }

    pub(super) fn into_value(self) -> u64 {
        born(self).expose_provenance() as u64
    }

    /// # Safety
    /// A value that holds a tensor, not used again.
    pub(super) unsafe fn from_value(value: u64) -> FakeTensor {
        // SAFETY: as the caller guarantees.
        unsafe { die(ptr::with_exposed_provenance_mut(value as usize)) }
    }
}

/// A string, a list, and an optional value, as a kernel is given them.
pub(super) fn string(text: &str) -> u64 {
    born(text.as_bytes().to_vec()).expose_provenance() as u64
}

pub(super) fn list(values: Vec<u64>) -> u64 {
    born(values).expose_provenance() as u64
}

pub(super) fn some(value: u64) -> u64 {
    born(value).expose_provenance() as u64
}

/// # Safety
/// A value that holds a list, not used again.
pub(super) unsafe fn list_from_value(value: u64) -> Vec<u64> {
    // SAFETY: as the caller guarantees.
    unsafe { die(ptr::with_exposed_provenance_mut(value as usize)) }
}

type Handle = *mut FakeTensor;

macro_rules! getters {
    ($($name:ident($tensor:ident) -> $ty:ty { $value:expr })*) => {$(
        unsafe extern "C" fn $name(tensor: Handle, out: *mut $ty) -> i32 {
            // SAFETY: called with a live tensor and room for the result.
            unsafe {
                let $tensor = &*tensor;
                out.write($value);
            }
            0
        }
    )*};
}

getters! {
    dim(tensor) -> i64 { tensor.sizes.len() as i64 }
    sizes(tensor) -> *mut i64 { tensor.sizes.as_ptr().cast_mut() }
    strides(tensor) -> *mut i64 { tensor.strides.as_ptr().cast_mut() }
    dtype(tensor) -> i32 { tensor.dtype }
    device_type(tensor) -> i32 { tensor.device }
    device_index(tensor) -> i32 { if tensor.device == CPU { -1 } else { 0 } }
    data_ptr(tensor) -> *mut c_void { tensor.address() }
    storage_offset(tensor) -> i64 { tensor.offset as i64 }
    storage_size(tensor) -> i64 { tensor.data.borrow().len() as i64 }
}

unsafe extern "C" fn delete_tensor(tensor: Handle) -> i32 {
    // SAFETY: a live tensor.
    drop(unsafe { die(tensor) });
    0
}

unsafe extern "C" fn empty_strided(
    rank: i64,
    sizes: *const i64,
    strides: *const i64,
    dtype: i32,
    device: i32,
    _index: i32,
    out: *mut Handle,
) -> i32 {
    match ALLOCATIONS.get() {
        Some(0) => return 1,
        left => ALLOCATIONS.set(left.map(|left| left - 1)),
    }
    // SAFETY: as many as the rank says, and room for the result.
    unsafe {
        let [sizes, strides] = [sizes, strides].map(|list| std::slice::from_raw_parts(list, rank as usize).to_vec());
        let len = sizes.iter().product::<i64>() as usize * element_size(dtype);
        let data = Rc::new(RefCell::new(AlignedBytes::filled(len, 0xa5)));
        out.write(born(FakeTensor { data, sizes, strides, offset: 0, dtype, device }));
    }
    0
}

unsafe extern "C" fn copy(to: Handle, from: Handle, _: i32) -> i32 {
    // SAFETY: live tensors.
    let (to, from) = unsafe { (&*to, &*from) };
    let size = element_size(to.dtype);
    let source = from.data.borrow().to_vec();
    let mut target = to.data.borrow_mut();
    for (to, from) in to.places().into_iter().zip(from.places()) {
        target[size * to..][..size].copy_from_slice(&source[size * from..][..size]);
    }
    0
}

unsafe extern "C" fn grad_mode() -> bool {
    true
}

unsafe extern "C" fn set_grad_mode(_: bool) {}

/// What is thrown: a panic here, since nothing of C++ is there to catch.
pub(super) struct Thrown(pub(super) String);

unsafe extern "C-unwind" fn check(condition: bool, _: *const c_char, _: *const c_char, _: u32, message: *const c_char) {
    if !condition {
        // SAFETY: a C string.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        std::panic::resume_unwind(Box::new(Thrown(message)));
    }
}

unsafe extern "C-unwind" fn bump_version(_: Handle) {
    match VERSIONS.get() {
        Some(updates) => VERSIONS.set(Some(updates + 1)),
        None => std::panic::resume_unwind(Box::new(Thrown("an inference tensor".to_owned()))),
    }
}

type Values = *mut Vec<u64>;

unsafe extern "C" fn list_size(list: Values, out: *mut usize) -> i32 {
    // SAFETY: a live list.
    unsafe { out.write((&*list).len()) };
    0
}

unsafe extern "C" fn list_item(list: Values, index: usize, out: *mut u64) -> i32 {
    // SAFETY: a live list.
    match unsafe { &*list }.get(index) {
        // SAFETY: room for the result.
        Some(value) => unsafe { out.write(*value) },
        None => return 1,
    }
    0
}

unsafe extern "C" fn new_list(capacity: usize, out: *mut Values) -> i32 {
    // SAFETY: room for the result.
    unsafe { out.write(born(Vec::with_capacity(capacity))) };
    0
}

unsafe extern "C" fn list_push(list: Values, value: u64) -> i32 {
    // SAFETY: a live list.
    unsafe { (&mut *list).push(value) };
    0
}

unsafe extern "C" fn delete_list(list: Values) -> i32 {
    // SAFETY: a live list.
    drop(unsafe { die(list) });
    0
}

type Bytes = *mut Vec<u8>;

unsafe extern "C" fn string_length(text: Bytes, out: *mut usize) -> i32 {
    // SAFETY: a live string.
    unsafe { out.write((&*text).len()) };
    0
}

unsafe extern "C" fn string_data(text: Bytes, out: *mut *const c_char) -> i32 {
    // SAFETY: a live string.
    unsafe { out.write((&*text).as_ptr().cast()) };
    0
}

unsafe extern "C" fn delete_string(text: Bytes) -> i32 {
    // SAFETY: a live string.
    drop(unsafe { die(text) });
    0
}

unsafe extern "C" fn delete_value(value: *mut u64) -> i32 {
    // SAFETY: a live box.
    unsafe { die(value) };
    0
}

unsafe extern "C" fn abi_version() -> u64 {
    2 << 56 | 15 << 48
}

/// Getters of codes, each a function of its own.
macro_rules! codes {
    ($($name:literal => $code:literal),* $(,)?) => {
        [$(($name, { unsafe extern "C" fn code() -> i32 { $code } code as *const c_void })),*]
    };
}

/// What registration does, which no unit test needs.
unsafe extern "C" fn never_called() {
    unreachable!()
}

/// The double's functions as the table that kernels use.
pub(super) fn shim() -> &'static Shim {
    static SHIM: OnceLock<Shim> = OnceLock::new();
    SHIM.get_or_init(|| {
        let mut functions: HashMap<&str, *const c_void> = HashMap::from(codes! {
            "aoti_torch_device_type_cpu" => 0,
            "aoti_torch_device_type_meta" => 2,
            "aoti_torch_dtype_float32" => 6,
            "aoti_torch_dtype_int64" => 4,
            "aoti_torch_dtype_int32" => 3,
        });
        let table: &[(&str, *const c_void)] = &[
            ("aoti_torch_abi_version", abi_version as *const c_void),
            ("aoti_torch_check", check as *const c_void),
            ("aoti_torch_get_dim", dim as *const c_void),
            ("aoti_torch_get_sizes", sizes as *const c_void),
            ("aoti_torch_get_strides", strides as *const c_void),
            ("aoti_torch_get_dtype", dtype as *const c_void),
            ("aoti_torch_get_device_type", device_type as *const c_void),
            ("aoti_torch_get_device_index", device_index as *const c_void),
            ("aoti_torch_get_data_ptr", data_ptr as *const c_void),
            ("aoti_torch_get_storage_offset", storage_offset as *const c_void),
            ("aoti_torch_get_storage_size", storage_size as *const c_void),
            ("aoti_torch_delete_tensor_object", delete_tensor as *const c_void),
            ("aoti_torch_empty_strided", empty_strided as *const c_void),
            ("aoti_torch_copy_", copy as *const c_void),
            ("aoti_torch_grad_mode_is_enabled", grad_mode as *const c_void),
            ("aoti_torch_grad_mode_set_enabled", set_grad_mode as *const c_void),
            ("aoti_torch_library_init_fragment", never_called as *const c_void),
            ("aoti_torch_library_init_impl", never_called as *const c_void),
            ("aoti_torch_library_def", never_called as *const c_void),
            ("aoti_torch_library_impl", never_called as *const c_void),
            (BUMP_VERSION, bump_version as *const c_void),
            ("torch_list_size", list_size as *const c_void),
            ("torch_list_get_item", list_item as *const c_void),
            ("torch_new_list_reserve_size", new_list as *const c_void),
            ("torch_list_push_back", list_push as *const c_void),
            ("torch_delete_list", delete_list as *const c_void),
            ("torch_string_length", string_length as *const c_void),
            ("torch_string_c_str", string_data as *const c_void),
            ("torch_delete_string", delete_string as *const c_void),
            ("torch_delete_stable_ivalue", delete_value as *const c_void),
        ];
        functions.extend(table.iter().copied());
        let find = |name: &CStr| NonNull::new(functions.get(name.to_str().ok()?)?.cast_mut());
        // SAFETY: the functions above have the types of torch's.
        unsafe { Shim::load(&find) }.expect("all that torch 2.7 has is there")
    })
}
