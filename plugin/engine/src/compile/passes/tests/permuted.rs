use oxcall_hlo::{ComparisonDirection, ComparisonType, Error, UnaryOp};

use super::*;

/// Builds what is reduced, from the function and the leaves' broadcasts.
type Build = fn(&mut FuncBuilder, &[ValueId]) -> Result<ValueId, Error>;

fn difference(f: &mut FuncBuilder, leaves: &[ValueId]) -> Result<ValueId, Error> {
    f.op(OpKind::Binary(BinaryOp::Subtract), leaves)
}

fn square(f: &mut FuncBuilder, leaves: &[ValueId]) -> Result<ValueId, Error> {
    let difference = difference(f, leaves)?;
    f.op(OpKind::Binary(BinaryOp::Multiply), [difference, difference])
}

fn distance(f: &mut FuncBuilder, leaves: &[ValueId]) -> Result<ValueId, Error> {
    let difference = difference(f, leaves)?;
    f.op(OpKind::Unary(UnaryOp::Abs), [difference])
}

/// What `build` makes of a parameter for each of `leaves`, which are dimensions of an array of shape `dims`, reduced by
/// `function` along `reduced`.
fn reduced(
    f: &mut FuncBuilder,
    dims: &[usize],
    leaves: &[&[usize]],
    function: BinaryOp,
    reduced: &[usize],
    build: Build,
) -> [ValueId; 2] {
    let params: Vec<ValueId> = leaves
        .iter()
        .map(|places| {
            let x = f.param(f32s(&places.iter().map(|&dim| dims[dim]).collect::<Vec<_>>()));
            f.typed(OpKind::BroadcastInDim { dims: places.to_vec() }, [x], f32s(dims)).unwrap()
        })
        .collect();
    let value = build(f, &params).unwrap();
    let zero = f32_constant(f, 0.0);
    let body = combiner(f, function, ElementType::F32);
    let kind = OpKind::Reduce { dims: reduced.to_vec() };
    [f.with_regions(kind, [value, zero], [body]).unwrap()[0], value]
}

/// The text of what is left of such a reduction alone.
fn text_of(dims: &[usize], leaves: &[&[usize]], function: BinaryOp, along: &[usize], build: Build) -> String {
    let mut f = FuncBuilder::new("main");
    let [result, _] = reduced(&mut f, dims, leaves, function, along, build);
    all_passes(f, [result])
}

/// Whether `text` has one reduction, of what ops of a shape compute, and so many transpositions.
fn has(text: &str, op: &str, shape: &str, transposes: usize) -> bool {
    let is_there = |line: &str| line.contains(&format!("= {op} ")) && line.ends_with(&format!(" : f32[{shape}]"));
    text.lines().any(is_there)
        && text.matches("= reduce").count() == 1
        && text.matches("= transpose").count() == transposes
}

#[test]
fn distances_of_all_pairs_are_sums_of_columns() {
    let text = text_of(&[100, 130, 64], &[&[0, 2], &[1, 2]], BinaryOp::Add, &[2], square);
    assert!(has(&text, "multiply", "100,64,130", 1) && text.contains("transpose %1 : f32[64,130]"), "{text}");
    assert!(!text.contains("100,130,64"), "{text}");
    let text = text_of(&[100, 130, 64], &[&[0, 2], &[1, 2]], BinaryOp::Maximum, &[2], distance);
    assert!(has(&text, "abs", "100,64,130", 1), "{text}");
}

