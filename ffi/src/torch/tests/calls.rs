//! Calls through the kernels: values, ownership, errors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::double::{
    CPU, FakeTensor, LONG, META, QINT8, Thrown, alive, allow_allocations, list, list_from_value, refuse_updates, shim,
    some, string, updates,
};
use crate::descriptor::{Handler, Op as _};
use crate::prelude::*;
use crate::torch::call::Kernel;
use crate::torch::call::plan::Plan;
use crate::torch::schema::{derive, operators};

#[custom_call(crate = crate)]
fn add(#[attr(default = 1.0)] by: f64, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) -> Result<()> {
    if by < 0.0 {
        return Err(Error::invalid_argument("`by` is negative"));
    }
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x + by as f32;
    }
    Ok(())
}

#[custom_call(crate = crate)]
fn add_to(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: InOut<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y += x;
    }
}

#[custom_call(crate = crate)]
fn first(
    #[attr] k: usize,
    #[dims(..b, n)] x: Array<f32>,
    #[dims(..b, k)] mut values: Out<f32>,
    #[dims(..b, k)] mut indices: Out<i64>,
) {
    assert!(k < 3, "{k} is too many");
    for ((x, values), indices) in x.rows().zip(values.rows_mut()).zip(indices.rows_mut()) {
        values.copy_from_slice(&x[..k]);
        (0..).zip(indices).for_each(|(i, index)| *index = i);
    }
}

/// The length of `mode`, the sum of `axes`, and the first elements of everything.
#[custom_call(crate = crate)]
fn mix(
    #[attr] mode: &str,
    #[attr] axes: &[i64],
    #[attr] n: Option<i64>,
    #[dims(..s)] x: Array<f32>,
    #[dims(..s)] mut y: Out<f32>,
    bias: Option<Array<f32>>,
    others: Variadic<Array<f32>>,
) {
    let numbers = mode.len() as i64 + axes.iter().sum::<i64>() + n.unwrap_or(1000);
    let tensors: f32 = bias.iter().chain(others.iter()).map(|array| array[0]).sum();
    y.fill(x[0] + numbers as f32 + tensors);
}

#[custom_call(crate = crate, shape = halves)]
fn halve(x: Array<f32>, ys: Variadic<Out<f32>>) {
    for (y, x) in ys.into_iter().zip(x.chunks(x.len().div_ceil(2))) {
        let mut y = y;
        y.copy_from_slice(x);
    }
}

fn halves(call: &crate::shape::ShapeContext<'_>) -> Result<Vec<Vec<i64>>> {
    let n = call.arg("x")?.dims[0];
    Ok(vec![vec![n - n / 2], vec![n / 2]])
}

#[stage(instantiate, crate = crate)]
fn start(#[attr] from: i64) -> std::sync::atomic::AtomicI64 {
    from.into()
}

