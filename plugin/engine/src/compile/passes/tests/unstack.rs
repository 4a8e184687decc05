use oxcall_hlo::{ComparisonDirection, ComparisonType};

use super::*;

/// The rows of an array of `dims` along `dim`, as arrays without that dimension.
fn rows(f: &mut FuncBuilder, array: ValueId, dim: usize) -> Vec<ValueId> {
    let ty = f.ty(array).tensor().unwrap().clone();
    let row = |row: usize| {
        let (mut start, mut limit) = (vec![0; ty.rank()], ty.dims.to_vec());
        (start[dim], limit[dim]) = (row, row + 1);
        let slice = f.op(OpKind::Slice { start, limit, strides: vec![1; ty.rank()] }, [array]).unwrap();
        let mut dims = ty.dims.to_vec();
        dims.remove(dim);
        f.typed(OpKind::Reshape, [slice], f32s(&dims)).unwrap()
    };
    (0..ty.dims[dim]).map(row).collect()
}

fn stack(f: &mut FuncBuilder, rows: &[ValueId], dim: usize) -> ValueId {
    let part = |&row: &ValueId| {
        let mut dims = f.ty(row).tensor().unwrap().dims.to_vec();
        dims.insert(dim, 1);
        f.typed(OpKind::Reshape, [row], f32s(&dims)).unwrap()
    };
    let parts: Vec<ValueId> = rows.iter().map(part).collect();
    f.op(OpKind::Concatenate { dim }, parts).unwrap()
}

/// The text of 5 steps of `s` and `v`, both of `dims`: `body` gives their next values.
fn steps(dims: &[usize], body: impl FnOnce(&mut FuncBuilder, ValueId, ValueId) -> [ValueId; 2]) -> String {
    let mut f = FuncBuilder::new("main");
    let (s, v) = (f.param(f32s(dims)), f.param(f32s(dims)));
    let zero = f.splat(scalar(ElementType::S32), [0; 4]);
    let types: [Type; 3] = [zero, s, v].map(|value| f.ty(value).clone());
    let cond = f.region(types.clone(), |f, params| {
        let end = f.splat(scalar(ElementType::S32), 50i32.to_le_bytes());
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [params[0], end])?])
    });
    let body = f.region(types, |f, params| {
        let one = f.splat(scalar(ElementType::S32), 1i32.to_le_bytes());
        let next = f.op(add(), [params[0], one])?;
        let [s, v] = body(f, params[1], params[2]);
        Ok(vec![next, s, v])
    });
    let results = f.with_regions(OpKind::While, [zero, s, v], [cond.unwrap(), body.unwrap()]).unwrap();
    all_passes(f, &results[1..])
}

/// A rotation of each row to the next.
fn turned(f: &mut FuncBuilder, s: ValueId, dim: usize) -> ValueId {
    let mut rows = rows(f, s, dim);
    rows.rotate_left(1);
    rows[0] = f.op(add(), [rows[0], rows[1]]).unwrap();
    stack(f, &rows, dim)
}

/// Whether the body of the loop stacks nothing.
fn is_taken_apart(text: &str) -> bool {
    let (start, end) = (text.find("while").unwrap(), text.rfind("return").unwrap());
    let end = text[start..].find('}').map_or(end, |_| text.rfind('}').unwrap());
    !text[start..end].contains("concatenate")
}

#[test]
fn arrays_of_unknowns_become_rows() {
    for (dims, dim) in [(&[3, 2000][..], 0), (&[2000, 3], 1), (&[4, 1000, 2], 0), (&[40, 2, 30], 1)] {
        // A step of one array, and of a position and its velocity.
        let one = steps(dims, |f, s, v| {
            let turned = turned(f, s, dim);
            [f.op(add(), [s, turned]).unwrap(), f.op(add(), [v, v]).unwrap()]
        });
        assert!(is_taken_apart(&one), "{one}");
        let two = steps(dims, |f, s, v| {
            let force = turned(f, s, dim);
            let v = f.op(OpKind::Binary(BinaryOp::Multiply), [v, force]).unwrap();
            [f.op(add(), [s, v]).unwrap(), v]
        });
        assert!(is_taken_apart(&two), "{two}");
        // A step of two stages, whose rows are read in between.
        let stages = steps(dims, |f, s, v| {
            let first = turned(f, s, dim);
            let middle = f.op(add(), [s, first]).unwrap();
            let second = turned(f, middle, dim);
            [f.op(add(), [s, second]).unwrap(), f.op(add(), [v, v]).unwrap()]
        });
        assert!(is_taken_apart(&stages), "{stages}");
        // An array that does not change, of which other parts are read, too.
        let mut other = dims.to_vec();
        let along = (dim + 1) % dims.len();
        other[along] = 1;
        let fixed = steps(dims, |f, s, v| {
            let turned = turned(f, s, dim);
            let noise = f.typed(OpKind::Iota { dim: along }, [], f32s(dims)).unwrap();
            let slice =
                OpKind::Slice { start: vec![0; dims.len()], limit: other.clone(), strides: vec![1; dims.len()] };
            let part = f.op(slice, [noise]).unwrap();
            let part = f.typed(OpKind::BroadcastInDim { dims: (0..dims.len()).collect() }, [part], f32s(dims)).unwrap();
            let next = f.op(add(), [s, turned]).unwrap();
            let next = f.op(add(), [next, noise]).unwrap();
            [f.op(add(), [next, part]).unwrap(), f.op(add(), [v, v]).unwrap()]
        });
        assert!(is_taken_apart(&fixed), "{fixed}");
    }
}

#[test]
fn arrays_that_are_needed_as_a_whole_stay() {
    let dims = &[3, 2000];
    let reversed = steps(dims, |f, s, v| {
        let turned = turned(f, s, 0);
        let other = f.op(OpKind::Reverse { dims: vec![1] }, [s]).unwrap();
        [f.op(add(), [turned, other]).unwrap(), v]
    });
    assert!(!is_taken_apart(&reversed), "{reversed}");
    // Many rows, and few elements, which machine code has in registers.
    for dims in [[40, 2000], [3, 100]] {
        let text = steps(&dims, |f, s, v| {
            let turned = turned(f, s, 0);
            [f.op(add(), [s, turned]).unwrap(), v]
        });
        assert!(!is_taken_apart(&text), "{text}");
    }
}
