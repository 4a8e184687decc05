//! Computations, tuples and aliases of HLO protos, after reading.

use oxcall_hlo::{
    Attribute, CustomCallApiVersion, ElementType, Module, Op, OpKind, TensorType, Type, read_hlo_proto, verify,
};
use oxcall_proto::Writer;

use super::hlo::{F32, S32, array, computation, instruction, module, parameter, tuple};

fn read(bytes: &[u8]) -> Module {
    let module = read_hlo_proto(bytes).unwrap();
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    module
}

fn matrix() -> Writer {
    array(F32, &[2, 3])
}

/// The types of parameters and of results.
fn signature(module: &Module) -> (Vec<String>, Vec<String>) {
    let main = module.main();
    let names = |values: &[_]| values.iter().map(|&value| main.ty(value).to_string()).collect();
    (names(&main.body.params), names(&main.body.results))
}

#[test]
fn tuples_of_the_entry_are_flattened_and_aliases_follow() {
    let pair = || tuple(&[matrix(), tuple(&[array(S32, &[]), matrix()])]);
    let element = |id: i64, index: i64, shape, of: i64| {
        instruction("get-tuple-element", id, shape, &[of], |message| _ = message.int(13, index))
    };
    let entry = computation(
        1,
        9,
        &[
            parameter(1, 3, matrix()),
            parameter(0, 2, pair()),
            element(4, 1, tuple(&[array(S32, &[]), matrix()]), 2),
            element(5, 1, matrix(), 4),
            instruction("add", 6, matrix(), &[5, 3], |_| {}),
            instruction(
                "tuple",
                9,
                tuple(&[matrix(), tuple(&[array(S32, &[]), matrix()]), matrix()]),
                &[6, 4, 3],
                |_| {},
            ),
        ],
    );
    let mut bytes = module(1, &[entry]);
    let mut aliases = Writer::default();
    aliases.nested(8, |aliases| {
        // Output {1, 1} is in the memory of parameter 0 {1, 1}.
        aliases.nested(1, |entry| _ = entry.ints(1, [1, 1]).int(2, 0).ints(3, [1, 1]).int(4, 1));
    });
    aliases.nested(18, |donors| _ = donors.nested(1, |entry| _ = entry.int(1, 1)));
    bytes.extend(aliases.finish());
    let module = read(&bytes);
    let f = "tensor<2x3xf32>".to_owned();
    let i = "tensor<i32>".to_owned();
    assert_eq!(
        signature(&module),
        (vec![f.clone(), i.clone(), f.clone(), f.clone()], vec![f.clone(), i, f.clone(), f])
    );
    let attributes = &module.main().param_attributes;
    assert_eq!(attributes[2], [("tf.aliasing_output".to_owned(), Attribute::Integer(2, ElementType::S32))]);
    assert_eq!(attributes[3], [("jax.buffer_donor".to_owned(), Attribute::Bool(true))]);
    assert!(attributes[0].is_empty() && attributes[1].is_empty());
}

#[test]
fn computations_that_use_each_other_stay_small() {
    // Each calls the one before twice: 2^60 additions if they were written out.
    let scalar = || array(F32, &[]);
    let mut computations =
        vec![computation(100, 2, &[parameter(0, 1, scalar()), instruction("add", 2, scalar(), &[1, 1], |_| {})])];
    for level in 1..60 {
        let call = |id, of| instruction("call", id, scalar(), &[of], |message| _ = message.ints(38, [99 + level]));
        computations.push(computation(100 + level, 3, &[parameter(0, 1, scalar()), call(2, 1), call(3, 2)]));
    }
    let module = read(&module(159, &computations));
    assert_eq!(module.funcs.len(), 60);
    assert_eq!(module.funcs.iter().map(|func| func.body.ops.len()).sum::<usize>(), 119);
}

