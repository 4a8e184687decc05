//! Loops and branches.

use oxcall_hlo::{Error, Type};

use super::*;

/// A loop that runs `count` times: `body` gets the counter and the values that it carries, and gives their next values.
pub(super) fn repeat(
    f: &mut FuncBuilder,
    count: i32,
    inits: &[ValueId],
    body: impl FnOnce(&mut FuncBuilder, ValueId, &[ValueId]) -> Result<Vec<ValueId>, Error>,
) -> Result<Vec<ValueId>, Error> {
    let zero = constant_s32(f, 0);
    let operands: Vec<ValueId> = [zero].into_iter().chain(inits.iter().copied()).collect();
    let types: Vec<Type> = operands.iter().map(|&value| f.ty(value).clone()).collect();
    let cond = f.region(types.clone(), |f, params| {
        let limit = constant_s32(f, count);
        Ok(vec![less(f, params[0], limit)?])
    })?;
    let body = f.region(types, |f, params| {
        let one = constant_s32(f, 1);
        let mut results = vec![binary(f, BinaryOp::Add, params[0], one)?];
        results.extend(body(f, params[0], &params[1..])?);
        Ok(results)
    })?;
    Ok(f.with_regions(OpKind::While, operands, [cond, body])?.split_off(1))
}

#[test]
fn loops_carry_arrays() {
    for count in [0, 1, 2, 7] {
        let module = func(|f| {
            let x = f.param(f32s([3]));
            let y = f.param(f32s([3]));
            repeat(f, count, &[x, y], |f, _, carried| {
                Ok(vec![
                    binary(f, BinaryOp::Add, carried[0], carried[1])?,
                    binary(f, BinaryOp::Add, carried[1], carried[1])?,
                ])
            })
        });
        let (mut x, mut y) = (1f32, 10f32);
        for _ in 0..count {
            (x, y) = (x + y, y + y);
        }
        let results = run(module, &|e| vec![shared(e, &[1f32; 3]), shared(e, &[10f32; 3])]).unwrap();
        assert_eq!((values::<f32>(&results[0]), values::<f32>(&results[1])), (vec![x; 3], vec![y; 3]), "{count}");
    }
}

#[test]
fn loops_permute_duplicate_and_reset() {
    for count in 0..7 {
        let module = func(|f| {
            let [a, b, c] = [(); 3].map(|()| f.param(f32s([2])));
            let seven = f.splat(f32s([2]), 7f32.to_le_bytes());
            // The same value twice at the start; a rotation; a value twice in the body; a value from outside.
            repeat(f, count, &[a, b, c, a, a, b], |f, _, v| {
                let sum = binary(f, BinaryOp::Add, v[3], v[0])?;
                Ok(vec![v[1], v[2], v[0], sum, sum, seven])
            })
        });
        let (mut v, mut w) = ([1f32, 2.0, 3.0], [1f32, 1.0, 2.0]);
        for _ in 0..count {
            let sum = w[0] + v[0];
            (v, w) = ([v[1], v[2], v[0]], [sum, sum, 7.0]);
        }
        let arguments = |e: &Engine| vec![shared(e, &[1f32; 2]), shared(e, &[2f32; 2]), shared(e, &[3f32; 2])];
        let results = run(module, &arguments).unwrap();
        let got: Vec<f32> = results.iter().map(|result| values::<f32>(result)[1]).collect();
        assert_eq!(got, [v, w].concat(), "{count}");
    }
}

