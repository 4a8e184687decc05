use super::*;

/// The types of the reductions that are left of one of `op` along dimensions.
fn reductions(dims: &[usize], reduced: &[usize], op: BinaryOp) -> Vec<String> {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(dims));
    let zero = f32_constant(&mut f, 0.5);
    let body = combiner(&mut f, op, ElementType::F32);
    let results = f.with_regions(OpKind::Reduce { dims: reduced.to_vec() }, [x, zero], [body]).unwrap();
    let text = all_passes(f, results);
    let lines = text.lines().filter(|line| line.contains("= reduce"));
    lines.map(|line| line.rsplit(" : ").next().unwrap().to_owned()).collect()
}

#[test]
fn dimensions_that_are_not_neighbours_are_reduced_one_after_the_other() {
    // A group norm, a batch norm of images by channel, and three groups.
    assert_eq!(reductions(&[8, 28, 28, 8, 8], &[1, 2, 4], BinaryOp::Add), ["f32[8,8,8]", "f32[8,8]"]);
    assert_eq!(reductions(&[8, 16, 28, 28], &[0, 2, 3], BinaryOp::Maximum), ["f32[8,16]", "f32[16]"]);
    assert_eq!(
        reductions(&[6, 5, 7, 5, 8, 5], &[0, 2, 4], BinaryOp::Add),
        ["f32[6,5,7,5,5]", "f32[6,5,5,5]", "f32[5,5,5]"]
    );
    assert_eq!(reductions(&[100, 4, 100], &[0, 2], BinaryOp::Minimum), ["f32[4,100]", "f32[4]"]);
}

#[test]
fn neighbours_and_few_elements_are_reduced_together() {
    assert_eq!(reductions(&[8, 28, 28, 8], &[1, 2], BinaryOp::Add), ["f32[8,8]"]);
    assert_eq!(reductions(&[80, 1, 28, 8], &[0, 2], BinaryOp::Add), ["f32[1,8]"]);
    assert_eq!(reductions(&[8, 8, 8], &[0, 2], BinaryOp::Add), ["f32[8]"]);
    assert_eq!(reductions(&[80, 8, 80], &[0, 2], BinaryOp::Multiply), ["f32[8]"]);
}