#[test]
fn names_are_unique_and_say_where() {
    let same = |id| {
        let mut computation = Writer::default();
        computation.bytes(1, "main").int(5, id).int(6, 1).message(2, &parameter(0, 1, array(F32, &[])));
        computation
    };
    let module = read(&module(3, &[same(1), same(2), same(3)]));
    let names: Vec<&str> = module.funcs.iter().map(|func| &func.name[..]).collect();
    assert_eq!(names, ["main.1", "main.2", "main"]);
    assert!(module.main().public);
    // A name that another has already in the form with an id.
    let named = |name: &str, id| {
        let mut computation = Writer::default();
        computation.bytes(1, name).int(5, id).int(6, 1).message(2, &parameter(0, 1, array(F32, &[])));
        computation
    };
    let module =
        read(&super::hlo::module(9, &[named("f", 1), named("f.3", 2), named("f", 3), named("", 4), named("f", 9)]));
    let names: Vec<&str> = module.funcs.iter().map(|func| &func.name[..]).collect();
    assert_eq!(names, ["f", "f.3", "f.3_", "computation.4", "main"]);
}

/// The only op of a program with one custom call.
fn custom_call(shape: Writer, more: impl FnOnce(&mut Writer)) -> Op {
    let call = instruction("custom-call", 2, shape, &[1], |message| {
        message.bytes(28, "target");
        more(message);
    });
    let module = read(&module(1, &[computation(1, 2, &[parameter(0, 1, matrix()), call])]));
    module.main().body.ops[0].clone()
}

#[test]
fn typed_custom_calls_have_a_dictionary() {
    let op = custom_call(matrix(), |message| {
        message.bytes(43, "{axis = 1 : i64, mode = \"fast\", sizes = array<i64: 1, 2>}").int(77, 4).bool(65, true);
    });
    let OpKind::CustomCall(call) = op.kind else { panic!("{op:?}") };
    assert_eq!(
        (call.api_version, call.has_side_effect, &call.target[..]),
        (CustomCallApiVersion::TypedFfi, true, "target")
    );
    let attributes = call.typed_attributes().unwrap();
    assert_eq!(attributes.get("axis"), Some(&Attribute::Integer(1, ElementType::S64)));
    assert_eq!(attributes.get("mode").and_then(Attribute::as_str), Some("fast"));
    assert!(matches!(attributes.get("sizes"), Some(Attribute::DenseArray(_))));
    let OpKind::CustomCall(call) = custom_call(matrix(), |message| _ = message.int(77, 4)).kind else { panic!() };
    assert_eq!(call.typed_attributes(), Some(&Attribute::Dictionary(Vec::new())));
}

#[test]
fn legacy_custom_calls_have_bytes_layouts_and_aliases() {
    let op = custom_call(tuple(&[matrix(), matrix()]), |message| {
        let column_major = |shape: &mut Writer| {
            shape.int(2, F32).ints(3, [2, 3]).nested(5, |layout| _ = layout.ints(1, [0, 1]));
        };
        message.bytes(43, b"\0raw\xff").int(77, 3).bool(56, true).nested(57, column_major);
        message.nested(74, |alias| _ = alias.ints(1, [1]).int(2, 0));
    });
    let OpKind::CustomCall(call) = op.kind else { panic!("{op:?}") };
    assert_eq!(call.backend_config, Attribute::String(b"\0raw\xff".to_vec()));
    assert_eq!((call.operand_layouts, call.result_layouts), (Some(vec![vec![0, 1]]), Some(vec![vec![1, 0]; 2])));
    assert_eq!((&call.aliases[0].output[..], call.aliases[0].operand), (&[1][..], 0));
}

#[test]
fn a_bitcast_keeps_elements_or_bits() {
    for (element, dims, kind) in [(F32, &[6][..], OpKind::Reshape), (S32, &[2, 3], OpKind::BitcastConvert)] {
        let bitcast = instruction("bitcast", 2, array(element, dims), &[1], |_| {});
        let module = read(&module(1, &[computation(1, 2, &[parameter(0, 1, matrix()), bitcast])]));
        assert_eq!(module.main().body.ops[0].kind, kind);
    }
}

#[test]
fn random_state_is_two_random_words() {
    const U64: i64 = 9;
    let state = instruction("rng-get-and-update-state", 1, array(U64, &[2]), &[], |message| _ = message.int(66, 1));
    let module = read(&module(1, &[computation(1, 1, &[state])]));
    let main = module.main();
    assert_eq!(*main.ty(main.body.results[0]), Type::from(TensorType::new(ElementType::U64, [2])));
    assert!(matches!(main.body.ops.last().unwrap().kind, OpKind::Rng(_)));
}