#[test]
fn dimensions_before_and_of_size_1_stay_in_order() {
    // A batch; several reduced dimensions; those of size 1 between, after and among them.
    let text = text_of(&[3, 90, 140, 32], &[&[0, 1, 3], &[0, 2, 3]], BinaryOp::Add, &[3], square);
    assert!(has(&text, "multiply", "3,90,32,140", 1) && text.contains(" : f32[3,32,140]"), "{text}");
    let text = text_of(&[90, 140, 4, 8], &[&[0, 2, 3], &[1, 2, 3]], BinaryOp::Add, &[2, 3], square);
    assert!(has(&text, "multiply", "90,4,8,140", 1) && text.contains(" : f32[4,8,140]"), "{text}");
    let text = text_of(&[1, 90, 140, 1, 32, 1], &[&[1, 4], &[2, 4]], BinaryOp::Add, &[0, 4], square);
    assert!(has(&text, "multiply", "90,1,32,140,1,1", 1), "{text}");
    assert!(text.lines().any(|line| line.contains("= reduce") && line.ends_with(" : f32[90,140,1,1]")), "{text}");
}

#[test]
fn a_large_dimension_becomes_the_columns() {
    // Distances of many points from a few, whose result is transposed, as one of the leaves is.
    let text = text_of(&[1000, 20, 64], &[&[0, 2], &[1, 2]], BinaryOp::Add, &[2], square);
    assert!(has(&text, "multiply", "20,64,1000", 2), "{text}");
    let text = text_of(&[3, 1000, 20, 64], &[&[0, 1, 3], &[2, 3]], BinaryOp::Add, &[3], square);
    assert!(has(&text, "multiply", "3,20,64,1000", 2), "{text}");
}

#[test]
fn leaves_may_have_other_dimensions_and_be_numbered() {
    // Vectors are in order whatever the order of their dimensions is.
    let text = text_of(&[100, 130, 64], &[&[1], &[2]], BinaryOp::Add, &[2], square);
    assert!(has(&text, "multiply", "100,64,130", 0), "{text}");
    // Leaves with dimensions of size 1, and those that were transposed already.
    let mut f = FuncBuilder::new("main");
    let [x, y] = [f.param(f32s(&[100, 1, 64])), f.param(f32s(&[64, 130]))];
    let x = f.typed(OpKind::BroadcastInDim { dims: vec![0, 1, 2] }, [x], f32s(&[100, 130, 64])).unwrap();
    let y = f.typed(OpKind::BroadcastInDim { dims: vec![2, 1] }, [y], f32s(&[100, 130, 64])).unwrap();
    let number = f.typed(OpKind::Iota { dim: 1 }, [], f32s(&[100, 130, 64])).unwrap();
    let y = f.op(add(), [y, number]).unwrap();
    let half = f.splat(f32s(&[100, 130, 64]), 0.5f32.to_le_bytes());
    let y = f.op(OpKind::Binary(BinaryOp::Multiply), [y, half]).unwrap();
    let value = distance(&mut f, &[x, y]).unwrap();
    let value = f.op(OpKind::Unary(UnaryOp::Exponential), [value]).unwrap();
    let zero = f32_constant(&mut f, 0.0);
    let body = combiner(&mut f, BinaryOp::Add, ElementType::F32);
    let results = f.with_regions(OpKind::Reduce { dims: vec![2] }, [value, zero], [body]).unwrap();
    let text = all_passes(f, results);
    assert!(has(&text, "exponential", "100,64,130", 0) && has(&text, "iota", "100,64,130", 0), "{text}");
}

#[test]
fn ops_after_the_reduction_stay() {
    let mut f = FuncBuilder::new("main");
    let [sums, _] = reduced(&mut f, &[100, 130, 64], &[&[0, 2], &[1, 2]], BinaryOp::Add, &[2], square);
    let negated = f.op(OpKind::Unary(UnaryOp::Negate), [sums]).unwrap();
    let kernel = f.op(OpKind::Unary(UnaryOp::Exponential), [negated]).unwrap();
    let text = all_passes(f, [kernel]);
    assert!(has(&text, "multiply", "100,64,130", 1) && has(&text, "exponential", "100,130", 1), "{text}");
}

