use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, ElementType, Func, Literal, LocationId, Op, OpKind, Region,
    TensorType, ValueId,
};

use super::idioms::Order;
use super::{Body, Program, idiom};
use crate::element::Scalar;

/// A function in which regions are built.
struct Fixture(Func);

impl Fixture {
    fn new() -> Fixture {
        Fixture(Func {
            name: "test".into(),
            public: true,
            body: Region::default(),
            values: Vec::new(),
            param_attributes: Vec::new(),
            result_attributes: Vec::new(),
        })
    }

    fn value(&mut self, element: ElementType) -> ValueId {
        self.0.add_value(TensorType::scalar(element).into())
    }

    fn op(&mut self, ops: &mut Vec<Op>, kind: OpKind, operands: &[ValueId], element: ElementType) -> ValueId {
        let result = self.value(element);
        ops.push(op(kind, operands, &[result], Vec::new()));
        result
    }
}

fn op(kind: OpKind, operands: &[ValueId], results: &[ValueId], regions: Vec<Region>) -> Op {
    Op { kind, operands: operands.to_vec(), results: results.to_vec(), regions, location: LocationId::UNKNOWN }
}

fn constant<T: bytemuck::Pod>(element: ElementType, value: T) -> OpKind {
    OpKind::Constant(Literal::splat(TensorType::scalar(element), bytemuck::bytes_of(&value)))
}

fn less() -> OpKind {
    OpKind::Compare(ComparisonDirection::Lt, ComparisonType::NoType)
}

/// `while i < n { (i, a, b) = (i + 1, b, a + b) }`: the Fibonacci numbers, a loop that swaps carried values.
fn fibonacci(fixture: &mut Fixture, n: ValueId) -> Op {
    use ElementType::S32;
    let carried = |fixture: &mut Fixture| [S32; 3].map(|element| fixture.value(element));
    let (operands, results) = (carried(fixture), carried(fixture));
    let mut condition = Region { params: carried(fixture).to_vec(), ..Region::default() };
    let i = condition.params[0];
    condition.results = vec![fixture.op(&mut condition.ops, less(), &[i, n], ElementType::Pred)];
    let mut body = Region { params: carried(fixture).to_vec(), ..Region::default() };
    let [i, a, b] = body.params[..] else { unreachable!() };
    let one = fixture.op(&mut body.ops, constant(S32, 1i32), &[], S32);
    let next = fixture.op(&mut body.ops, OpKind::Binary(BinaryOp::Add), &[i, one], S32);
    let sum = fixture.op(&mut body.ops, OpKind::Binary(BinaryOp::Add), &[a, b], S32);
    body.results = vec![next, b, sum];
    op(OpKind::While, &operands, &results, vec![condition, body])
}

#[test]
fn loops_run_as_one_program() {
    let mut fixture = Fixture::new();
    let n = fixture.value(ElementType::S32);
    let whole = fibonacci(&mut fixture, n);
    let whole = super::whole(&fixture.0, &whole).expect("scalars only");
    assert_eq!(whole.inputs.last(), Some(&n));
    let mut evaluator = whole.program.evaluator();
    for (n, expected) in [(0, 0), (1, 1), (10, 55), (40, 102_334_155)] {
        let args = [0, 0, 1, n].map(|value: i32| Scalar::of(value));
        let mut results = [Scalar::default(); 3];
        evaluator.call(&args, &mut results);
        assert_eq!(results[1].get::<i32>(), expected, "{n}");
    }
}

#[test]
fn branches_choose() {
    let mut fixture = Fixture::new();
    let (index, result) = (fixture.value(ElementType::S32), fixture.value(ElementType::F32));
    let branch = |fixture: &mut Fixture, value: f32| {
        let mut region = Region::default();
        region.results = vec![fixture.op(&mut region.ops, constant(ElementType::F32, value), &[], ElementType::F32)];
        region
    };
    let regions = [1.0, 2.0, 3.0].map(|value| branch(&mut fixture, value)).to_vec();
    let case = op(OpKind::Case, &[index], &[result], regions);
    let program = Program::of_op(&fixture.0, &[index], &case).expect("a program");
    let found = [0, 1, 2, 7, -1].map(|index: i32| program.evaluator().call1(&[Scalar::of(index)]).get::<f32>());
    assert_eq!(found, [1.0, 2.0, 3.0, 3.0, 3.0]);
}

