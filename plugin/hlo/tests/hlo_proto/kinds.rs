//! Kinds of ops, by the numbers in the fields of instructions.

use oxcall_hlo::ElementType::{self, BF16, F8E5M2, F16, F32 as SINGLE, F64};
use oxcall_hlo::{DotAlgorithm, Error, ErrorKind, OpKind, Precision, RngDistribution, read_hlo_proto};
use oxcall_proto::Writer;

use super::hlo::{F32, S32, array, computation, instruction, module, parameter};

fn matrix() -> Writer {
    array(F32, &[2, 3])
}

/// What the last of these instructions becomes. A parameter, `f32[2,3]`, has the id 1, the last instruction 9.
fn kind_of(instructions: &[Writer]) -> Result<OpKind, Error> {
    let entry = [&[parameter(0, 1, matrix())][..], instructions].concat();
    let module = read_hlo_proto(&module(1, &[computation(1, 9, &entry)]))?;
    Ok(module.main().body.ops.last().unwrap().kind.clone())
}

fn one(opcode: &str, operands: &[i64], more: impl FnOnce(&mut Writer)) -> Result<OpKind, Error> {
    kind_of(&[instruction(opcode, 9, matrix(), operands, more)])
}

#[track_caller]
fn refused(result: Result<OpKind, Error>, kind: ErrorKind, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

/// A dot product with this algorithm and these precisions.
fn dot(algorithm: i64, precisions: &[i64]) -> Result<OpKind, Error> {
    one("dot", &[1, 1], |message| {
        message.nested(51, |config| _ = config.int(2, algorithm).ints(1, precisions.iter().copied()));
    })
}

/// The numbers are those of `PrecisionConfig.Algorithm`.
#[test]
fn algorithms_of_dot_products() {
    let algorithm = |number| match dot(number, &[])? {
        OpKind::DotGeneral(dims) => Ok::<_, Error>(dims.algorithm),
        kind => panic!("{kind:?}"),
    };
    assert_eq!(algorithm(0).unwrap(), None);
    let expected: [(i64, Option<ElementType>, ElementType, i64); 13] = [
        (1, Some(F8E5M2), SINGLE, 1),
        (2, Some(F8E5M2), SINGLE, 1),
        (3, Some(F16), F16, 1),
        (4, Some(F16), SINGLE, 1),
        (5, Some(BF16), BF16, 1),
        (6, Some(BF16), SINGLE, 1),
        (7, Some(BF16), SINGLE, 3),
        (8, Some(BF16), SINGLE, 6),
        (9, None, SINGLE, 1),
        (10, None, SINGLE, 3),
        (11, Some(SINGLE), SINGLE, 1),
        (12, Some(F64), F64, 1),
        (13, Some(BF16), SINGLE, 9),
    ];
    for (number, operands, accumulation, products) in expected {
        let expected = DotAlgorithm {
            lhs_precision: operands,
            rhs_precision: operands,
            accumulation: Some(accumulation),
            lhs_components: 1,
            rhs_components: 1,
            primitive_operations: products,
            allow_imprecise_accumulation: number == 2,
        };
        assert_eq!(algorithm(number).unwrap(), Some(expected), "{number}");
    }
    refused(dot(14, &[]), ErrorKind::Unsupported, "the algorithm number 14 of a dot product is not supported");
}

#[test]
fn precisions_of_dot_products() {
    let precisions = |numbers: &[i64]| match dot(0, numbers)? {
        OpKind::DotGeneral(dims) => Ok::<_, Error>(dims.precision),
        kind => panic!("{kind:?}"),
    };
    assert_eq!(precisions(&[0, 0]).unwrap(), []);
    assert_eq!(precisions(&[0, 1]).unwrap(), [Precision::Default, Precision::High]);
    assert_eq!(precisions(&[2, 0]).unwrap(), [Precision::Highest, Precision::Default]);
    refused(dot(0, &[0, 3]), ErrorKind::Invalid, "unknown precision number 3");
}

#[test]
fn random_numbers_have_a_distribution() {
    let rng = |number| one("rng", &[1, 1], |message| _ = message.int(23, number));
    assert_eq!(rng(1).unwrap(), OpKind::Rng(RngDistribution::Uniform));
    assert_eq!(rng(2).unwrap(), OpKind::Rng(RngDistribution::Normal));
    refused(rng(3), ErrorKind::Invalid, "unknown distribution number 3");
    let state = instruction("rng-get-and-update-state", 9, array(S32, &[2]), &[], |_| {});
    refused(kind_of(&[state]), ErrorKind::Invalid, "the state must be of ui64, got tensor<2xi32>");
}

#[test]
fn windows_that_some_instructions_cannot_have() {
    let window = |number, value| {
        move |message: &mut Writer| {
            message.nested(15, |window| {
                window.nested(1, |dim| {
                    dim.int(1, 1).int(2, 1).int(5, 1).int(6, 1).int(number, value);
                });
            });
        }
    };
    let reversed = "the window must not be reversed, except that of a convolution";
    refused(one("reduce-window", &[1, 1], window(7, 1)), ErrorKind::Invalid, reversed);
    refused(one("select-and-scatter", &[1, 1, 1], window(7, 1)), ErrorKind::Invalid, reversed);
    for dilation in [5, 6] {
        let select = one("select-and-scatter", &[1, 1, 1], window(dilation, 2));
        refused(select, ErrorKind::Invalid, "the window must not be dilated");
        // Of others it may be.
        refused(
            one("reduce-window", &[1, 1], window(dilation, 2)),
            ErrorKind::Invalid,
            "expected 1 computations, got 0",
        );
    }
    let select = one("select-and-scatter", &[1, 1], window(5, 1));
    refused(select, ErrorKind::Invalid, "expected at least 3 operands, got 2");
    refused(one("sort", &[], |_| {}), ErrorKind::Invalid, "expected at least 1 operands, got 0");
    let transpose = one("concatenate", &[1], |message| _ = message.ints(14, [0, 1]));
    refused(transpose, ErrorKind::Invalid, "expected one dimension, got [0, 1]");
}

/// The constraint of an op whose value is split so.
fn constraint(write: impl Fn(&mut Writer)) -> Result<OpKind, Error> {
    one("negate", &[1], |message| _ = message.nested(40, write))
}

#[test]
fn shardings_are_written_as_in_mlir() {
    let text = |write: &dyn Fn(&mut Writer)| match constraint(write).unwrap() {
        OpKind::CustomCall(call) => match &call.attributes[..] {
            [(name, value)] if name == "mhlo.sharding" => value.as_str().unwrap().to_owned(),
            attributes => panic!("{attributes:?}"),
        },
        kind => panic!("{kind:?}"),
    };
    // Devices one by one, then as a rule, with and without an order.
    assert_eq!(text(&|all| _ = all.int(1, 3).ints(3, [2, 1]).ints(4, [1, 0])), "{devices=[2,1]1,0}");
    assert_eq!(text(&|all| _ = all.int(1, 3).ints(3, [2, 1]).ints(9, [2]).ints(10, [0])), "{devices=[2,1]<=[2]}");
    let transposed = |all: &mut Writer| _ = all.int(1, 3).ints(3, [2, 2]).ints(9, [2, 2]).ints(10, [1, 0]);
    assert_eq!(text(&transposed), "{devices=[2,2]<=[2,2]T(1,0)}");
    let replicated = |all: &mut Writer| _ = all.int(1, 3).ints(3, [2, 1, 2]).ints(4, [0, 1, 2, 3]).bool(6, true);
    assert_eq!(text(&replicated), "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}");
    let mixed = |all: &mut Writer| {
        all.int(1, 3).ints(3, [1, 1, 2, 1, 2]).ints(9, [4]).ints(10, [0]).ints(8, [0, 4, 6]);
    };
    assert_eq!(text(&mixed), "{devices=[1,1,2,1,2]<=[4] last_tile_dims={replicated, manual, unreduced}}");
    assert_eq!(text(&|all| _ = all.int(1, 0)), "{replicated}");
    // These ask for nothing that the compiler does.
    for write in [
        |all: &mut Writer| _ = all.int(1, 1).ints(4, [0]),
        |all: &mut Writer| _ = all.int(1, 4),
        |all: &mut Writer| _ = all.int(1, 5),
    ] {
        assert!(matches!(constraint(write).unwrap(), OpKind::Unary(_)));
    }
    refused(constraint(|all| _ = all.int(1, 9)), ErrorKind::Unsupported, "shardings of the kind number 9");
}

/// A custom call says itself how its value is split, and a tuple in braces.
#[test]
fn shardings_of_tuples() {
    let call = |levels: usize| {
        one("custom-call", &[1], |message| {
            message.bytes(28, "target").nested(40, |all| nest(all, levels));
        })
    };
    fn nest(sharding: &mut Writer, levels: usize) {
        if levels == 0 {
            sharding.int(1, 1).ints(4, [3]);
            return;
        }
        sharding.int(1, 2).nested(5, |inner| _ = inner.int(1, 4)).nested(5, |inner| nest(inner, levels - 1));
    }
    let OpKind::CustomCall(kind) = call(2).unwrap() else { panic!() };
    assert_eq!(kind.attributes[0].1.as_str(), Some("{{manual}, {{manual}, {maximal device=3}}}"));
    assert!(call(8).is_ok());
    refused(call(9), ErrorKind::Invalid, "shardings of tuples are nested more than 8 deep");
}

#[test]
fn groups_that_do_not_fit() {
    let gather = |groups: i64, width: i64, dims: &'static [i64], order: &'static [i64]| {
        one("all-gather", &[1], |message| {
            message.ints(14, [0]).nested(87, |list| {
                list.nested(2, |iota| {
                    iota.int(1, groups).int(2, width).ints(3, dims.iter().copied()).ints(4, order.iter().copied());
                });
            });
        })
    };
    let OpKind::AllGather { groups, .. } = gather(2, 3, &[3, 2], &[1, 0]).unwrap() else { panic!() };
    assert_eq!(groups.groups, [[0, 2, 4], [1, 3, 5]]);
    let OpKind::AllGather { groups, .. } = gather(1 << 16, 1, &[1 << 16], &[0]).unwrap() else { panic!() };
    assert_eq!(groups.groups.len(), 1 << 16);
    for (groups, width, dims, order) in [
        (2, 2, &[3, 2][..], &[1, 0][..]),
        (2, 3, &[3, 2], &[1, 1]),
        (2, 3, &[3, 2], &[0]),
        (-2, -3, &[3, 2], &[1, 0]),
        (0, 0, &[0], &[0]),
        ((1 << 16) + 1, 1, &[(1 << 16) + 1], &[0]),
    ] {
        let words = format!("{groups} groups of {width} devices do not fit dimensions {dims:?} in the order {order:?}");
        refused(gather(groups, width, dims, order), ErrorKind::Invalid, &words);
    }
}

#[test]
fn literals_that_are_not_read() {
    let constant = |write: &dyn Fn(&mut Writer)| {
        kind_of(&[instruction("constant", 9, array(F32, &[2]), &[], |message| _ = message.nested(8, write))])
    };
    let tuple = constant(&|literal| _ = literal.nested(10, |_| {}));
    refused(tuple, ErrorKind::Unsupported, "constants that are tuples are not supported");
    let tiled = constant(&|literal| {
        literal.nested(1, |shape| {
            shape.int(2, S32).ints(3, [2]).nested(5, |layout| _ = layout.ints(1, [0]).nested(6, |_| {}));
        });
        literal.ints(4, [1, 2]);
    });
    refused(tiled, ErrorKind::Unsupported, "tiled layouts are not supported");
}

/// Writers may give each element a field of its own.
#[test]
fn literals_of_one_element_a_field() {
    let constant = instruction("constant", 9, array(F32, &[2]), &[], |message| {
        message.nested(8, |literal| _ = literal.message(1, &array(F32, &[2])).float(8, 1.0).float(8, -2.0));
    });
    let OpKind::Constant(literal) = kind_of(&[constant]).unwrap() else { panic!() };
    assert_eq!(literal.to_bytes()[..], [1f32, -2.0].map(f32::to_le_bytes).concat());
    const F64_NUMBER: i64 = 12;
    let mut doubles = Writer::default();
    doubles.message(1, &array(F64_NUMBER, &[2]));
    let mut doubles = doubles.finish();
    for x in [1.5f64, -2.0] {
        // Field 9, of 64 bits.
        doubles.push(9 << 3 | 1);
        doubles.extend(x.to_le_bytes());
    }
    let constant = instruction("constant", 9, array(F64_NUMBER, &[2]), &[], |message| _ = message.bytes(8, &doubles));
    let OpKind::Constant(literal) = kind_of(&[constant]).unwrap() else { panic!() };
    assert_eq!(literal.to_bytes()[..], [1.5f64, -2.0].map(f64::to_le_bytes).concat());
}

#[test]
fn batch_norms() {
    // A matrix of two rows and three columns.
    for (feature, size) in [(0, 2), (1, 3)] {
        let numbers = |id| {
            instruction("constant", id, array(F32, &[size]), &[], |message| {
                message.nested(8, |literal| {
                    literal.message(1, &array(F32, &[size]));
                    (0..size).for_each(|x| _ = literal.float(8, x as f32));
                });
            })
        };
        let norm = instruction("batch-norm-inference", 9, matrix(), &[1, 2, 3, 4, 5], |message| {
            message.float(24, 0.25).int(25, feature);
        });
        match kind_of(&[numbers(2), numbers(3), numbers(4), numbers(5), norm]).unwrap() {
            OpKind::BatchNormInference { epsilon, feature: read } => {
                assert_eq!((epsilon, read as i64), (0.25, feature));
            }
            kind => panic!("{kind:?}"),
        }
    }
}
