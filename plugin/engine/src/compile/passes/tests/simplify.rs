use oxcall_hlo::{ComparisonDirection, ComparisonType, Literal, ScatterDims, UnaryOp};

use super::*;

/// What all passes make of one op that `build` adds, of a parameter `%0` of type `ty`.
fn of(ty: TensorType, build: impl FnOnce(&mut FuncBuilder, ValueId) -> ValueId) -> Vec<String> {
    let mut f = FuncBuilder::new("main");
    let x = f.param(ty);
    let y = build(&mut f, x);
    all_passes(f, [y]).lines().skip(1).map(str::to_owned).collect()
}

fn binary(op: BinaryOp) -> OpKind {
    OpKind::Binary(op)
}

/// A constant of the type of `x`.
fn like(f: &mut FuncBuilder, x: ValueId, element: &[u8]) -> ValueId {
    let ty = f.ty(x).tensor().unwrap().clone();
    f.splat(ty, element)
}

#[test]
fn neutral_and_absorbing_constants() {
    let minus_zero = (-0f32).to_le_bytes();
    let one = 1f32.to_le_bytes();
    let cases: [(ElementType, BinaryOp, &[u8], Option<&str>); 17] = [
        (ElementType::F32, BinaryOp::Add, &[0; 4], None),
        (ElementType::F32, BinaryOp::Add, &minus_zero, Some("return %0")),
        (ElementType::F32, BinaryOp::Subtract, &[0; 4], Some("return %0")),
        (ElementType::F32, BinaryOp::Subtract, &minus_zero, None),
        (ElementType::F32, BinaryOp::Multiply, &one, Some("return %0")),
        (ElementType::F32, BinaryOp::Multiply, &[0; 4], None),
        (ElementType::F32, BinaryOp::Divide, &one, Some("return %0")),
        (ElementType::F16, BinaryOp::Multiply, &[0, 0x3c], Some("return %0")),
        (ElementType::BF16, BinaryOp::Multiply, &[0x80, 0x3f], Some("return %0")),
        (ElementType::S32, BinaryOp::Add, &[0; 4], Some("return %0")),
        (ElementType::S32, BinaryOp::And, &[0xff; 4], Some("return %0")),
        (ElementType::S32, BinaryOp::ShiftLeft, &[0; 4], Some("return %0")),
        (ElementType::U4, BinaryOp::And, &[15], Some("return %0")),
        (ElementType::S8, BinaryOp::Multiply, &[0], Some("%1 = constant splat [0] : i8[3]")),
        (ElementType::Pred, BinaryOp::Or, &[1], Some("%1 = constant splat [1] : i1[3]")),
        (ElementType::Pred, BinaryOp::Multiply, &[1], Some("return %0")),
        (ElementType::C64, BinaryOp::Multiply, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0], None),
    ];
    for (element, op, constant, expected) in cases {
        let lines = of(TensorType::new(element, [3]), |f, x| {
            let constant = like(f, x, constant);
            f.op(binary(op), [x, constant]).unwrap()
        });
        match expected {
            Some(expected) => assert_eq!(lines[0], expected, "{op:?} {element}"),
            None => assert!(lines[1].contains(op.name().trim_start_matches("stablehlo.")), "{op:?} {element}"),
        }
    }
    // Only what commutes has a neutral constant on the left.
    let lines = of(TensorType::new(ElementType::S32, [3]), |f, x| {
        let zero = like(f, x, &[0; 4]);
        let sum = f.op(add(), [zero, x]).unwrap();
        f.op(binary(BinaryOp::Subtract), [zero, sum]).unwrap()
    });
    assert_eq!(lines[1], "%2 = subtract %1 %0 : i32[3]");
}

#[test]
fn division_by_powers_of_two() {
    for (divisor, factor) in [(8.0, Some(0.125)), (-0.5, Some(-2.0)), (3.0, None), (f32::MAX, None), (1e-40, None)] {
        let lines = of(f32s(&[3]), |f, x| {
            let divisor = like(f, x, &f32::to_le_bytes(divisor));
            f.op(binary(BinaryOp::Divide), [x, divisor]).unwrap()
        });
        let constant = factor.unwrap_or(divisor).to_le_bytes();
        assert_eq!(lines[0], format!("%1 = constant splat {constant:?} : f32[3]"));
        assert_eq!(lines[1].contains("multiply"), factor.is_some(), "{divisor}");
    }
}

