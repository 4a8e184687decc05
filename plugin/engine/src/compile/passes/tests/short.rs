use super::*;

/// The ops that are left of `sum((x - y)^2)` along a dimension, where `y` has that and the first one.
fn distances(dims: &[usize], dim: usize, is_used: bool) -> String {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(dims));
    let y = f.param(f32s(&[dims[0], dims[dim]]));
    let y = f.typed(OpKind::BroadcastInDim { dims: vec![0, dim] }, [y], f32s(dims)).unwrap();
    let difference = f.op(OpKind::Binary(BinaryOp::Subtract), [x, y]).unwrap();
    let square = f.op(OpKind::Binary(BinaryOp::Multiply), [difference, difference]).unwrap();
    let zero = f32_constant(&mut f, 0.0);
    let body = combiner(&mut f, BinaryOp::Add, ElementType::F32);
    let sums = f.with_regions(OpKind::Reduce { dims: vec![dim] }, [square, zero], [body]).unwrap()[0];
    let results = if is_used { vec![sums, square] } else { vec![sums] };
    all_passes(f, results)
}

#[test]
fn sums_of_few_elements_are_element_wise() {
    let text = distances(&[40, 50, 3], 2, false);
    assert_eq!((text.matches("= reduce").count(), text.matches("= slice").count()), (0, 6), "{text}");
    assert_eq!(text.matches("= multiply").count(), 3, "{text}");
    assert!(!text.contains("40,50,3] f32[40,50,3]") && text.contains("f32[40,3]"), "{text}");
}

#[test]
fn other_reductions_stay() {
    for (dims, dim, is_used) in [([40, 50, 3], 2, true), ([40, 50, 9], 2, false), ([5, 50, 3], 2, false)] {
        let text = distances(&dims, dim, is_used);
        assert_eq!(text.matches("= reduce").count(), 1, "{text}");
    }
}

#[test]
fn a_long_chain_of_ops_before_a_reduction_stays() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[500, 3]));
    let mut value = x;
    for _ in 0..20_000 {
        value = f.op(add(), [value, x]).unwrap();
    }
    let zero = f32_constant(&mut f, 0.0);
    let body = combiner(&mut f, BinaryOp::Add, ElementType::F32);
    let sums = f.with_regions(OpKind::Reduce { dims: vec![1] }, [value, zero], [body]).unwrap();
    let text = all_passes(f, sums);
    assert_eq!((text.matches("= reduce").count(), text.matches("= add").count()), (1, 20_001));
}

#[test]
fn reductions_of_one_element_are_element_wise() {
    for (element, function, init, is_there) in [
        (ElementType::Pred, BinaryOp::And, &[1][..], false),
        (ElementType::S32, BinaryOp::Add, &[0; 4], false),
        // The sum of both zeros is not that of one.
        (ElementType::F32, BinaryOp::Add, &[0; 4], true),
        (ElementType::F32, BinaryOp::Maximum, &[0; 4], true),
    ] {
        let mut f = FuncBuilder::new("main");
        let x = f.param(TensorType::new(element, [40, 1, 3, 1]));
        let init = f.splat(TensorType::scalar(element), init);
        let body = combiner(&mut f, function, element);
        let one = f.with_regions(OpKind::Reduce { dims: vec![1, 3] }, [x, init], [body]).unwrap();
        let text = all_passes(f, one);
        let name = function.name().trim_start_matches("stablehlo.");
        assert_eq!(text.matches(&format!("= {name}")).count(), usize::from(is_there), "{text}");
        assert!(!text.contains("reduce"), "{text}");
    }
}
