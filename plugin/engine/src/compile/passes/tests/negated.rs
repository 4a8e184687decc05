use oxcall_hlo::UnaryOp;

use super::*;

/// The text of a program that swaps the halves of an array's last dimension, and negates some of them.
fn text_of(dims: &[usize], negated: [bool; 2]) -> String {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(dims));
    let half = dims[dims.len() - 1] / 2;
    let mut part = |start: usize, is_negated: bool| {
        let mut limit = dims.to_vec();
        limit[dims.len() - 1] = start + half;
        let mut first = vec![0; dims.len()];
        first[dims.len() - 1] = start;
        let slice = f.op(OpKind::Slice { start: first, limit, strides: vec![1; dims.len()] }, [x]).unwrap();
        if is_negated { f.op(OpKind::Unary(UnaryOp::Negate), [slice]).unwrap() } else { slice }
    };
    let parts = [part(half, negated[0]), part(0, negated[1])];
    let result = f.op(OpKind::Concatenate { dim: dims.len() - 1 }, parts).unwrap();
    all_passes(f, [result])
}

#[test]
fn negated_slices_are_selected_after_they_are_put_together() {
    let has = |text: &str, op: &str| text.lines().any(|line| line.contains(&format!("= {op} ")));
    for negated in [[true, false], [false, true]] {
        let text = text_of(&[4, 8, 64], negated);
        assert!(has(&text, "select") && text.matches("= negate").count() == 1, "{text}");
    }
    for (dims, negated) in [([4, 8, 64], [true; 2]), ([4, 8, 64], [false; 2]), ([1, 2, 64], [true, false])] {
        let text = text_of(&dims, negated);
        assert!(!has(&text, "select"), "{text}");
    }
}