#[test]
fn inverses_and_parts() {
    let unary = OpKind::Unary;
    for op in [UnaryOp::Negate, UnaryOp::Not] {
        let twice = of(TensorType::new(ElementType::S32, [3]), |f, x| {
            let y = f.op(unary(op), [x]).unwrap();
            f.op(unary(op), [y]).unwrap()
        });
        assert_eq!(twice, ["return %0"]);
    }
    let whole = of(TensorType::new(ElementType::C64, [3]), |f, z| {
        let (re, im) = (f.op(unary(UnaryOp::Real), [z]).unwrap(), f.op(unary(UnaryOp::Imag), [z]).unwrap());
        f.op(OpKind::Complex, [re, im]).unwrap()
    });
    assert_eq!(whole, ["return %0"]);
    let swapped = of(TensorType::new(ElementType::C64, [3]), |f, z| {
        let (re, im) = (f.op(unary(UnaryOp::Real), [z]).unwrap(), f.op(unary(UnaryOp::Imag), [z]).unwrap());
        f.op(OpKind::Complex, [im, re]).unwrap()
    });
    assert_eq!(swapped.len(), 4);
    let part = of(f32s(&[3]), |f, x| {
        let one = like(f, x, &1f32.to_le_bytes());
        let z = f.op(OpKind::Complex, [one, x]).unwrap();
        f.op(unary(UnaryOp::Imag), [z]).unwrap()
    });
    assert_eq!(part, ["return %0"]);
}

#[test]
fn conversions_that_lose_nothing_vanish() {
    use ElementType::*;
    for (from, through, to, expected) in [
        (F16, F32, F16, "return %0"),
        (F32, F64, BF16, "%1 = convert %0 : bf16[3]"),
        (S8, S32, F64, "%1 = convert %0 : f64[3]"),
        (U8, S16, U8, "return %0"),
        (Pred, F32, S32, "%1 = convert %0 : i32[3]"),
        (S16, F32, S32, "%1 = convert %0 : i32[3]"),
        (F32, F16, F32, "%1 = convert %0 : f16[3]"),
        (S32, F32, S32, "%1 = convert %0 : f32[3]"),
        (S8, U32, S64, "%1 = convert %0 : ui32[3]"),
        (F16, BF16, F32, "%1 = convert %0 : bf16[3]"),
        // Integers wrap, floats are clamped.
        (S8, F32, U16, "%1 = convert %0 : f32[3]"),
        (S32, F64, S16, "%1 = convert %0 : f64[3]"),
        (U8, F32, S16, "%1 = convert %0 : i16[3]"),
    ] {
        let lines = of(TensorType::new(from, [3]), |f, x| {
            let y = f.typed(OpKind::Convert, [x], TensorType::new(through, [3])).unwrap();
            f.typed(OpKind::Convert, [y], TensorType::new(to, [3])).unwrap()
        });
        assert_eq!(lines[0], expected, "{from} {through} {to}");
    }
}

#[test]
fn precision_that_a_type_has_not_is_not_reduced() {
    for (element, exponent_bits, mantissa_bits, vanishes) in [
        (ElementType::F8E5M2, 5, 10, true),
        (ElementType::F8E5M2, 4, 2, false),
        (ElementType::F8E5M2, 5, 2, true),
        (ElementType::F8E5M2FNUZ, 5, 2, false),
        (ElementType::F8E5M2FNUZ, 5, 3, true),
        (ElementType::F8E4M3FN, 4, 3, false),
        (ElementType::F8E4M3FN, 8, 3, true),
        (ElementType::F16, 5, 9, false),
        (ElementType::F32, 8, 23, true),
    ] {
        let lines = of(TensorType::new(element, [3]), |f, x| {
            f.op(OpKind::ReducePrecision { exponent_bits, mantissa_bits }, [x]).unwrap()
        });
        assert_eq!(lines[0] == "return %0", vanishes, "{element} to e{exponent_bits}m{mantissa_bits}");
    }
}