#[test]
fn a_call_that_says_so_is_a_composite() {
    let body = computation(7, 2, &[parameter(0, 1, matrix()), instruction("erf", 2, matrix(), &[1], |_| {})]);
    let call = |attributes: &str| {
        let call = instruction("call", 2, matrix(), &[1], |message| {
            message.ints(38, [7]).bool(89, true).nested(68, |entries| {
                for (key, value) in [
                    ("composite.name", "chlo.erf"),
                    ("composite.attributes", attributes),
                    ("composite.version", "1"),
                    ("other", "2"),
                ] {
                    entries.nested(1, |entry| _ = entry.bytes(1, key).bytes(2, value));
                }
            });
        });
        let module = read(&module(8, &[body.clone(), computation(8, 2, &[parameter(0, 1, matrix()), call])]));
        module.main().body.ops[0].kind.clone()
    };
    for (text, expected) in
        [("", vec![]), ("{}", vec![]), ("{k = 2}", vec![("k".to_owned(), Attribute::Integer(2, ElementType::S64))])]
    {
        let OpKind::Composite { name, version, attributes, .. } = call(text) else { panic!("{text}") };
        assert_eq!((&name[..], version, attributes), ("chlo.erf", 1, expected));
    }
}

/// A matrix whose first dimension is dynamic.
fn bounded() -> Writer {
    let mut shape = array(F32, &[2, 3]);
    shape.ints(6, [1, 0]);
    shape
}

#[test]
fn sizes_of_dimensions_are_set() {
    let number = || array(S32, &[]);
    let set = instruction("set-dimension-size", 3, bounded(), &[1, 2], |message| _ = message.ints(14, [0]));
    let params = [parameter(0, 1, bounded()), parameter(1, 2, number()), set];
    let module = read(&module(1, &[computation(1, 3, &params)]));
    let op = module.main().body.ops.last().unwrap();
    assert_eq!(op.kind, OpKind::SetDimensionSize { dim: 0 });
    for value in [op.operands[0], op.results[0]] {
        assert_eq!(module.main().ty(value).to_string(), "tensor<?x3xf32, #stablehlo.bounds<2, ?>>");
    }
}

/// A reshape to computed sizes sets those of the dimensions that are dynamic.
#[test]
fn reshapes_with_sizes() {
    let number = || array(S32, &[]);
    let reshape = instruction("dynamic-reshape", 4, bounded(), &[1, 2, 3], |_| {});
    let params = [parameter(0, 1, array(F32, &[6])), parameter(1, 2, number()), parameter(2, 3, number()), reshape];
    let module = read(&module(1, &[computation(1, 4, &params)]));
    let main = module.main();
    let kinds: Vec<&OpKind> = main.body.ops.iter().map(|op| &op.kind).collect();
    assert_eq!(kinds, [&OpKind::Reshape, &OpKind::SetDimensionSize { dim: 0 }]);
    assert_eq!(main.body.ops[1].operands[1], main.body.params[1]);
}

/// The sizes of an operand whose own are not all known come before those of the result.
#[test]
fn reshapes_of_dynamic_arrays() {
    let number = || array(S32, &[]);
    let reshape = instruction("dynamic-reshape", 4, bounded(), &[1, 2, 3], |_| {});
    let params = [parameter(0, 1, bounded()), parameter(1, 2, number()), parameter(2, 3, number()), reshape];
    let module = read(&module(1, &[computation(1, 4, &params)]));
    let main = module.main();
    let kinds: Vec<&OpKind> = main.body.ops.iter().map(|op| &op.kind).collect();
    assert_eq!(kinds, [&OpKind::Reshape, &OpKind::SetDimensionSize { dim: 0 }]);
    assert_eq!(main.ty(main.body.ops[0].results[0]).to_string(), "tensor<?x3xf32, #stablehlo.bounds<2, ?>>");
}

#[test]
fn indices_may_be_one_vector() {
    let slice = instruction("dynamic-slice", 3, array(F32, &[1, 2]), &[1, 2], |message| _ = message.ints(20, [1, 2]));
    let entry = [parameter(0, 1, matrix()), parameter(1, 2, array(S32, &[2])), slice];
    let module = read(&module(1, &[computation(1, 3, &entry)]));
    let main = module.main();
    let last = main.body.ops.last().unwrap();
    assert_eq!(last.operands.len(), 3);
    assert!(last.operands[1..].iter().all(|&index| main.ty(index).tensor().unwrap().rank() == 0));
}