#[test]
fn narrow_floats_round_after_each_op() {
    let mut fixture = Fixture::new();
    let [a, b] = [ElementType::BF16; 2].map(|element| fixture.value(element));
    let mut ops = Vec::new();
    let sum = fixture.op(&mut ops, OpKind::Binary(BinaryOp::Add), &[a, b], ElementType::BF16);
    let back = fixture.op(&mut ops, OpKind::Binary(BinaryOp::Subtract), &[sum, a], ElementType::BF16);
    let program = Program::new(&fixture.0, &[a, b], &ops, &[back]).expect("a program");
    let [a, b] = [256.0, 1.0].map(|value| Scalar::of(half::bf16::from_f32(value)));
    assert_eq!(program.evaluator().call1(&[a, b]).get::<half::bf16>(), half::bf16::ZERO);
}

#[test]
fn common_bodies_are_recognised() {
    use ElementType::{F32, Pred, S32};
    let mut fixture = Fixture::new();
    let mut binary = |kind: OpKind, element, swap: bool| {
        let mut region = Region { params: vec![fixture.value(element), fixture.value(element)], ..Region::default() };
        let (a, b) = (region.params[usize::from(swap)], region.params[usize::from(!swap)]);
        let result = if matches!(kind, OpKind::Compare(..)) { Pred } else { element };
        region.results = vec![fixture.op(&mut region.ops, kind, &[a, b], result)];
        idiom(&fixture.0.values, &region)
    };
    let order = |descending| Some(Body::Order(Order { operand: 0, descending, total: false, canonical: false }));
    assert_eq!(binary(OpKind::Binary(BinaryOp::Add), F32, true), Some(Body::Binary(BinaryOp::Add)));
    assert_eq!(binary(OpKind::Binary(BinaryOp::Maximum), Pred, false), Some(Body::Binary(BinaryOp::Or)));
    assert_eq!(binary(OpKind::Binary(BinaryOp::Subtract), F32, false), None);
    assert_eq!(binary(less(), S32, false), order(false));
    assert_eq!(binary(less(), S32, true), order(true));
}

#[test]
fn the_comparator_and_reducer_of_jax_are_recognised() {
    use ElementType::{F32, Pred, S32};
    let mut fixture = Fixture::new();
    let compare = |direction, order| OpKind::Compare(direction, order);
    let (eq, ne, gt) = (ComparisonDirection::Eq, ComparisonDirection::Ne, ComparisonDirection::Gt);
    // jnp.sort
    let mut region = Region { params: vec![fixture.value(F32), fixture.value(F32)], ..Region::default() };
    let keys: Vec<ValueId> = (region.params.clone().into_iter())
        .map(|x| {
            let ops = &mut region.ops;
            let zero = fixture.op(ops, constant(F32, 0f32), &[], F32);
            let is_zero = fixture.op(ops, compare(eq, ComparisonType::Float), &[x, zero], Pred);
            let canonical = fixture.op(ops, OpKind::Select, &[is_zero, zero, x], F32);
            let is_nan = fixture.op(ops, compare(ne, ComparisonType::Float), &[x, x], Pred);
            let nan = fixture.op(ops, constant(F32, f32::NAN), &[], F32);
            fixture.op(ops, OpKind::Select, &[is_nan, nan, canonical], F32)
        })
        .collect();
    let total = compare(ComparisonDirection::Lt, ComparisonType::TotalOrder);
    region.results = vec![fixture.op(&mut region.ops, total, &keys, Pred)];
    let order = Order { operand: 0, descending: false, total: true, canonical: true };
    assert_eq!(idiom(&fixture.0.values, &region), Some(Body::Order(order)));
    // jnp.argmax
    let params = [F32, S32, F32, S32].map(|element| fixture.value(element));
    let [x, i, y, j] = params;
    let mut region = Region { params: params.to_vec(), ..Region::default() };
    let ops = &mut region.ops;
    let better = fixture.op(ops, compare(gt, ComparisonType::Float), &[x, y], Pred);
    let is_nan = fixture.op(ops, compare(ne, ComparisonType::Float), &[x, x], Pred);
    let pick = fixture.op(ops, OpKind::Binary(BinaryOp::Or), &[better, is_nan], Pred);
    let equal = fixture.op(ops, compare(eq, ComparisonType::Float), &[x, y], Pred);
    let earlier = fixture.op(ops, less(), &[i, j], Pred);
    let tie = fixture.op(ops, OpKind::Binary(BinaryOp::And), &[equal, earlier], Pred);
    let pick_index = fixture.op(ops, OpKind::Binary(BinaryOp::Or), &[pick, tie], Pred);
    let value = fixture.op(ops, OpKind::Select, &[pick, x, y], F32);
    let index = fixture.op(ops, OpKind::Select, &[pick_index, i, j], S32);
    region.results = vec![value, index];
    assert_eq!(idiom(&fixture.0.values, &region), Some(Body::ArgMax));
}