#[test]
fn comparisons_and_selections() {
    let compare = |direction| OpKind::Compare(direction, ComparisonType::NoType);
    let own =
        of(TensorType::new(ElementType::S32, [3]), |f, x| f.op(compare(ComparisonDirection::Le), [x, x]).unwrap());
    assert_eq!(own[0], "%1 = constant splat [1] : i1[3]");
    let own = of(f32s(&[3]), |f, x| f.op(compare(ComparisonDirection::Le), [x, x]).unwrap());
    assert_eq!(own[0], "%1 = compare %0 %0 : i1[3]");
    let chosen = of(f32s(&[3]), |f, x| {
        let p = f.splat(scalar(ElementType::Pred), [0]);
        let zero = like(f, x, &[0; 4]);
        f.op(OpKind::Select, [p, zero, x]).unwrap()
    });
    assert_eq!(chosen, ["return %0"]);
    let negated = of(TensorType::new(ElementType::Pred, [3]), |f, p| {
        let not = f.op(OpKind::Unary(UnaryOp::Not), [p]).unwrap();
        let (a, b) = (f.param(f32s(&[3])), f.param(f32s(&[3])));
        f.op(OpKind::Select, [not, a, b]).unwrap()
    });
    assert_eq!(negated[0], "%3 = select %0 %2 %1 : f32[3]");
}

#[test]
fn divisions_that_are_rounded_down() {
    use ComparisonDirection::{Lt, Ne};
    let compare = |direction| OpKind::Compare(direction, ComparisonType::NoType);
    let floored = |divisor: i32, is_quotient: bool| {
        of(TensorType::new(ElementType::S32, [3]), |f, x| {
            let [zero, one, by] = [0, 1, divisor].map(|number: i32| like(f, x, &number.to_le_bytes()));
            let rest = f.op(binary(BinaryOp::Remainder), [x, by]).unwrap();
            let is_inexact = f.op(compare(Ne), [rest, zero]).unwrap();
            let (differs, moved, value) = if is_quotient {
                let quotient = f.op(binary(BinaryOp::Divide), [x, by]).unwrap();
                let sign = f.op(OpKind::Unary(UnaryOp::Sign), [x]).unwrap();
                let lower = f.op(binary(BinaryOp::Subtract), [quotient, one]).unwrap();
                (f.op(compare(Ne), [sign, one]).unwrap(), lower, quotient)
            } else {
                let upper = f.op(add(), [rest, by]).unwrap();
                (f.op(compare(Lt), [rest, zero]).unwrap(), upper, rest)
            };
            let moves = f.op(binary(BinaryOp::And), [differs, is_inexact]).unwrap();
            f.op(OpKind::Select, [moves, moved, value]).unwrap()
        })
    };
    let names = |lines: &[String]| -> Vec<String> {
        let op = |line: &String| line.split(' ').nth(2).unwrap().to_owned();
        lines.iter().filter(|line| line.contains(" = ") && !line.contains("constant")).map(op).collect()
    };
    assert_eq!(names(&floored(7, false)), ["remainder", "add", "compare", "select"]);
    assert_eq!(names(&floored(7, true)), ["remainder", "divide", "subtract", "compare", "select"]);
    assert_eq!(names(&floored(8, false)), ["and"]);
    assert_eq!(names(&floored(8, true)), ["shift_right_arithmetic"]);
}