/// The ops of a program with one collective, whose computation is a sum if it applies one.
fn collective(opcode: &str, shape: Writer, operands: &[i64], more: impl FnOnce(&mut Writer)) -> Vec<Op> {
    let scalar = || array(F32, &[]);
    let sum = computation(
        1,
        3,
        &[parameter(0, 1, scalar()), parameter(1, 2, scalar()), instruction("add", 3, scalar(), &[1, 2], |_| {})],
    );
    let call = instruction(opcode, 9, shape, operands, |message| {
        if opcode.contains("reduce") {
            message.ints(38, [1]);
        }
        more(message);
    });
    let module = read(&module(2, &[sum, computation(2, 9, &[parameter(0, 8, array(F32, &[2, 4])), call])]));
    module.main().body.ops.clone()
}

/// Adds replica groups, in the newer field.
fn in_groups(message: &mut Writer, groups: &[&[i64]]) {
    message.nested(87, |list| {
        groups.iter().for_each(|group| _ = list.nested(1, |each| _ = each.ints(1, group.iter().copied())));
    });
}

#[test]
fn collectives() {
    let array = |dims: &[i64]| array(F32, dims);
    let groups = |op: &Op| op.kind.collective().unwrap().clone();
    let op = &collective("all-reduce", array(&[2, 4]), &[8], |message| {
        in_groups(message.int(26, 3).bool(71, true), &[&[0, 2], &[1, 3]]);
    })[0];
    assert_eq!(groups(op).groups, [[0, 2], [1, 3]]);
    assert!(groups(op).has_channel() && groups(op).use_global_device_ids);
    // The older field, and an array of ids that is transposed.
    let older = &collective("all-reduce", array(&[2, 4]), &[8], |message| {
        message.nested(49, |group| _ = group.ints(1, [0, 1]));
    })[0];
    assert_eq!((groups(older).groups, groups(older).channel), (vec![vec![0, 1]], None));
    let iota = &collective("all-reduce", array(&[2, 4]), &[8], |message| {
        message.nested(87, |list| {
            list.nested(2, |iota| _ = iota.int(1, 2).int(2, 2).ints(3, [2, 2]).ints(4, [1, 0]));
        });
    })[0];
    assert_eq!(groups(iota).groups, [[0, 2], [1, 3]]);
    let op = &collective("all-gather", array(&[2, 8]), &[8], |message| {
        in_groups(message.ints(14, [1]), &[&[0, 1]]);
    })[0];
    assert!(matches!(op.kind, OpKind::AllGather { dim: 1, .. }));
    let op = &collective("reduce-scatter", array(&[1, 4]), &[8], |message| {
        in_groups(message.ints(14, [0]), &[&[0, 1]]);
    })[0];
    assert!(matches!(op.kind, OpKind::ReduceScatter { dim: 0, .. }));
    let op = &collective("all-to-all", array(&[2, 4]), &[8], |message| {
        in_groups(message.ints(14, [1]), &[&[0, 1]]);
    })[0];
    assert!(matches!(op.kind, OpKind::AllToAll { split_dim: 1, concat_dim: 1, split_count: 2, .. }));
    let op = &collective("collective-permute", array(&[2, 4]), &[8], |message| {
        message.nested(52, |pair| _ = pair.int(2, 1)).nested(52, |pair| _ = pair.int(1, 1));
    })[0];
    assert_eq!(groups(op).groups, [[0, 1], [1, 0]]);
    let op = &collective("collective-broadcast", array(&[2, 4]), &[8], |message| in_groups(message, &[&[1, 0]]))[0];
    assert_eq!(groups(op).groups, [[1, 0]]);
}