#[test]
fn loops_read_what_is_outside_again_and_again() {
    let module = func(|f| {
        let x = f.param(f32s([2]));
        let outside = binary(f, BinaryOp::Add, x, x)?;
        let kept = binary(f, BinaryOp::Multiply, x, x)?;
        let sums = repeat(f, 5, &[x, kept], |f, _, v| {
            // In the loop its last use; the second value is passed on.
            let sum = binary(f, BinaryOp::Add, v[0], outside)?;
            Ok(vec![sum, v[1]])
        })?;
        Ok(vec![sums[0], sums[1]])
    });
    let results = run(module, &|e| vec![shared(e, &[1f32, 2.0])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [11.0, 22.0]);
    assert_eq!(values::<f32>(&results[1]), [1.0, 4.0]);
}

#[test]
fn nested_loops() {
    let module = func(|f| {
        let x = f.param(f32s([2]));
        repeat(f, 3, &[x, x], |f, _, outer| {
            let inner = repeat(f, 2, &[outer[0], outer[1]], |f, _, v| {
                let sum = binary(f, BinaryOp::Add, v[0], v[1])?;
                Ok(vec![v[1], sum])
            })?;
            let sum = binary(f, BinaryOp::Add, inner[0], inner[1])?;
            Ok(vec![inner[1], sum])
        })
    });
    let (mut a, mut b) = (1f32, 1f32);
    for _ in 0..3 {
        let (mut c, mut d) = (a, b);
        for _ in 0..2 {
            (c, d) = (d, c + d);
        }
        (a, b) = (d, c + d);
    }
    let results = run(module, &|e| vec![shared(e, &[1f32; 2])]).unwrap();
    assert_eq!((values::<f32>(&results[0])[0], values::<f32>(&results[1])[1]), (a, b));
}

#[test]
fn stacked_outputs_are_updated_in_place() {
    let module = func(|f| {
        let x = f.param(f32s([4]));
        let zeros = f.splat(f32s([1000, 4]), 0f32.to_le_bytes());
        repeat(f, 1000, &[x, zeros], |f, i, v| {
            let next = binary(f, BinaryOp::Add, v[0], v[0])?;
            let row = f.typed(OpKind::Reshape, [v[0]], f32s([1, 4]))?;
            let zero = constant_s32(f, 0);
            let stack = f.op(OpKind::DynamicUpdateSlice, [v[1], row, i, zero])?;
            let half = f.splat(f32s([4]), 0.5f32.to_le_bytes());
            Ok(vec![binary(f, BinaryOp::Multiply, next, half)?, stack])
        })
    });
    let engine = engine();
    let program = compile(&engine, module);
    let stats = program.memory_stats();
    assert!(stats.temporaries < 1000, "the stack is copied: {stats:?}");
    let results = program.run(vec![shared(&engine, &[3f32; 4])]).unwrap();
    assert_eq!(values::<f32>(&results[1]), [3f32; 4000]);
}

#[test]
fn branches_give_their_results() {
    for (select, expected) in [(1u8, [12f32, 5.0, 7.0]), (0, [7.0, 2.0, 10.0])] {
        let module = func(|f| {
            let p = f.param(TensorType::scalar(ElementType::Pred));
            let [a, b] = [(); 2].map(|()| f.param(f32s([2])));
            let sum = binary(f, BinaryOp::Add, a, b)?;
            let none: [Type; 0] = [];
            let yes = f.region(none.clone(), |f, _| Ok(vec![binary(f, BinaryOp::Add, sum, b)?, b, sum]))?;
            let no = f.region(none, |f, _| Ok(vec![sum, a, binary(f, BinaryOp::Multiply, a, b)?]))?;
            f.with_regions(OpKind::If, [p], [yes, no])
        });
        let arguments = |e: &Engine| vec![shared(e, &[select]), shared(e, &[2f32; 2]), shared(e, &[5f32; 2])];
        let results = run(module, &arguments).unwrap();
        let got: Vec<f32> = results.iter().map(|result| values::<f32>(result)[0]).collect();
        assert_eq!(got, expected);
    }
}

#[test]
fn cases_out_of_range_take_the_last() {
    for (index, expected) in [(0, 10f32), (1, 20.0), (2, 30.0), (3, 30.0), (-1, 30.0), (i32::MIN, 30.0)] {
        let module = func(|f| {
            let i = f.param(s32());
            let x = f.param(f32s([2]));
            let branches = [10f32, 20.0, 30.0].map(|factor| {
                f.region(Vec::<Type>::new(), |f, _| {
                    let factor = f.splat(f32s([2]), factor.to_le_bytes());
                    Ok(vec![binary(f, BinaryOp::Multiply, x, factor)?])
                })
                .unwrap()
            });
            f.with_regions(OpKind::Case, [i], branches)
        });
        let results = run(module, &|e| vec![shared(e, &[index]), shared(e, &[1f32; 2])]).unwrap();
        assert_eq!(values::<f32>(&results[0]), [expected; 2], "{index}");
    }
}

#[test]
fn branches_in_loops_and_loops_in_branches() {
    let module = func(|f| {
        let x = f.param(f32s([2]));
        repeat(f, 6, &[x], |f, i, v| {
            let three = constant_s32(f, 3);
            let early = less(f, i, three)?;
            let v = v[0];
            let yes = f.region(Vec::<Type>::new(), |f, _| Ok(vec![binary(f, BinaryOp::Add, v, v)?]))?;
            let no = f.region(Vec::<Type>::new(), |f, _| {
                repeat(f, 2, &[v], |f, _, w| Ok(vec![binary(f, BinaryOp::Add, w[0], v)?]))
            })?;
            f.with_regions(OpKind::If, [early], [yes, no])
        })
    });
    let results = run(module, &|e| vec![shared(e, &[1f32; 2])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [8.0 * 27.0; 2]);
}

#[test]
fn loops_of_scalars() {
    let module = func(|f| {
        let x = f.param(s32());
        repeat(f, 1000, &[x], |f, i, v| Ok(vec![binary(f, BinaryOp::Add, v[0], i)?]))
    });
    let results = run(module, &|e| vec![shared(e, &[5i32])]).unwrap();
    assert_eq!(values::<i32>(&results[0]), [5 + 999 * 1000 / 2]);
}

#[test]
fn donated_arguments_are_carried_without_a_copy() {
    // Step by step, since the other array has another size; and piece by piece.
    for other in [Some(4000), None] {
        let mut module = func(|f| {
            let x = f.param(f32s([4096]));
            let other = other.map(|other| f.splat(f32s([other]), 2f32.to_le_bytes()));
            let inits: Vec<ValueId> = [x].into_iter().chain(other).collect();
            repeat(f, 3, &inits, |f, _, v| {
                let one = f.splat(f32s([4096]), 1f32.to_le_bytes());
                let next = binary(f, BinaryOp::Add, v[0], one)?;
                let others = v[1..].iter().map(|&other| binary(f, BinaryOp::Add, other, other));
                [Ok(next)].into_iter().chain(others.collect::<Vec<_>>()).collect()
            })
        });
        donate(&mut module, 0, 0);
        let engine = engine();
        let program = compile(&engine, module);
        let argument = donated(&engine, &[1f32; 4096]);
        let place = argument.buffer().as_ptr();
        let steps = program.steps();
        // The counter's start is all that is copied.
        assert_eq!(steps.contains("jump"), other.is_some(), "{steps}");
        assert_eq!(steps.matches("copy").count(), usize::from(other.is_some()), "{steps}");
        let results = program.run(vec![argument]).unwrap();
        assert_eq!(results[0].as_ptr(), place);
        assert_eq!(values::<f32>(&results[0]), [4f32; 4096]);
    }
}
