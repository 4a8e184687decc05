use super::*;

/// `select(p, update of x, x)` with the predicate of `shape`, and whether the update is a result as well.
fn selected(shape: &[usize], is_result: bool) -> String {
    let mut f = FuncBuilder::new("main");
    let array = TensorType::new(ElementType::F32, [4, 6]);
    let x = f.param(array.clone());
    let part = f.param(f32s(&[2, 3]));
    let starts = [(); 2].map(|()| f.param(scalar(ElementType::S32)));
    let p = f.param(TensorType::new(ElementType::Pred, shape.iter().copied()));
    let update = f.op(OpKind::DynamicUpdateSlice, [x, part, starts[0], starts[1]]).unwrap();
    let dims = (0..shape.len()).collect();
    let all = TensorType::new(ElementType::Pred, [4, 6]);
    let all = if shape.len() == 2 { p } else { f.typed(OpKind::BroadcastInDim { dims }, [p], all).unwrap() };
    let y = f.op(OpKind::Select, [all, update, x]).unwrap();
    if is_result { all_passes(f, [y, update]) } else { all_passes(f, [y]) }
}

#[test]
fn only_the_part_is_selected() {
    for shape in [&[][..], &[4], &[4, 6], &[1]] {
        let text = selected(shape, false);
        assert!(text.contains("dynamic_slice %0 %2 %3 : f32[2,3]"), "{text}");
        let selects: Vec<&str> = text.lines().filter(|line| line.contains("= select")).collect();
        assert!(selects.len() == 1 && selects[0].ends_with("f32[2,3]"), "{text}");
        assert!(text.lines().rfind(|line| line.contains('=')).unwrap().contains("dynamic_update_slice"), "{text}");
        // Of a predicate for each row, two are taken.
        assert_eq!(text.contains("dynamic_slice %4 %2"), shape.first() == Some(&4), "{text}");
    }
}

#[test]
fn what_is_used_elsewhere_stays() {
    let text = selected(&[], true);
    assert!(!text.contains("= dynamic_slice"), "{text}");
}