#[test]
fn an_all_to_all_of_a_tuple_exchanges_its_elements() {
    let shape = tuple(&[array(F32, &[2, 4]), array(F32, &[2, 4])]);
    let ops = collective("all-to-all", shape, &[8, 8], |message| in_groups(message, &[&[0, 1]]));
    let names: Vec<&str> = ops.iter().map(|op| op.kind.name().trim_start_matches("stablehlo.")).collect();
    let expected = ["reshape", "reshape", "concatenate", "all_to_all", "slice", "reshape", "slice", "reshape", "tuple"];
    assert_eq!(names[..expected.len()], expected);
    // Of one operand the result may be an array.
    let ops = collective("all-to-all", array(F32, &[2, 4]), &[8], |message| in_groups(message, &[&[0], &[1]]));
    let names: Vec<&str> = ops.iter().map(|op| op.kind.name().trim_start_matches("stablehlo.")).collect();
    assert_eq!(names, ["reshape", "concatenate", "all_to_all", "slice", "reshape"]);
}

/// Tiles along the first dimension over four devices: `{devices=[4,1]<=[4]}`.
fn rows(message: &mut Writer) {
    message.nested(40, |sharding| _ = sharding.int(1, 3).ints(3, [4, 1]).ints(9, [4]).ints(10, [0]));
}

#[test]
fn shardings_are_attributes_and_custom_calls() {
    let large = || array(F32, &[8, 4]);
    let of_root = |message: &mut Writer| {
        message.nested(40, |sharding| {
            sharding.int(1, 2).nested(5, |first| {
                // Columns over the second of two axes, copies over the first.
                first.int(1, 3).ints(3, [1, 2, 2]).ints(9, [2, 2]).ints(10, [1, 0]).ints(8, [0]);
            });
            sharding.nested(5, |second| _ = second.int(1, 0));
        });
    };
    let with =
        |opcode: &str, id, operands: &[i64], more: fn(&mut Writer)| instruction(opcode, id, large(), operands, more);
    let entry = computation(
        1,
        9,
        &[
            instruction("parameter", 2, large(), &[], |message| rows(message.int(9, 0))),
            parameter(1, 3, large()),
            with("add", 4, &[2, 3], rows),
            with("negate", 5, &[4], |message| _ = message.nested(40, |manual| _ = manual.int(1, 4))),
            with("custom-call", 6, &[5], |message| rows(message.bytes(28, "Sharding"))),
            instruction("tuple", 9, tuple(&[large(), large()]), &[6, 4], of_root),
        ],
    );
    let mut module = read(&module(1, &[entry]));
    let main = module.main();
    let text = |attributes: &[(String, Attribute)]| {
        attributes.iter().map(|(_, text)| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(text(&main.param_attributes[0]), ["{devices=[4,1]<=[4]}"]);
    assert!(main.param_attributes[1].is_empty());
    assert_eq!(text(&main.result_attributes[0]), ["{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={replicated}}"]);
    assert_eq!(text(&main.result_attributes[1]), ["{replicated}"]);
    let names: Vec<&str> = main.body.ops.iter().map(|op| op.kind.name()).collect();
    // One call is that of the sum.
    let call = "stablehlo.custom_call";
    assert_eq!(names, ["stablehlo.add", call, "stablehlo.negate", call, "stablehlo.tuple"]);
    // The rest of the compiler sees what it sees of StableHLO.
    oxcall_hlo::sharding::import_custom_calls(&mut module).unwrap();
    verify(&module).unwrap();
    let printed = module.to_string();
    assert!(printed.contains(r#"sdy.sharding_constraint %0 <@mesh, [{"axis_2", "axis_1"}, {}]>"#), "{printed}");
}

#[test]
fn shardings_that_are_none() {
    let of = |write: fn(&mut Writer)| {
        let root = instruction("negate", 3, matrix(), &[2], |message| _ = message.nested(40, write));
        read_hlo_proto(&module(1, &[computation(1, 3, &[parameter(0, 2, matrix()), root])])).map(drop)
    };
    assert!(of(|sharding| _ = sharding.int(1, 0)).is_ok());
    assert!(of(|sharding| _ = sharding.int(1, 9)).unwrap_err().to_string().contains("kind number 9"));
    assert!(of(|sharding| _ = sharding.int(1, 1)).unwrap_err().to_string().contains("must name one device, got 0"));
    let last = of(|sharding| _ = sharding.int(1, 3).ints(3, [4, 1]).ints(8, [3]));
    assert!(last.unwrap_err().to_string().contains("subgroups of the kind number 3"));
}