#[test]
fn shapes_compose() {
    let reshape = |f: &mut FuncBuilder, x, dims: &[usize]| f.typed(OpKind::Reshape, [x], f32s(dims)).unwrap();
    let broadcast = |f: &mut FuncBuilder, x, dims: &[usize], to: &[usize]| {
        f.typed(OpKind::BroadcastInDim { dims: dims.to_vec() }, [x], f32s(to)).unwrap()
    };
    let transpose = |f: &mut FuncBuilder, x, permutation: &[usize]| {
        f.op(OpKind::Transpose { permutation: permutation.to_vec() }, [x]).unwrap()
    };
    type Build<'b> = &'b dyn Fn(&mut FuncBuilder, ValueId) -> ValueId;
    let cases: [(&[usize], Build<'_>, &[&str]); 9] = [
        (
            &[2, 3],
            &|f, x| {
                let y = reshape(f, x, &[6]);
                reshape(f, y, &[2, 3])
            },
            &["return %0"],
        ),
        (
            &[2, 3],
            &|f, x| {
                let y = reshape(f, x, &[6]);
                reshape(f, y, &[3, 2])
            },
            &["%1 = reshape %0 : f32[3,2]"],
        ),
        (
            &[2, 3],
            &|f, x| {
                let y = transpose(f, x, &[1, 0]);
                transpose(f, y, &[1, 0])
            },
            &["return %0"],
        ),
        (&[2, 1, 3], &|f, x| transpose(f, x, &[1, 0, 2]), &["%1 = reshape %0 : f32[1,2,3]"]),
        (
            &[3],
            &|f, x| {
                let y = broadcast(f, x, &[1], &[1, 3]);
                broadcast(f, y, &[0, 1], &[2, 3])
            },
            &["%1 = broadcast_in_dim %0 : f32[2,3]"],
        ),
        (
            &[2],
            &|f, x| {
                let y = reshape(f, x, &[2, 1]);
                broadcast(f, y, &[0, 1], &[2, 3])
            },
            &["%1 = broadcast_in_dim %0 : f32[2,3]"],
        ),
        (
            &[2],
            &|f, x| {
                let y = broadcast(f, x, &[0], &[2, 3]);
                transpose(f, y, &[1, 0])
            },
            &["%1 = broadcast_in_dim %0 : f32[3,2]"],
        ),
        (
            &[],
            &|f, x| {
                let y = broadcast(f, x, &[], &[6]);
                reshape(f, y, &[2, 3])
            },
            &["%1 = broadcast_in_dim %0 : f32[2,3]"],
        ),
        (
            &[2, 3, 1],
            &|f, x| {
                let y = f.op(OpKind::Reverse { dims: vec![0, 1] }, [x]).unwrap();
                f.op(OpKind::Reverse { dims: vec![1, 0, 2] }, [y]).unwrap()
            },
            &["return %0"],
        ),
    ];
    for (dims, build, expected) in cases {
        let lines = of(f32s(dims), build);
        assert_eq!(lines[..expected.len()], *expected);
    }
}

#[test]
fn broadcasts_keep_their_dimensions() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[2]));
    let y = f.typed(OpKind::BroadcastInDim { dims: vec![1] }, [x], f32s(&[3, 2])).unwrap();
    let y = f.op(OpKind::Transpose { permutation: vec![1, 0] }, [y]).unwrap();
    let y = f.typed(OpKind::BroadcastInDim { dims: vec![2, 0] }, [y], f32s(&[3, 4, 2])).unwrap();
    let module = crate::compile::passes::run(module(vec![f.finish([y])])).unwrap();
    assert_eq!(module.main().body.ops[0].kind, OpKind::BroadcastInDim { dims: vec![2] });
}

#[test]
fn slices_compose() {
    let slice = |start: usize, limit: usize, stride: usize| OpKind::Slice {
        start: vec![start],
        limit: vec![limit],
        strides: vec![stride],
    };
    let kind_of = |build: &dyn Fn(&mut FuncBuilder, ValueId) -> ValueId| {
        let mut f = FuncBuilder::new("main");
        let x = f.param(f32s(&[20]));
        let y = build(&mut f, x);
        let module = crate::compile::passes::run(module(vec![f.finish([y])])).unwrap();
        verify(&module).unwrap();
        module.main().body.ops.iter().map(|op| op.kind.clone()).collect::<Vec<_>>()
    };
    let twice = |first: OpKind, second: OpKind| {
        kind_of(&move |f, x| {
            let y = f.op(first.clone(), [x]).unwrap();
            f.op(second.clone(), [y]).unwrap()
        })
    };
    assert_eq!(twice(slice(1, 19, 3), slice(1, 6, 2)), [slice(4, 17, 6)]);
    assert_eq!(twice(slice(1, 19, 3), slice(2, 2, 1)), [slice(7, 7, 3)]);
    assert_eq!(twice(OpKind::Concatenate { dim: 0 }, slice(3, 9, 2)), [slice(3, 9, 2)]);
    let second_part = |f: &mut FuncBuilder, x: ValueId| {
        let y = f.op(OpKind::Concatenate { dim: 0 }, [x, x]).unwrap();
        f.op(slice(23, 29, 2), [y]).unwrap()
    };
    assert_eq!(kind_of(&second_part), [slice(3, 9, 2)]);
    // Bounds of dynamic slices are clamped.
    for (index, start) in [(3i32, 3), (-4, 0), (99, 16)] {
        let dynamic = |f: &mut FuncBuilder, x: ValueId| {
            let index = f.splat(scalar(ElementType::S32), index.to_le_bytes());
            f.op(OpKind::DynamicSlice { sizes: vec![4] }, [x, index]).unwrap()
        };
        assert_eq!(kind_of(&dynamic), [slice(start, start + 4, 1)]);
    }
    let whole = |f: &mut FuncBuilder, x: ValueId| {
        let index = f.param(scalar(ElementType::U8));
        let y = f.op(OpKind::DynamicSlice { sizes: vec![20] }, [x, index]).unwrap();
        let update = f.param(f32s(&[20]));
        let z = f.op(OpKind::DynamicUpdateSlice, [y, update, index]).unwrap();
        let none = f.param(f32s(&[0]));
        f.op(OpKind::DynamicUpdateSlice, [z, none, index]).unwrap()
    };
    assert_eq!(kind_of(&whole), []);
    let cut = |f: &mut FuncBuilder, x: ValueId| {
        let zero = f32_constant(f, 0.0);
        f.op(OpKind::Pad { low: vec![-2], high: vec![-3], interior: vec![0] }, [x, zero]).unwrap()
    };
    assert_eq!(kind_of(&cut), [slice(2, 17, 1)]);
}

