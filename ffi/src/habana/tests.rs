//! Descriptors through the registry and call frames, and what is said of wrong ones.

use std::sync::OnceLock;

use super::*;
use crate::prelude::*;
use crate::registry::registry;
use crate::testing::Call;
use crate::{DType, Error};

#[derive(UserParams)]
#[attr(crate = crate)]
struct ShiftParams {
    by: f64,
    #[attr(name = "flip")]
    reverse: bool,
    label: Option<String>,
}

/// The kernel of the tests: `x + by + offset`, reversed on demand.
#[custom_call(name = "habana_shift", crate = crate, T = [f32, f64])]
fn shift<T: Float>(
    #[attr] by: f64,
    #[attr(default = false)] flip: bool,
    #[attr] label: Option<&str>,
    #[dims(n)] x: Array<T>,
    offset: crate::buffer::Scalar<f32>,
    #[dims(n)] mut y: Out<T>,
) -> Result<()> {
    if label == Some("fail") {
        return Err(Error::invalid_argument("attribute `label` says so"));
    }
    let n = x.len();
    for (i, y) in y.iter_mut().enumerate() {
        let at = if flip { n - 1 - i } else { i };
        *y = x[at] + T::from_f64(by + f64::from(*offset));
    }
    Ok(())
}

fn fill(stack: &Stack<'_>) -> Result<ShiftParams> {
    let label = if stack.is_none(4)? { None } else { Some(stack.str(4)?.to_owned()) };
    Ok(ShiftParams { by: stack.float(1)?, reverse: stack.bool(3)?, label })
}

crate::habana::register_custom_op! {
    /// Shifts.
    HabanaShift = CustomOpDescriptor::new(
        "tests::habana_custom_shift(Tensor self, float by, float offset=0.5, bool flip=False, str? label=None) -> Tensor",
        "habana_shift",
    )
    .inputs([InputType::Tensor, InputType::UserParams, InputType::Scalar, InputType::UserParams, InputType::UserParams])
    .output(0, DType::F32)
    .user_params(fill)
}

crate::habana::register_custom_op! {
    /// The same with a function for the outputs: the caller's dtype, and no offset of its own.
    HabanaShiftMeta = UserCustomOpDescriptor::new(
        "habana_custom_shift_meta(Tensor self, Tensor offset, Scalar by) -> Tensor",
        "habana_shift",
        meta,
    )
    .fill_params(|stack| Ok(ShiftParams { by: stack.float(2)?, reverse: true, label: None }))
}

fn meta(stack: &Stack<'_>) -> Result<Vec<PartialOutputMetaData>> {
    let first = stack.tensor(0)?;
    Ok(vec![PartialOutputMetaData { dtype: first.dtype, shape: first.dims.clone() }])
}

fn op(name: &str) -> Call {
    Call::new(registry().find(name, "Host").unwrap())
}

#[test]
fn arguments_become_operands_and_parameters() {
    let shift = || op("habana_custom_shift").arg([1f32, 2.0]).attr("by", 10.0);
    assert_eq!(shift().run().unwrap().get::<f32>(0).as_slice().unwrap(), [11.5, 12.5]);
    let flipped = shift().attr("flip", true).attr("offset", 0.0).attr("label", "b");
    assert_eq!(flipped.run().unwrap().get::<f32>(0).as_slice().unwrap(), [12.0, 11.0]);
    // A function for all outputs; the tensors of the schema are the operands, and any number is one.
    for by in [3f64.into(), crate::host::AttrValue::from(3i64)] {
        let outputs = op("habana_custom_shift_meta").arg([1f64, 2.0]).arg(0.25f32).attr("by", by).run().unwrap();
        assert_eq!(outputs.get::<f64>(0).as_slice().unwrap(), [5.25, 4.25]);
    }
}

#[test]
fn errors_name_the_operator_the_kernel_and_the_argument() {
    let message = |call: Call| call.run().unwrap_err().message().to_owned();
    let shift = || op("habana_custom_shift").arg([1f32, 2.0]);
    assert_eq!(
        message(shift().attr("by", 1.0).attr("label", "fail")),
        "habana_custom_shift: kernel `habana_shift`: attribute `label` says so"
    );
    let text = message(shift());
    assert!(text.starts_with("habana_custom_shift: attribute `by` is missing"), "{text}");
    let text = message(shift().attr("by", "x"));
    assert!(text.contains("habana_custom_shift") && text.contains("`by`"), "{text}");
    let text = message(shift().attr("by", 1.0).ret_of::<f32>(&[3]));
    assert!(
        text.contains("result 0 has dtype f32 and shape [3], but the descriptor gives dtype f32 and shape [2]"),
        "{text}"
    );
}