#[custom_call(crate = crate, instantiate = start, side_effect)]
fn count(#[state] state: &std::sync::atomic::AtomicI64, mut y: ScalarOut<i64>) {
    y.set(state.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
}

#[custom_call(crate = crate, platform = "CUDA")]
fn on_cuda(
    device: DeviceOrdinal,
    #[dims(..s)] x: DeviceArray<f32>,
    #[dims(..s)] y: DeviceArray<f32>,
    #[dims(..s)] _z: DeviceOut<f32>,
) -> Result<()> {
    assert_ne!(x.as_ptr(), y.as_ptr());
    match device.0 {
        0 => Ok(()),
        other => Err(Error::internal(format!("device {other}"))),
    }
}

/// The index of a device, and the length of another's type.
#[custom_call(crate = crate)]
fn devices(#[attr] device: Device<'_>, #[attr] other: Option<Device<'_>>, #[dims(2)] mut y: Out<i64>) {
    y[0] = device.index().map_or(-1, i64::from);
    y[1] = other.map_or(0, |other| other.kind().len() as i64);
}

static SHAPES: AtomicUsize = AtomicUsize::new(0);

fn counted_shape(stack: &crate::habana::Stack<'_>) -> Result<Vec<i64>> {
    SHAPES.fetch_add(1, Ordering::Relaxed);
    Ok(stack.tensor(0)?.dims.clone())
}

crate::habana::register_custom_op! {
    Described {
        schema: "tests::described_add(Tensor self) -> Tensor",
        guid: "add",
        inputs: [Tensor],
        outputs: [DType::F32 => counted_shape],
    }
}

/// An operator.
struct Operator(Kernel);

impl Operator {
    fn new(handler: &'static Handler) -> Operator {
        Operator(Kernel::new(Plan::new(shim(), handler, &derive(handler).unwrap()[0]).unwrap()))
    }

    /// A call with the values in the order of the schema; the first results, or the error.
    fn call<const N: usize>(&self, values: &[u64]) -> Result<[u64; N], String> {
        // SAFETY: the stack has the values of the schema, and room for the results.
        self.through(values, |kernel, stack| unsafe { kernel.run(stack) })
    }

    fn infer<const N: usize>(&self, values: &[u64]) -> Result<[u64; N], String> {
        // SAFETY: as above.
        self.through(values, |kernel, stack| unsafe { kernel.infer(stack) })
    }

    fn through<const N: usize>(&self, values: &[u64], body: fn(&Kernel, *mut u64)) -> Result<[u64; N], String> {
        let mut stack = values.to_vec();
        stack.resize(values.len().max(N), 0);
        match catch_unwind(AssertUnwindSafe(|| body(&self.0, stack.as_mut_ptr()))) {
            Ok(()) => Ok(std::array::from_fn(|i| stack[i])),
            Err(payload) => Err(payload.downcast::<Thrown>().map_or_else(|_| "a panic".to_owned(), |thrown| thrown.0)),
        }
    }
}

/// # Safety
/// The value holds a tensor, not used again.
fn tensor(value: u64) -> FakeTensor {
    // SAFETY: results of calls are tensors of the double, each looked at once.
    unsafe { FakeTensor::from_value(value) }
}

fn floats(values: &[f32], sizes: &[i64]) -> u64 {
    FakeTensor::floats(values, sizes).into_value()
}

/// A 2 x 3 tensor whose memory is that of its transpose.
fn transposed() -> FakeTensor {
    let mut x = FakeTensor::floats(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0], &[3, 2]);
    (x.sizes, x.strides) = (vec![2, 3], vec![1, 2]);
    x
}

#[test]
fn values_and_ownership() {
    let add = Operator::new(add::HANDLER);
    let [y] = add.call(&[floats(&[1.0, 2.0], &[2]), 0.5f64.to_bits()]).unwrap();
    assert_eq!(tensor(y).values(), [1.5, 2.5]);
    let [y] = add.call(&[floats(&[], &[0, 3]), 0.5f64.to_bits()]).unwrap();
    assert_eq!(tensor(y).sizes, [0, 3]);
    let [y] = add.call(&[floats(&[7.0], &[]), 1f64.to_bits()]).unwrap();
    assert_eq!((tensor(y).values(), alive()), (vec![8.0], 0));
}

#[test]
fn tensors_that_are_not_row_major() {
    let add = Operator::new(add::HANDLER);
    let [y] = add.call(&[transposed().into_value(), 0f64.to_bits()]).unwrap();
    let y = tensor(y);
    assert_eq!((y.values(), y.strides), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![3, 1]));
    // The second half of a tensor.
    let mut half = FakeTensor::floats(&[1.0, 2.0, 3.0, 4.0], &[4]);
    (half.sizes, half.offset) = (vec![2], 2);
    let [y] = add.call(&[half.into_value(), 1f64.to_bits()]).unwrap();
    assert_eq!((tensor(y).values(), alive()), (vec![4.0, 5.0], 0));
}

#[test]
fn storages_that_end_before_the_tensor() {
    let add = Operator::new(add::HANDLER);
    let refused = |tensor: FakeTensor| {
        let error = add.call::<1>(&[tensor.into_value(), 0f64.to_bits()]).unwrap_err();
        assert!(error.starts_with("add: argument `x`: the tensor takes ") && error.contains("clone"), "{error}");
        assert_eq!(alive(), 0);
        error
    };
    let error = refused(FakeTensor::floats(&[1.0], &[1000]));
    assert!(error.contains("takes 4000 bytes of its storage, which has been resized to 4"), "{error}");
    refused(FakeTensor::floats(&[], &[1]));
    let mut half = FakeTensor::floats(&[1.0, 2.0, 3.0], &[3]);
    (half.sizes, half.offset) = (vec![2], 2);
    refused(half);
    let mut strided = transposed();
    strided.sizes = vec![2, 4];
    refused(strided);
    // Repeated elements and none at all take no more than there is.
    let mut repeated = FakeTensor::floats(&[7.0], &[3]);
    repeated.strides = vec![0];
    let [y] = add.call(&[repeated.into_value(), 0f64.to_bits()]).unwrap();
    assert_eq!(tensor(y).values(), [7.0; 3]);
    let mut empty = FakeTensor::floats(&[], &[0, 3]);
    empty.offset = 5;
    let [y] = add.call(&[empty.into_value(), 0f64.to_bits()]).unwrap();
    assert_eq!((tensor(y).sizes, alive()), (vec![0, 3], 0));
}