#[test]
fn splats_stay_splats() {
    let mut f = FuncBuilder::new("main");
    let c = f.constant(Literal::splat(f32s(&[4, 4]), 2f32.to_le_bytes()));
    let two = f32_constant(&mut f, 2.0);
    let y = f.op(OpKind::Transpose { permutation: vec![1, 0] }, [c]).unwrap();
    let y = f.op(OpKind::Concatenate { dim: 0 }, [y, c]).unwrap();
    let y = f.op(OpKind::Pad { low: vec![1, 0], high: vec![0, 1], interior: vec![0, 2] }, [y, two]).unwrap();
    let y = f.op(OpKind::Slice { start: vec![1, 2], limit: vec![9, 10], strides: vec![2, 1] }, [y]).unwrap();
    let y = f.op(OpKind::Reverse { dims: vec![0] }, [y]).unwrap();
    let y = f.typed(OpKind::Reshape, [y], f32s(&[32])).unwrap();
    assert_eq!(all_passes(f, [y]), format!("%0 = constant splat {:?} : f32[32]\nreturn %0\n", 2f32.to_le_bytes()));
}

#[test]
fn constants_choose_branches() {
    for (index, chosen) in [(0i32, "sine"), (1, "cosine"), (2, "tan"), (7, "tan"), (-1, "tan")] {
        let lines = of(f32s(&[]), |f, x| {
            let index = f.splat(scalar(ElementType::S32), index.to_le_bytes());
            let branches = [UnaryOp::Sine, UnaryOp::Cosine, UnaryOp::Tan]
                .map(|op| f.region([] as [Type; 0], |f, _| Ok(vec![f.op(OpKind::Unary(op), [x])?])).unwrap());
            f.with_regions(OpKind::Case, [index], branches).unwrap()[0]
        });
        assert_eq!(lines, [format!("%1 = {chosen} %0 : f32[]"), "return %1".into()]);
    }
    for (pred, chosen) in [(1u8, "sine"), (0, "cosine")] {
        let lines = of(f32s(&[]), |f, x| {
            let pred = f.splat(scalar(ElementType::Pred), [pred]);
            let branches = [UnaryOp::Sine, UnaryOp::Cosine]
                .map(|op| f.region([] as [Type; 0], |f, _| Ok(vec![f.op(OpKind::Unary(op), [x])?])).unwrap());
            f.with_regions(OpKind::If, [pred], branches).unwrap()[0]
        });
        assert_eq!(lines[0], format!("%1 = {chosen} %0 : f32[]"));
    }
    let lines = of(f32s(&[]), |f, x| {
        let cond = f.region([f32s(&[])], |f, _| Ok(vec![f.splat(scalar(ElementType::Pred), [0])])).unwrap();
        let body = f.region([f32s(&[])], |f, params| Ok(vec![f.op(add(), [params[0], params[0]])?])).unwrap();
        f.with_regions(OpKind::While, [x], [cond, body]).unwrap()[0]
    });
    assert_eq!(lines, ["return %0"]);
}

#[test]
fn barriers_hold_until_the_end() {
    let lines = of(f32s(&[3]), |f, x| {
        let sine = OpKind::Unary(UnaryOp::Sine);
        let y = f.op(sine.clone(), [x]).unwrap();
        let held = f.op(OpKind::OptimizationBarrier, [x]).unwrap();
        let z = f.op(sine, [held]).unwrap();
        f.op(add(), [y, z]).unwrap()
    });
    assert_eq!(lines[..3], ["%1 = sine %0 : f32[3]", "%2 = sine %0 : f32[3]", "%3 = add %1 %2 : f32[3]"]);
}