struct Wrong;

impl Registered for Wrong {
    fn op() -> &'static Result<CustomOp> {
        static OP: OnceLock<Result<CustomOp>> = OnceLock::new();
        OP.get_or_init(|| Err(Error::internal("never registered")))
    }
}

/// What is said of a descriptor, by itself or with its kernel.
fn problem(descriptor: fn() -> Definition) -> String {
    let site = Site { doc: "", module: "oxcall::tests", file: file!(), line: line!() };
    match CustomOp::new::<Wrong>(descriptor, site) {
        Ok(op) => op.check_kernel(registry()).unwrap_err().message().to_owned(),
        Err(error) => error.message().to_owned(),
    }
}

const SCHEMA: &str = "custom_f(Tensor self, int k) -> Tensor";

fn base(schema: &str) -> CustomOpDescriptor {
    CustomOpDescriptor::new(schema, "habana_shift")
}

#[test]
fn wrong_descriptors_say_what_to_change() {
    use InputType::{Scalar, Tensor, UserParams as Params};
    type Case = (fn() -> Definition, &'static str);
    let cases: &[Case] = &[
        (|| base("custom_f(Tensor self").into(), "schema `custom_f(Tensor self`: expected `,`"),
        (|| base(SCHEMA).input(Tensor, 0).input(Params, 0).output(0, DType::F32).into(), "indexes must be unique"),
        (
            || base(SCHEMA).input(Tensor, 0).input(Params, 2).into(),
            "input 2 does not exist: the schema has 2 arguments",
        ),
        (
            || base(SCHEMA).input(Tensor, 0).into(),
            "argument `k` of the schema has no description; add `.input(InputType::..., 1)`",
        ),
        (
            || base(SCHEMA).inputs([Tensor, Tensor]).into(),
            "`k` has the type `int`, but input 1 is described as InputType::Tensor",
        ),
        (|| base(SCHEMA).inputs([Params, Params]).into(), "`self` has the type `Tensor`"),
        (|| base("custom_f(int k) -> Tensor").inputs([Scalar]).into(), "input 0 must be a tensor"),
        (
            || base(SCHEMA).inputs([Tensor, Params]).into(),
            "the schema has 1 results, but the number of outputs described is 0",
        ),
        (|| base(SCHEMA).inputs([Tensor, Params]).output(1, DType::F32).into(), "output 1 does not exist"),
        (
            || base(SCHEMA).inputs([Tensor, Params]).output(0, DType::F32).output(0, DType::F32).into(),
            "two outputs have the index 0",
        ),
        (|| base("custom_f(Tensor(a!) self) -> Tensor").inputs([Tensor]).into(), "is updated in place"),
        (|| base("custom_f(Tensor self) -> ()").inputs([Tensor]).into(), "has no result"),
        (|| base("custom_f(Tensor self) -> int").inputs([Tensor]).into(), "are tensors"),
        (|| base("custom_f(Tensor[] a, Tensor b) -> Tensor").into(), "tensor `b` comes after `a`"),
        (|| base("custom_f(Tensor a, ScalarType t) -> Tensor").into(), "the type `ScalarType`"),
        (|| CustomOpDescriptor::new(SCHEMA, "").inputs([Tensor, Params]).into(), "the guid is empty"),
        (|| panic!("no descriptor today"), "no descriptor today"),
        (
            || CustomOpDescriptor::new(SCHEMA, "habana_shif").inputs([Tensor, Params]).output(0, DType::F32).into(),
            "custom_f: there is no kernel `habana_shif`; did you mean `habana_shift`?",
        ),
        (
            || base(SCHEMA).inputs([Tensor, Params]).output(0, DType::F32).into(),
            "the descriptor has 1 tensor and scalar inputs, but kernel `habana_shift` takes 2 (x, offset)",
        ),
        (
            || base(SCHEMA).inputs([Tensor, Scalar]).output(0, DType::F32).into(),
            "kernel `habana_shift` needs the attribute `by`",
        ),
        (
            || {
                #[derive(UserParams)]
                #[attr(crate = crate)]
                struct Misspelt {
                    bye: f64,
                }
                let fill = |_: &Stack<'_>| Ok(Misspelt { bye: 1.0 });
                base(SCHEMA).inputs([Tensor, Scalar]).output(0, DType::F32).user_params(fill).into()
            },
            "the field `bye`, but kernel `habana_shift` has no attribute of this name; did you mean `by`?",
        ),
    ];
    for (descriptor, part) in cases {
        let text = problem(*descriptor);
        assert!(text.contains(part), "expected {part:?} in {text:?}");
    }
}