#[test]
fn leaves_that_do_not_change_are_transposed_before_a_loop() {
    let mut f = FuncBuilder::new("main");
    let [x, y] = [f.param(f32s(&[100, 64])), f.param(f32s(&[130, 64]))];
    let start = f.param(f32s(&[100, 130]));
    let zero = f.splat(scalar(ElementType::S32), [0; 4]);
    let types: [Type; 2] = [zero, start].map(|value| f.ty(value).clone());
    let cond = f.region(types.clone(), |f, params| {
        let end = f.splat(scalar(ElementType::S32), 1000i32.to_le_bytes());
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [params[0], end])?])
    });
    let body = f.region(types, |f, params| {
        let one = f.splat(scalar(ElementType::S32), 1i32.to_le_bytes());
        let next = f.op(add(), [params[0], one])?;
        let scale = f.typed(OpKind::Convert, [params[0]], f32s(&[]))?;
        let scale = f.typed(OpKind::BroadcastInDim { dims: vec![] }, [scale], f32s(&[100, 130, 64]))?;
        let x = f.typed(OpKind::BroadcastInDim { dims: vec![0, 2] }, [x], f32s(&[100, 130, 64]))?;
        let x = f.op(OpKind::Binary(BinaryOp::Multiply), [x, scale])?;
        let y = f.typed(OpKind::BroadcastInDim { dims: vec![1, 2] }, [y], f32s(&[100, 130, 64]))?;
        let value = square(f, &[x, y])?;
        let zero = f32_constant(f, 0.0);
        let body = combiner(f, BinaryOp::Add, ElementType::F32);
        let sums = f.with_regions(OpKind::Reduce { dims: vec![2] }, [value, zero], [body])?[0];
        Ok(vec![next, f.op(add(), [params[1], sums])?])
    });
    let results = f.with_regions(OpKind::While, [zero, start], [cond.unwrap(), body.unwrap()]).unwrap();
    let text = all_passes(f, [results[1]]);
    let (before, inside) = text.split_once("= while").unwrap();
    assert_eq!(before.matches("= transpose").count(), 1, "{text}");
    assert!(has(inside, "subtract", "100,64,130", 0), "{text}");
}

#[test]
fn other_reductions_of_rows_stay() {
    for (dims, leaves, along) in [
        // A leaf that is as large, or large for a small number of pairs.
        (&[100, 130, 64], &[&[0usize, 1, 2][..], &[1, 2]], 2),
        (&[8, 200, 64], &[&[0, 2], &[1, 2]], 2),
        // Few elements, columns, or elements of a slab; long rows.
        (&[15, 130, 32], &[&[0, 2], &[1, 2]], 2),
        (&[127, 126, 64], &[&[0, 2], &[1, 2]], 2),
        // Few columns in the last dimension, and too many results to transpose.
        (&[1000, 127, 12], &[&[0, 2], &[1, 2]], 2),
        (&[1000, 130, 31], &[&[0, 2], &[1, 2]], 2),
        (&[100, 130, 1025], &[&[0, 2], &[1, 2]], 2),
        // Rows that are columns already.
        (&[100, 64, 130], &[&[0, 1], &[1, 2]], 1),
    ] {
        let text = text_of(dims, leaves, BinaryOp::Add, &[along], square);
        let shape = dims.map(|size| size.to_string()).join(",");
        assert!(has(&text, "multiply", &shape, 0), "{text}");
    }
}

#[test]
fn what_others_use_or_takes_many_ops_stays() {
    let mut f = FuncBuilder::new("main");
    let [sums, squares] = reduced(&mut f, &[100, 130, 64], &[&[0, 2], &[1, 2]], BinaryOp::Add, &[2], square);
    let text = all_passes(f, [sums, squares]);
    assert!(has(&text, "multiply", "100,130,64", 0), "{text}");
    let text = text_of(&[100, 130, 64], &[&[0, 2], &[1, 2]], BinaryOp::Add, &[2], |f, leaves| {
        let sines = |f: &mut FuncBuilder, value| f.op(OpKind::Unary(UnaryOp::Sine), [value]);
        let value = square(f, leaves)?;
        (0..15).try_fold(value, |value, _| sines(f, value))
    });
    assert!(has(&text, "sine", "100,130,64", 0), "{text}");
}
