//! The corpora, real programs, and many changes of them, without a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};

use oxcall_fuzz_programs::{Random, Target, mutate};

/// The files of a folder and those in it.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            let data = fs::read(&path).unwrap();
            files.push((path, data));
        }
    }
    files.sort();
    files
}

/// The targets that were built.
fn targets() -> impl Iterator<Item = Target> {
    Target::ALL.into_iter().filter(|&target| target != Target::Run || cfg!(feature = "engine"))
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The programs of the readers' tests.
fn programs(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let mut files = files(&here().join("../../../plugin/hlo/tests").join(folder));
    files.retain(|(path, _)| path.extension().is_some_and(|each| each == extension));
    assert!(!files.is_empty());
    files.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn corpora_are_harmless() {
    for target in targets() {
        for (path, data) in files(&here().join("corpus").join(target.name())) {
            println!("{}", path.display());
            target.fuzz(&data);
        }
    }
}

#[test]
fn texts_are_harmless() {
    let programs = [programs("text/programs", "mlir"), programs("bytecode/programs", "mlir")].concat();
    let mut random = Random(1);
    let (mut read, mut ran) = (0, 0);
    for _ in 0..400 {
        let text = str::from_utf8(random_of(&programs, &mut random)).unwrap();
        let mutated = mutate(text, &mut random);
        read += usize::from(Target::Text.fuzz(mutated.as_bytes()));
        if cfg!(feature = "engine") {
            ran += usize::from(Target::Run.fuzz(mutated.as_bytes()));
        }
    }
    assert!(read > 20 && (ran > 5 || cfg!(not(feature = "engine"))), "{read} read, {ran} ran");
}

#[test]
fn bytecodes_are_harmless() {
    changed_bytes_are_harmless(Target::Bytecode, &programs("bytecode/corpus", "mlirbc"), 2);
}

#[test]
fn hlo_protos_are_harmless() {
    changed_bytes_are_harmless(Target::HloProto, &programs("hlo_proto/corpus", "pb"), 3);
}

/// Changes a few bytes of programs at random.
fn changed_bytes_are_harmless(target: Target, programs: &[Vec<u8>], seed: u64) {
    let mut random = Random(seed);
    for _ in 0..2000 {
        let mut data = random_of(programs, &mut random).to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.below(data.len());
            data[at] = random.number() as u8;
        }
        target.fuzz(&data);
    }
}

fn random_of<'d>(items: &'d [Vec<u8>], random: &mut Random) -> &'d [u8] {
    &items[random.below(items.len())]
}