#[test]
fn scatters_of_a_window_in_bounds_are_updates() {
    let scattered = |indices: [i32; 2], takes_update: bool| {
        let mut f = FuncBuilder::new("main");
        let [x, update] = [f.param(f32s(&[20, 30])), f.param(f32s(&[28]))];
        let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        let indices = f.constant(Literal::dense(TensorType::new(ElementType::S32, [2]), bytes));
        let body = f.region([scalar(ElementType::F32), scalar(ElementType::F32)], |f, params| {
            Ok(vec![if takes_update { params[1] } else { f.op(add(), params)? }])
        });
        let dims = ScatterDims {
            update_window_dims: vec![0],
            inserted_window_dims: vec![0],
            input_batching_dims: Vec::new(),
            scatter_indices_batching_dims: Vec::new(),
            scatter_dims_to_operand_dims: vec![1, 0],
            index_vector_dim: 0,
        };
        let kind = OpKind::Scatter { dims, indices_are_sorted: false, unique_indices: false };
        let y = f.with_regions(kind, [x, indices, update], [body.unwrap()]).unwrap()[0];
        all_passes(f, [y])
    };
    // The first index is that of columns.
    let updated = scattered([2, 19], true);
    let ops = [
        "(%0 %1) : f32[20,30] f32[28]",
        "%2 = reshape %1 : f32[1,28]",
        "%3 = constant splat [19, 0, 0, 0, 0, 0, 0, 0] : i64[]",
        "%4 = constant splat [2, 0, 0, 0, 0, 0, 0, 0] : i64[]",
        "%5 = dynamic_update_slice %0 %2 %3 %4 : f32[20,30]",
        "return %5",
    ];
    assert_eq!(updated.lines().collect::<Vec<_>>(), ops);
    // A sum is one of a slice.
    let summed = scattered([2, 19], false);
    let summed: Vec<&str> = summed.lines().collect();
    assert_eq!(summed[1], "%2 = reshape %1 : f32[1,28]");
    assert_eq!(summed[2], "%3 = slice %0 : f32[1,28]");
    assert_eq!(summed[3], "%4 = add %3 %2 : f32[1,28]");
    assert!(summed[6].starts_with("%7 = dynamic_update_slice %0 %4 "), "{summed:?}");
    // A window that is out of bounds is left out.
    for (indices, takes_update) in [([3, 19], true), ([2, 20], true), ([-1, 0], true), ([-1, 0], false)] {
        assert!(scattered(indices, takes_update).contains("scatter"), "{indices:?}");
    }
}

/// The body of a scatter may compute wider elements than those of the operands.
#[test]
fn promoted_scatters_combine_elements_of_the_result() {
    for index in [1i32, 30] {
        let mut f = FuncBuilder::new("main");
        let half = |dims: &[usize]| TensorType::new(ElementType::BF16, dims.iter().copied());
        let [x, update] = [f.param(half(&[20])), f.param(half(&[4]))];
        let indices = TensorType::new(ElementType::S32, [1]);
        let indices = f.constant(Literal::dense(indices, index.to_le_bytes()));
        let body = combiner(&mut f, BinaryOp::Add, ElementType::F32);
        let dims = ScatterDims {
            update_window_dims: vec![0],
            inserted_window_dims: Vec::new(),
            input_batching_dims: Vec::new(),
            scatter_indices_batching_dims: Vec::new(),
            scatter_dims_to_operand_dims: vec![0],
            index_vector_dim: 0,
        };
        let kind = OpKind::Scatter { dims, indices_are_sorted: false, unique_indices: false };
        let y = f.with_regions(kind, [x, indices, update], [body]).unwrap()[0];
        let text = all_passes(f, [y]);
        assert_eq!(text.matches("= convert").count(), 2, "{text}");
        assert_eq!(text.contains("scatter"), index == 30, "{text}");
    }
}

/// An op on positions of `[3, 500]` and a constant, for a kernel that reads `u32`.
fn of_positions(build: impl FnOnce(&mut FuncBuilder, [ValueId; 2]) -> ValueId) -> Vec<String> {
    of(TensorType::new(ElementType::U32, [3, 500]), |f, x| {
        let ty = TensorType::new(ElementType::U64, [3, 500]);
        let positions = [0, 1].map(|dim| f.typed(OpKind::Iota { dim }, [], ty.clone()).unwrap());
        let found = build(f, positions);
        let found = f.typed(OpKind::Convert, [found], TensorType::new(ElementType::U32, [3, 500])).unwrap();
        f.op(binary(BinaryOp::Xor), [x, found]).unwrap()
    })
}

