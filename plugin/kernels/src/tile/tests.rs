use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, Literal, OpKind, UnaryOp};

use super::access::Access;
use super::build::Builder;
use crate::by_element;
use crate::element::{Element, Scalar};
use crate::kernels::testing::{Random, Single, bytes, elements, indices, random_bytes, ravel, run_kernel, ty};
use crate::scalar::Program;

/// Whether two elements are equal; all NaNs are, whatever their bits.
fn same(a: Scalar, b: Scalar, element: ElementType) -> bool {
    let parts = |x: Scalar| by_element!(element, T => bytes(&[x.get::<T>().widen()]));
    let is_nan = |bytes: &[u8]| match bytes.len() {
        4 => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
    };
    let (a, b) = (parts(a), parts(b));
    let part = if element.is_complex() { a.len() / 2 } else { a.len() };
    let is_float = element.is_float() || element.is_complex();
    a.chunks(part).zip(b.chunks(part)).all(|(a, b)| a == b || (is_float && is_nan(a) && is_nan(b)))
}

/// Compares an element-wise op as a kernel on many elements with its scalar program on each. Returns whether there is a
/// kernel.
fn agrees_with_scalars(kind: OpKind, operands: &[ElementType], result: ElementType) -> bool {
    const COUNT: usize = 77;
    let types: Vec<_> = operands.iter().map(|&element| ty(element, &[COUNT])).collect();
    let single = Single::new(kind.clone(), &types, &[ty(result, &[COUNT])]);
    let Ok(_) = single.kernel() else { return false };
    let mut random = Random(operands.len() as u64);
    let data: Vec<_> = operands.iter().map(|&element| random_bytes(&mut random, element, COUNT)).collect();
    let results = &single.run(&data)[0];
    let scalar_types: Vec<_> = operands.iter().map(|&element| ty(element, &[])).collect();
    let scalar = Single::new(kind.clone(), &scalar_types, &[ty(result, &[])]);
    let program = Program::of_op(&scalar.func, &scalar.op.operands, &scalar.op).expect("a program");
    let mut evaluator = program.evaluator();
    for index in 0..COUNT {
        let element =
            |bytes: &[u8], ty: ElementType| Scalar::from_bytes(&bytes[index * ty.byte_width()..][..ty.byte_width()]);
        let args: Vec<_> = data.iter().zip(operands).map(|(bytes, &ty)| element(bytes, ty)).collect();
        let (expected, found) = (evaluator.call1(&args), element(results, result));
        assert!(
            same(found, expected, result),
            "{found:x?} {expected:x?} {} of {args:x?}: {operands:?} to {result}",
            kind.name()
        );
    }
    true
}

#[test]
fn every_op_of_every_type_agrees_with_scalars() {
    use ElementType as E;
    let mut cells = 0;
    for &element in ElementType::ALL {
        for &op in UnaryOp::ALL {
            let result = match op {
                UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag => element.real(),
                UnaryOp::IsFinite | UnaryOp::IsInf | UnaryOp::IsNegInf | UnaryOp::IsPosInf => E::Pred,
                _ => element,
            };
            cells += usize::from(agrees_with_scalars(OpKind::Unary(op), &[element], result));
        }
        for &op in BinaryOp::ALL {
            cells += usize::from(agrees_with_scalars(OpKind::Binary(op), &[element; 2], element));
        }
        for &direction in ComparisonDirection::ALL {
            for order in [ComparisonType::NoType, ComparisonType::TotalOrder] {
                let kind = OpKind::Compare(direction, order);
                cells += usize::from(agrees_with_scalars(kind, &[element; 2], E::Pred));
            }
        }
        assert!(agrees_with_scalars(OpKind::Select, &[E::Pred, element, element], element));
        cells += usize::from(agrees_with_scalars(OpKind::Clamp, &[element; 3], element));
        for &to in ElementType::ALL {
            assert!(agrees_with_scalars(OpKind::Convert, &[element], to), "{element} to {to}");
        }
        let reduce = OpKind::ReducePrecision { exponent_bits: 5, mantissa_bits: 3 };
        assert_eq!(agrees_with_scalars(reduce, &[element], element), element.is_float());
    }
    assert!(agrees_with_scalars(OpKind::Complex, &[E::F32, E::F32], E::C64));
    assert!(agrees_with_scalars(OpKind::Complex, &[E::F64, E::F64], E::C128));
    assert!(cells > 1000, "{cells}");
}

#[test]
fn broadcasts_follow_the_specification() {
    let mut random = Random(7);
    for _ in 0..300 {
        let rank = random.below(5);
        let result = random.shape(rank);
        let dims: Vec<usize> = random.permutation(rank)[..random.below(rank + 1)].to_vec();
        let operand: Vec<usize> = dims.iter().map(|&dim| if random.below(4) == 0 { 1 } else { result[dim] }).collect();
        let element = [ElementType::Pred, ElementType::BF16, ElementType::F32, ElementType::C128][random.below(4)];
        let (from, to) = (ty(element, &operand), ty(element, &result));
        let data = random_bytes(&mut random, element, from.count());
        let kind = OpKind::BroadcastInDim { dims: dims.clone() };
        let found = &Single::new(kind, std::slice::from_ref(&from), std::slice::from_ref(&to))
            .run(std::slice::from_ref(&data))[0];
        let width = element.byte_width();
        for index in indices(&result) {
            let source: Vec<usize> =
                dims.iter().zip(&operand).map(|(&dim, &size)| if size == 1 { 0 } else { index[dim] }).collect();
            let (place, source) = (ravel(&index, &result) * width, ravel(&source, &operand) * width);
            assert_eq!(found[place..place + width], data[source..source + width], "{operand:?} {dims:?} {result:?}");
        }
    }
}

