//! The table, entry by entry.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use oxcall_proto::Writer;

use super::{BinaryOp, ComparisonDirection, ComparisonType, OpDef, UnaryOp, all, find, legacy, table};
use crate::{
    Func, Module, Op, OpKind, Region, knows_vhlo, parse_text, print_module, read_hlo_proto_with_config, write_hlo_proto,
};

/// Functions that CHLO has no op for, so that programs have them as composites only.
const COMPOSITES: [&str; 1] = ["chlo.bessel_i0e"];

/// Ops of Shardy that the corpus of bytecode does not have.
const NOT_IN_BYTECODE: [&str; 1] = ["sharding_group"];

/// A program of an op that the corpora of text do not have.
const GROUP: &str = r#"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  "sdy.sharding_group"(%x) <{group_id = 3 : i64}> : (tensor<2xf32>) -> ()
  return %x : tensor<2xf32>
}"#;

/// The files of the corpora below `tests` that end so.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, extension, found);
            } else if path.extension().is_some_and(|each| each == extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder), extension, &mut found);
    found.sort();
    found
}

/// The programs of the corpora of text that are supported.
fn programs() -> Vec<Module> {
    let corpora = files("", "mlir").into_iter().map(|path| fs::read_to_string(path).unwrap());
    corpora.chain([GROUP.to_owned()]).filter_map(|text| parse_text(&text).ok()).collect()
}

fn for_each_op<'m>(region: &'m Region, visit: &mut impl FnMut(&'m Op)) {
    for op in &region.ops {
        visit(op);
        op.regions.iter().for_each(|region| for_each_op(region, visit));
    }
}

/// Programs of one op each, whose parameters are the values that the op uses: all kinds of ops of the corpora.
fn single_ops() -> Vec<(OpKind, Module)> {
    let mut seen: HashMap<&str, Vec<OpKind>> = HashMap::new();
    let mut singles = Vec::new();
    for module in programs() {
        for func in &module.funcs {
            for_each_op(&func.body, &mut |op| {
                let kinds = seen.entry(op.kind.name()).or_default();
                if kinds.contains(&op.kind) {
                    return;
                }
                kinds.push(op.kind.clone());
                let mut params = op.operands.clone();
                params.extend(Region::free_values(&op.regions));
                let mut used = HashSet::new();
                params.retain(|param| used.insert(*param));
                let mut module = module.clone();
                // In the place of the entry: the op may call the other functions.
                module.funcs[module.entry.0 as usize] = Func {
                    name: "main".into(),
                    public: true,
                    param_attributes: vec![Vec::new(); params.len()],
                    result_attributes: vec![Vec::new(); op.results.len()],
                    body: Region { params, ops: vec![op.clone()], results: op.results.clone() },
                    values: func.values.clone(),
                };
                singles.push((op.kind.clone(), module));
            });
        }
    }
    singles
}

/// Whether the kind names functions, whose numbers depend on the order in which a program mentions them.
fn names_functions(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Call(_) | OpKind::Composite { .. } | OpKind::CustomCall(_))
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> =
        all().map(|def| def.name).chain(legacy::SYNONYMS.iter().map(|(name, _)| *name)).collect();
    names.sort_unstable();
    assert_eq!(names.windows(2).find(|pair| pair[0] == pair[1]), None);
    for def in all() {
        assert!(find(def.name).is_some_and(|found| found.name == def.name), "{}", def.name);
    }
}

/// The names of an op in bytecode, each with its attributes.
fn names_in_bytecode(def: &OpDef) -> Vec<(String, &'static [&'static str])> {
    let stem = def.name.split_once('.').unwrap().1;
    let name = |number: &str| if number.is_empty() { stem.to_owned() } else { format!("{stem}_v{number}") };
    def.bytecode.iter().map(|version| (name(version.number), version.attributes)).collect()
}

/// Properties are in the order of their names, and have to be as many as the table says, so that a corpus with every
/// version of every op proves the table.
#[test]
fn the_corpus_has_every_version() {
    let bytes: Vec<Vec<u8>> =
        files("bytecode/corpus", "mlirbc").into_iter().map(|path| fs::read(path).unwrap()).collect();
    let mut missing = Vec::new();
    for def in all() {
        for (name, attributes) in names_in_bytecode(def) {
            assert!(attributes.is_sorted_by(|left, right| left < right), "{name}");
            assert!(name.ends_with(|last: char| !last.is_ascii_digit()) || knows_vhlo(&name), "{name}");
            let bounded = format!("\0{name}\0").into_bytes();
            if !bytes.iter().any(|bytes| bytes.windows(bounded.len()).any(|window| window == bounded))
                && !NOT_IN_BYTECODE.contains(&&*name)
            {
                missing.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Each kind of op is in a program, and what is printed of it is read as the same.
#[test]
fn what_is_printed_is_read() {
    let singles = single_ops();
    let names: HashSet<&str> = singles.iter().map(|(kind, _)| kind.name()).collect();
    let kinds = UnaryOp::TABLE.iter().chain(BinaryOp::TABLE).chain(table::TABLE).map(|def| def.name);
    let missing: Vec<&str> = kinds.filter(|name| !names.contains(name) && !COMPOSITES.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for direction in ComparisonDirection::ALL {
        assert!(singles.iter().any(|(kind, _)| matches!(kind, OpKind::Compare(each, _) if each == direction)));
    }
    for order in ComparisonType::ALL {
        assert!(singles.iter().any(|(kind, _)| matches!(kind, OpKind::Compare(_, each) if each == order)));
    }
    for (kind, module) in singles {
        let text = print_module(&module);
        let read = parse_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(print_module(&read), text);
        let [op] = &read.main().body.ops[..] else { panic!("{text}") };
        assert!(op.kind == kind || names_functions(&kind), "{kind:?}\n{text}");
    }
}

/// What is written as an instruction of HLO is read as the same op, with the same fields.
#[test]
fn what_is_written_to_hlo_is_read() {
    let fields = |kind: &OpKind| {
        let mut fields = Writer::default();
        kind.write_hlo(&mut fields).map(|()| fields.finish())
    };
    let (mut written, mut read_again) = (HashSet::new(), HashSet::new());
    for (kind, module) in single_ops() {
        let Some(proto) = fields(&kind).and_then(|_| write_hlo_proto(&module)) else {
            continue;
        };
        // What is taken apart, and what XLA writes only.
        if matches!(kind, OpKind::Tuple | OpKind::GetTupleElement { .. } | OpKind::CollectiveReduce(_)) {
            continue;
        }
        written.insert(kind.name());
        let read = read_hlo_proto_with_config(&proto).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        if read.main().body.ops.iter().any(|op| op.kind.name() == kind.name() && fields(&op.kind) == fields(&kind)) {
            read_again.insert(kind.name());
        } else {
            // Shapes that the instruction does not have.
            let is_custom_call = |op: &Op| matches!(&op.kind, OpKind::CustomCall(call) if call.target == kind.name());
            assert!(read.main().body.ops.iter().any(is_custom_call), "{kind:?}\n{read}");
        }
    }
    assert_eq!(written, read_again);
    assert!(written.len() > 70, "{written:?}");
}