#[test]
fn positions_are_computed_in_as_many_bits_as_are_used() {
    let number = |f: &mut FuncBuilder, x: ValueId, number: u64| like(f, x, &number.to_le_bytes());
    // The counter of an element, as JAX computes it.
    let counter = |f: &mut FuncBuilder, [row, column]: [ValueId; 2]| {
        let len = number(f, row, 500);
        let rows = f.op(binary(BinaryOp::Multiply), [len, row]).unwrap();
        f.op(add(), [rows, column]).unwrap()
    };
    let lines = of_positions(counter);
    assert!(lines.iter().all(|line| line.ends_with("ui32[3,500]") || line.starts_with("return")), "{lines:#?}");
    let upper = |by: u64| {
        of_positions(|f, positions| {
            let (counter, by) = (counter(f, positions), number(f, positions[0], by));
            f.op(binary(BinaryOp::ShiftRightLogical), [counter, by]).unwrap()
        })
    };
    // 1499 is less than 2^11, and not than 2^10.
    assert_eq!((upper(32), upper(11)), (vec!["return %0".to_owned()], vec!["return %0".to_owned()]));
    assert!(upper(10).iter().any(|line| line.contains("shift_right_logical")));
    let modulo = |by: u64, op: BinaryOp| {
        of_positions(|f, positions| {
            let by = number(f, positions[1], by);
            f.op(binary(op), [positions[1], by]).unwrap()
        })
    };
    assert_eq!(modulo(500, BinaryOp::Divide), ["return %0"]);
    assert!(modulo(500, BinaryOp::Remainder).iter().all(|line| !line.contains("remainder")));
    assert!(modulo(499, BinaryOp::Remainder).iter().any(|line| line.contains("remainder")));
}

#[test]
fn wide_numbers_that_are_not_positions_stay_wide() {
    let ty = |element| TensorType::new(element, [300]);
    let lines = of(ty(ElementType::U64), |f, x| {
        let position = f.typed(OpKind::Iota { dim: 0 }, [], ty(ElementType::U64)).unwrap();
        let sum = f.op(add(), [x, position]).unwrap();
        let by = like(f, x, &32_u64.to_le_bytes());
        let upper = f.op(binary(BinaryOp::ShiftRightLogical), [sum, by]).unwrap();
        f.typed(OpKind::Convert, [upper], ty(ElementType::U32)).unwrap()
    });
    assert!(lines.iter().any(|line| line.contains("shift_right_logical")), "{lines:#?}");
    // 299 does not fit eight bits: the number of an element would be defined by the conversion alone.
    let lines = of(ty(ElementType::U64), |f, _| {
        let position = f.typed(OpKind::Iota { dim: 0 }, [], ty(ElementType::U64)).unwrap();
        f.typed(OpKind::Convert, [position], ty(ElementType::U8)).unwrap()
    });
    assert!(lines.iter().all(|line| !line.starts_with("%1 = iota") || line.ends_with("ui64[300]")), "{lines:#?}");
}

#[test]
fn a_constant_joins_the_number_that_is_added_to_all_elements() {
    let sum = |element: ElementType, from: &[usize]| {
        of(TensorType::new(element, from.iter().copied()), |f, x| {
            let array = f.typed(OpKind::Iota { dim: 0 }, [], TensorType::new(element, [300])).unwrap();
            let ty = TensorType::new(element, [300]);
            let dims = (0..from.len()).collect();
            let x = f.typed(OpKind::BroadcastInDim { dims }, [x], ty).unwrap();
            let (inner, five) = (f.op(add(), [array, x]).unwrap(), like(f, array, &[5, 0, 0, 0]));
            f.op(add(), [inner, five]).unwrap()
        })
    };
    let sums = |lines: Vec<String>| lines.iter().filter(|line| line.contains("add") && line.contains("[300]")).count();
    assert_eq!(sums(sum(ElementType::S32, &[])), 1);
    // Float sums depend on their order, and an array is not a single number.
    assert_eq!(sums(sum(ElementType::F32, &[])), 2);
    assert_eq!(sums(sum(ElementType::S32, &[300])), 2);
}