#[test]
fn updates_in_place() {
    let add_to = Operator::new(add_to::HANDLER);
    let y = transposed();
    let [] = add_to.call(&[floats(&[10.0; 6], &[2, 3]), y.clone().into_value()]).unwrap();
    assert_eq!(y.values(), [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
    let y = FakeTensor::floats(&[1.0, 2.0], &[2]);
    // The argument is the tensor that is updated, and keeps its old values.
    let [] = add_to.call(&[y.clone().into_value(), y.clone().into_value()]).unwrap();
    assert_eq!((y.values(), alive()), (vec![2.0, 4.0], 0));
}

#[test]
fn autograd_is_told_of_updates() {
    let add_to = Operator::new(add_to::HANDLER);
    let x = || floats(&[1.0, 2.0], &[2]);
    updates();
    let [] = add_to.call(&[x(), x()]).unwrap();
    assert_eq!(updates(), 1);
    // Shared memory takes the general way.
    let y = FakeTensor::floats(&[1.0, 2.0], &[2]);
    let [] = add_to.call(&[y.clone().into_value(), y.into_value()]).unwrap();
    assert_eq!(updates(), 1);
    // Copying back tells of itself; a failing call has changed nothing.
    let [] = add_to.call(&[floats(&[0.0; 6], &[2, 3]), transposed().into_value()]).unwrap();
    add_to.call::<0>(&[x(), floats(&[1.0], &[1])]).unwrap_err();
    assert_eq!(updates(), 0);
    let y = FakeTensor::floats(&[1.0, 2.0], &[2]);
    for values in [[x(), x()], [y.clone().into_value(), y.into_value()]] {
        refuse_updates();
        assert_eq!(add_to.call::<0>(&values).unwrap_err(), "an inference tensor");
    }
    assert_eq!((updates(), alive()), (0, 0));
}

#[test]
fn devices_are_attributes() {
    let devices = Operator::new(devices::HANDLER);
    let call = |device, other| devices.call(&[device, other]).map(|[y]| tensor(y).integers()).unwrap();
    assert_eq!(call(0xffff_ffff, 0), [-1, 0]);
    assert_eq!(call(1 << 32 | 3, some(1 << 32)), [3, 4]);
    assert_eq!(alive(), 0);
}

#[test]
fn descriptors_give_shapes_once() {
    let handler = <Described as crate::habana::Registered>::op().as_ref().unwrap().handler();
    let described = Operator::new(handler);
    let [y] = described.call(&[floats(&[1.0, 2.0], &[2])]).unwrap();
    assert_eq!((tensor(y).values(), SHAPES.load(Ordering::Relaxed)), (vec![2.0, 3.0], 1));
}

#[test]
fn dimensions_by_attributes() {
    let first = Operator::new(first::HANDLER);
    let x = || floats(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let [values, indices] = first.call(&[1, x()]).unwrap();
    let (values, indices) = (tensor(values), tensor(indices));
    assert_eq!((values.sizes.clone(), values.values()), (vec![2, 1], vec![1.0, 3.0]));
    assert_eq!((indices.dtype, indices.integers()), (LONG, vec![0, 0]));
    let error = first.call::<2>(&[(-1i64) as u64, x()]).unwrap_err();
    assert!(error.starts_with("first: result `values` has no shape"), "{error}");
    let error = first.call::<2>(&[3, x()]).unwrap_err();
    assert!(error.starts_with("first: panicked at") && error.ends_with("3 is too many"), "{error}");
    assert_eq!(alive(), 0);
}

#[test]
fn strings_lists_and_optional_values() {
    let mix = Operator::new(mix::HANDLER);
    let call = |n, bias, others: &[u64]| {
        let x = floats(&[1.0, 2.0], &[2]);
        mix.call(&[string("four"), list(vec![10, 20]), x, list(others.to_vec()), n, bias]).map(|[y]| tensor(y).values())
    };
    assert_eq!(call(some(100), some(floats(&[0.5], &[1])), &[floats(&[0.25], &[1])]).unwrap(), [135.75, 135.75]);
    assert_eq!(call(0, 0, &[]).unwrap(), [1035.0, 1035.0]);
    let error = call(0, 0, &[floats(&[0.25], &[1])]).unwrap_err();
    assert!(error.contains("`bias`"), "{error}");
    assert_eq!(alive(), 0);
}

#[test]
fn a_function_gives_shapes_and_the_number_of_results() {
    let halve = Operator::new(halve::HANDLER);
    let [ys] = halve.call(&[floats(&[1.0, 2.0, 3.0], &[3])]).unwrap();
    // SAFETY: the result is a list.
    let ys: Vec<Vec<f32>> = unsafe { list_from_value(ys) }.into_iter().map(|y| tensor(y).values()).collect();
    assert_eq!((ys, alive()), (vec![vec![1.0, 2.0], vec![3.0]], 0));
}

#[test]
fn states_belong_to_the_values_of_attributes() {
    let count = Operator::new(count::HANDLER);
    let next = |from| count.call(&[from]).map(|[y]| tensor(y).integers()[0]).unwrap();
    assert_eq!([next(5), next(5), next(7), next(5)], [5, 6, 7, 7]);
}

#[test]
fn errors_free_everything() {
    let add = Operator::new(add::HANDLER);
    let error = add.call::<1>(&[floats(&[1.0], &[1]), (-1f64).to_bits()]).unwrap_err();
    assert_eq!(error, "add: `by` is negative");
    let mut unknown = FakeTensor::floats(&[1.0], &[1]);
    unknown.dtype = QINT8;
    let error = add.call::<1>(&[unknown.into_value(), 0]).unwrap_err();
    assert!(error.starts_with("add: argument `x`: its dtype (number 12"), "{error}");
    let mut integers = FakeTensor::floats(&[1.0, 0.0], &[1]);
    integers.dtype = LONG;
    let error = add.call::<1>(&[integers.into_value(), 0]).unwrap_err();
    assert_eq!(error, "add: argument `x`: expected dtype torch.float32, got torch.int64");
    let first = Operator::new(first::HANDLER);
    for allocations in 0..2 {
        allow_allocations(Some(allocations));
        let error = first.call::<2>(&[1, floats(&[1.0], &[1])]).unwrap_err();
        allow_allocations(None);
        assert!(error.starts_with("first: allocating a tensor failed"), "{error}");
    }
    assert_eq!(alive(), 0);
}

/// Named otherwise in torch.
#[custom_call(crate = crate, schema = "renamed(Tensor self, float by) -> Tensor")]
fn original(#[attr] by: f64, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) -> Result<()> {
    y.fill(x[0]);
    if by < 0.0 { Err(Error::invalid_argument("`by` is negative")) } else { Ok(()) }
}

#[test]
fn errors_have_the_name_of_the_operator() {
    let operator = &operators(original::HANDLER).unwrap()[0];
    let renamed = Operator(Kernel::new(Plan::new(shim(), original::HANDLER, operator).unwrap()));
    let error = renamed.call::<1>(&[floats(&[1.0], &[1]), (-1f64).to_bits()]).unwrap_err();
    assert_eq!(error, "renamed: `by` is negative");
    let mut unknown = FakeTensor::floats(&[1.0], &[1]);
    unknown.dtype = QINT8;
    let error = renamed.call::<1>(&[unknown.into_value(), 0]).unwrap_err();
    assert!(error.starts_with("renamed: argument `x`"), "{error}");
    assert_eq!(alive(), 0);
}

#[test]
fn other_devices() {
    let on_cuda = Operator::new(on_cuda::HANDLER);
    let cuda = || FakeTensor { device: 1, ..FakeTensor::floats(&[1.0], &[1]) }.into_value();
    let [z] = on_cuda.call(&[cuda(), cuda()]).unwrap();
    assert_eq!(tensor(z).device, 1);
    let error = on_cuda.call::<1>(&[cuda(), floats(&[1.0], &[1])]).unwrap_err();
    assert_eq!(error, "on_cuda: argument `y`: it is on another device than the first argument");
    assert_eq!(alive(), 0);
}

#[test]
fn tensors_without_data() {
    let first = Operator::new(first::HANDLER);
    let mut x = FakeTensor::floats(&[], &[0, 4]);
    (x.sizes, x.device) = (vec![5, 4], META);
    let [values, indices] = first.infer(&[2, x.into_value()]).unwrap();
    let (values, indices) = (tensor(values), tensor(indices));
    assert_eq!((values.sizes, values.device, indices.sizes, indices.dtype), (vec![5, 2], META, vec![5, 2], LONG));
    let add_to = Operator::new(add_to::HANDLER);
    let error = add_to.infer::<0>(&[floats(&[1.0], &[1]), floats(&[1.0, 2.0], &[2])]).unwrap_err();
    assert!(error.contains("argument `y` has shape [2]"), "{error}");
    assert_eq!((alive(), CPU), (0, 0));
}
