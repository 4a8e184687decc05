use half::bf16;
use num_complex::Complex;

use super::*;
use crate::DType;

/// The entry at `index`, read from the C layout: name, type, and the struct that the type asks for.
unsafe fn entry<'a>(attrs: *const sys::XLA_FFI_Attrs, index: usize) -> (&'a str, u32, *mut c_void) {
    // SAFETY: the tests read live frames inside their bounds.
    unsafe {
        let name = &**(*attrs).names.add(index);
        let bytes = std::slice::from_raw_parts(name.ptr.cast::<u8>(), name.len);
        (std::str::from_utf8(bytes).unwrap(), *(*attrs).types.add(index), *(*attrs).attrs.add(index))
    }
}

unsafe fn scalar<T: Copy>(value: *mut c_void, dtype: DType) -> T {
    // SAFETY: `value` is a scalar of the type asked for.
    unsafe {
        let scalar = &*value.cast::<sys::XLA_FFI_Scalar>();
        assert_eq!(scalar.dtype, dtype.code());
        assert_eq!(scalar.value.addr() % 16, 0);
        scalar.value.cast::<T>().read()
    }
}

#[test]
fn attributes_are_sorted_and_nested() {
    let inner: Vec<(String, AttrValue)> = vec![("z".into(), 1i8.into()), ("deep".into(), [("k", true.into())].into())];
    let mut frame = CallFrameBuilder::new()
        .attr("window", vec![3i64, -1])
        .attr("name", "größe")
        .attr("half", bf16::from_f32(1.5))
        .attr("c", Complex::new(1f32, -2.0))
        .attr("none", Vec::<f64>::new())
        .attr("dict", inner)
        .build();
    let frame = frame.as_ptr();
    // SAFETY: the frame is live, and read inside its bounds.
    unsafe {
        let attrs = &raw const (*frame).attrs;
        assert_eq!(((*attrs).struct_size, (*attrs).size, (*frame).struct_size), (48, 6, 168));
        let names: Vec<_> = (0..6).map(|index| entry(attrs, index).0).collect();
        assert_eq!(names, ["c", "dict", "half", "name", "none", "window"]);
        let types: Vec<_> = (0..6).map(|index| entry(attrs, index).1).collect();
        assert_eq!(types, [3, 2, 3, 4, 1, 1]);
        assert_eq!(scalar::<Complex<f32>>(entry(attrs, 0).2, DType::C64), Complex::new(1.0, -2.0));
        assert_eq!(scalar::<u16>(entry(attrs, 2).2, DType::BF16), 0x3fc0);
        let text = &*entry(attrs, 3).2.cast::<sys::XLA_FFI_ByteSpan>();
        assert_eq!(std::slice::from_raw_parts(text.ptr.cast::<u8>(), text.len), "größe".as_bytes());
        let none = &*entry(attrs, 4).2.cast::<sys::XLA_FFI_Array>();
        assert_eq!((none.dtype, none.size), (DType::F64.code(), 0));
        let window = &*entry(attrs, 5).2.cast::<sys::XLA_FFI_Array>();
        assert_eq!((window.dtype, window.size, window.data.addr() % 16), (DType::S64.code(), 2, 0));
        assert_eq!(std::slice::from_raw_parts(window.data.cast::<i64>(), 2), [3, -1]);

        let dict = entry(attrs, 1).2.cast::<sys::XLA_FFI_Attrs>();
        assert_eq!(((*dict).size, entry(dict, 0).0, entry(dict, 1).0), (2, "deep", "z"));
        assert_eq!(scalar::<i8>(entry(dict, 1).2, DType::S8), 1);
        let deep = entry(dict, 0).2.cast::<sys::XLA_FFI_Attrs>();
        assert_eq!(scalar::<u8>(entry(deep, 0).2, DType::Pred), 1);
    }
}

#[test]
fn order_is_kept_when_asked_for() {
    let mut frame = CallFrameBuilder::new().unsorted().attr("b", 1i32).attr("a", 2i32).build();
    let frame = frame.as_ptr();
    // SAFETY: the frame is live.
    let first = unsafe { entry(&raw const (*frame).attrs, 0) };
    assert_eq!(first.0, "b");
}

#[test]
fn frames_can_be_moved_and_patched() {
    let (x, mut y) = ([1f32, 2.0, 3.0], [0f32; 3]);
    let frame = CallFrameBuilder::new()
        .arg(DType::F32, x.as_ptr().cast(), &[3])
        .arg(DType::S32, std::ptr::null(), &[])
        .ret(DType::F32, std::ptr::null_mut(), &[1, 3])
        .build();
    let mut moved = Box::new(frame);
    moved.set_ret_data(0, y.as_mut_ptr().cast());
    let z = [9i32];
    moved.set_arg_data(1, z.as_ptr().cast());
    let frame = moved.as_ptr();
    // SAFETY: the frame is live, and read inside its bounds.
    unsafe {
        assert_eq!(((*frame).args.size, (*frame).rets.size, (*frame).attrs.size), (2, 1, 0));
        assert!((*frame).attrs.names.is_null(), "like an empty std::vector");
        let arg = |index| &*(*(*frame).args.args.add(index)).cast::<sys::XLA_FFI_Buffer>();
        assert_eq!((arg(0).struct_size, arg(0).rank, *arg(0).dims), (48, 1, 3));
        assert_eq!((arg(1).dtype, arg(1).rank), (DType::S32.code(), 0));
        assert_eq!(*arg(1).data.cast::<i32>(), 9);
        let ret = &*(*(*frame).rets.rets).cast::<sys::XLA_FFI_Buffer>();
        assert_eq!(std::slice::from_raw_parts(ret.dims, 2), [1, 3]);
        ret.data.cast::<f32>().write(arg(0).data.cast::<f32>().add(2).read());
    }
    assert_eq!(y, [3.0, 0.0, 0.0]);
}
