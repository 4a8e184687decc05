use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::*;
use crate::Code;

/// Args that are a context and one more field.
#[repr(C)]
struct Get<T> {
    struct_size: usize,
    extension: *mut c_void,
    ctx: *mut sys::XLA_FFI_InvokeContext,
    value: T,
}

fn get<T>(context: &InvokeContext, index: usize, value: T) -> Result<T> {
    let (extension, ctx) = (std::ptr::null_mut(), context.as_raw());
    let mut args = Get { struct_size: size_of::<Get<T>>(), extension, ctx, value };
    invoke(slot(context.version().api(), index), &mut args)?;
    Ok(args.value)
}

#[test]
fn a_context_tells_what_it_was_given() {
    let mut stream = 0u8;
    let stream = (&raw mut stream).cast::<c_void>();
    for version in HostVersion::ALL.into_iter().filter(|&version| version >= HostVersion::V0_6) {
        let context = InvokeContext::builder().version(version).run_id(77).device_ordinal(3).stream(stream).build();
        assert_eq!(get(&context, 16, 0i64).unwrap(), 77);
        assert_eq!(get(&context, 17, 0i32).unwrap(), 3);
        assert_eq!(get(&context, 4, std::ptr::null_mut::<c_void>()).unwrap(), stream);
    }
}

#[test]
fn what_is_absent_is_an_error() {
    for version in HostVersion::ALL {
        let context = InvokeContext::builder().version(version).build();
        let error = get(&context, 4, std::ptr::null_mut::<c_void>()).unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::Unimplemented, "XLA FFI GPU context is not available"));
        let error = get(&context, 9, [16usize, 16, 0]).unwrap_err();
        assert!(error.message().starts_with("No device memory allocator"), "{error}");
        let error = get(&context, 11, [count_up as *const () as usize, 0]).unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented);
    }
    let mut args = Get { struct_size: 32, extension: std::ptr::null_mut(), ctx: std::ptr::null_mut(), value: 0i64 };
    assert!(invoke(slot(api(5), 16), &mut args).unwrap_err().message().contains("context is not available"));
}

#[test]
fn user_data_is_found_by_its_type() {
    let id = register_type(HostVersion::V0_12, "host::tests::UserData", 0, None).unwrap();
    let context = InvokeContext::builder().shared_user_data(id, Arc::new(5i64)).build();
    let mut type_id = sys::XLA_FFI_TypeId { type_id: id };
    let (_, data) = get(&context, 6, (&raw mut type_id, std::ptr::null_mut::<c_void>())).unwrap();
    // SAFETY: it points to the shared value.
    assert_eq!(unsafe { *data.cast::<i64>() }, 5);
    type_id.type_id = id + 1_000_000;
    let error = get(&context, 6, (&raw mut type_id, std::ptr::null_mut::<c_void>())).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
}

#[test]
fn options_and_extensions_come_with_newer_hosts() {
    let options = vec![("level".to_owned(), AttrValue::from(2i32))];
    let extension = sys::XLA_FFI_Extension {
        struct_size: 32,
        id: sys::XLA_FFI_ExtensionId { extension_type: 900, major_version: 1, minor_version: 2 },
        ..Default::default()
    };
    // SAFETY: the struct outlives the context.
    let context = unsafe { InvokeContext::builder().custom_options(&options).extension(&raw const extension) }.build();
    let attrs = get(&context, 19, std::ptr::null::<sys::XLA_FFI_Attrs>()).unwrap();
    // SAFETY: it lives as long as the context.
    assert_eq!(unsafe { ((*attrs).struct_size, (*attrs).size) }, (48, 1));
    let none = std::ptr::null::<sys::XLA_FFI_Extension>();
    assert_eq!(get(&context, 18, (900i64, none)).unwrap().1, &raw const extension);
    assert!(get(&context, 18, (901i64, none)).unwrap().1.is_null());
    let empty = InvokeContext::builder().build();
    let attrs = get(&empty, 19, std::ptr::null::<sys::XLA_FFI_Attrs>()).unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { (*attrs).size }, 0);
}

#[test]
fn scratch_memory_is_limited_and_freed_with_the_context() {
    let heap = Arc::new(HeapScratch::with_limit(1000));
    let context = InvokeContext::builder().scratch(heap.clone()).build();
    let allocate = |size: usize, align: usize| get(&context, 9, [size, align, 0]).map(|[_, _, data]| data);
    let first = allocate(600, 16).unwrap();
    assert_eq!(first % 64, 0);
    let error = allocate(600, 16).unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (Code::ResourceExhausted, "600 bytes of scratch memory, but 400 are left")
    );
    for align in [0, 3, 32] {
        assert_eq!(allocate(1, align).unwrap_err().message(), format!("Unsupported alignment: {align}"));
    }
    let free = |size: usize, data: usize| get(&context, 10, [size, data]).map(|_| ());
    assert!(free(599, first).is_err() && free(600, first + 1).is_err());
    free(600, first).unwrap();
    assert!(free(600, first).is_err(), "freed twice");
    free(0, 0).unwrap();
    allocate(1000, 8).unwrap();
    drop(context);
    let context = InvokeContext::builder().scratch(heap).build();
    assert!(get(&context, 9, [1000usize, 1, 0]).is_ok());
}

/// Counts tasks, and tells when all are done.
#[derive(Default)]
struct Counter {
    done: Mutex<usize>,
    changed: Condvar,
}

unsafe extern "C" fn count_up(data: *mut c_void) {
    // SAFETY: the tests pass a `Counter` that outlives the task.
    let counter = unsafe { &*data.cast::<Counter>() };
    *counter.done.lock().unwrap() += 1;
    counter.changed.notify_all();
}

#[test]
fn the_pool_runs_every_task() {
    for version in HostVersion::ALL {
        let counter = Counter::default();
        let context = InvokeContext::builder().version(version).pool(Arc::new(ThreadPool::new(2).unwrap())).build();
        if version != HostVersion::V0_4_34 {
            let mut threads = 0i64;
            get(&context, 12, &raw mut threads).unwrap();
            assert_eq!(threads, 2);
        }
        let data = (&raw const counter).cast_mut().cast::<c_void>();
        let task = count_up as unsafe extern "C" fn(*mut c_void);
        for _ in 0..20 {
            get(&context, 11, (task, data)).unwrap();
        }
        let done = counter.changed.wait_while(counter.done.lock().unwrap(), |done| *done < 20).unwrap();
        assert_eq!(*done, 20);
    }
}

#[test]
fn a_pool_survives_panics_and_finishes_its_queue() {
    let ran = Arc::new(AtomicUsize::new(0));
    for threads in [1, 3] {
        let pool = ThreadPool::new(threads).unwrap();
        pool.schedule(Box::new(|| std::panic::panic_any(7)));
        for _ in 0..10 {
            let ran = Arc::clone(&ran);
            pool.schedule(Box::new(move || {
                ran.fetch_add(1, Ordering::Relaxed);
            }));
        }
    }
    assert_eq!(ran.load(Ordering::Relaxed), 20);
    let pool = ThreadPool::new(0).unwrap();
    let ran_here = Arc::clone(&ran);
    pool.schedule(Box::new(move || {
        ran_here.fetch_add(1, Ordering::Relaxed);
    }));
    assert_eq!((ran.load(Ordering::Relaxed), pool.num_threads()), (21, 0));
}