#[test]
fn rows_are_repeated_across_tiles() {
    for (element, row) in [ElementType::Pred, ElementType::BF16, ElementType::F32, ElementType::C128]
        .into_iter()
        .flat_map(|element| [2, 3, 7, 100, 1023, 5001].map(|row| (element, row)))
    {
        let (from, to) = (ty(element, &[row]), ty(element, &[20_000 / row, row]));
        let data = random_bytes(&mut Random(row as u64), element, row);
        let kind = OpKind::BroadcastInDim { dims: vec![1] };
        let found = Single::new(kind, std::slice::from_ref(&from), std::slice::from_ref(&to));
        assert_eq!(found.run(std::slice::from_ref(&data))[0], data.repeat(20_000 / row), "{row} of {element}");
    }
}

#[test]
fn iota_counts() {
    for dims in [&[5usize, 7, 3][..], &[3000], &[1, 4000, 2], &[4, 0]] {
        for dim in 0..dims.len() {
            let result = ty(ElementType::F32, dims);
            let found = Single::new(OpKind::Iota { dim }, &[], &[result]).run(&[]).remove(0);
            let expected: Vec<f32> = indices(dims).map(|index| index[dim] as f32).collect();
            assert_eq!(elements::<f32>(&found), expected);
        }
    }
}

#[test]
fn scalars_and_constants_are_spread() {
    let array = ty(ElementType::BF16, &[5000]);
    let scalar = ty(ElementType::BF16, &[]);
    let literal = Literal::splat(array.clone(), half::bf16::from_f32(2.5).to_le_bytes());
    let found = Single::new(OpKind::Constant(literal), &[], std::slice::from_ref(&array)).run(&[]).remove(0);
    assert_eq!(elements::<half::bf16>(&found), vec![half::bf16::from_f32(2.5); 5000]);
    let x: Vec<half::bf16> = (0..5000).map(|i| half::bf16::from_f32(i as f32)).collect();
    let clamp = Single::new(OpKind::Clamp, &[scalar.clone(), array.clone(), scalar], &[array]);
    let (low, high) = (half::bf16::from_f32(10.0), half::bf16::from_f32(1000.0));
    let found = clamp.run(&[bytes(&[low]), bytes(&x), bytes(&[high])]).remove(0);
    let expected: Vec<_> = x.iter().map(|&x| x.max(low).min(high)).collect();
    assert_eq!(elements::<half::bf16>(&found), expected);
}

/// `erfc(x)` and `exp(-(x * x))`, in either order and with each form of the square, with machine code and without: the
/// exponential as by itself, and `erfc` as accurate.
#[test]
fn error_functions_take_the_exponential_of_the_program() {
    use ElementType::F32;
    const COUNT: usize = 5000;
    let x: Vec<f32> = (0..COUNT).map(|index| (index as f32 - 2500.0) / 250.0).collect();
    for (form, erfc_first, generate) in (0..12).map(|case| (case % 3, case / 3 % 2 == 0, case / 6 == 0)) {
        let mut builder = Builder::new(COUNT, [(F32, COUNT)]);
        builder.generate = generate;
        let x_value = builder.input(0, Access::same_or_scalar(&ty(F32, &[COUNT]), &ty(F32, &[COUNT])).unwrap());
        let mut op = |kind: OpKind, args: &[usize]| {
            let args: Vec<_> = args.iter().map(|&arg| (arg, F32)).collect();
            builder.op(&kind, &args, F32).unwrap()
        };
        let (negate, multiply) = (OpKind::Unary(UnaryOp::Negate), OpKind::Binary(BinaryOp::Multiply));
        let first = erfc_first.then(|| op(OpKind::Unary(UnaryOp::Erfc), &[x_value]));
        let power = match form {
            0 => {
                let square = op(multiply, &[x_value, x_value]);
                op(negate, &[square])
            }
            1 => {
                let square = op(OpKind::Unary(UnaryOp::Square), &[x_value]);
                op(negate, &[square])
            }
            _ => {
                let negative = op(negate, &[x_value]);
                op(multiply, &[negative, x_value])
            }
        };
        let exp = op(OpKind::Unary(UnaryOp::Exponential), &[power]);
        let erfc = first.unwrap_or_else(|| op(OpKind::Unary(UnaryOp::Erfc), &[x_value]));
        let mut alone = builder.clone();
        alone.output(exp, F32);
        let alone = run_kernel(&alone.build("alone".to_owned()), &[bytes(&x)], &[4 * COUNT], &[], 2).remove(0);
        builder.output(erfc, F32);
        builder.output(exp, F32);
        let mut shared = builder.clone();
        shared.share_exponentials();
        let takes_two = |builder: &Builder| {
            let args_of = |value| builder.applied(value, "erfc");
            (0..builder.values.len()).filter_map(args_of).any(|args| args.len() == 2)
        };
        assert!(takes_two(&shared) && !takes_two(&builder), "form {form}");
        let found = run_kernel(&builder.build("test".to_owned()), &[bytes(&x)], &[4 * COUNT; 2], &[], 2);
        assert!(found[1] == alone, "form {form}, {generate}: the exponential keeps its bits");
        for (&x, found) in x.iter().zip(elements::<f32>(&found[0])) {
            let exact = libm::erfc(f64::from(x));
            // As in the table of accuracies: 6 units in the last place, of normal numbers.
            let unit = f64::from(f32::EPSILON) * exact.max(f64::from(f32::MIN_POSITIVE));
            assert!((f64::from(found) - exact).abs() <= 6.0 * unit, "erfc({x}): {found:e}, not {exact:e}");
        }
    }
}
