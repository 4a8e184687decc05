//! The reader of HLO protos, on what jaxlib and torch_xla wrote (`corpus.py` writes it) and on damaged and made-up
//! input. What the programs compute is tested in `oxcall-engine`.

#[path = "../common/hlo.rs"]
mod hlo;
mod kinds;
mod mistakes;
mod opcodes;
#[path = "../common/random.rs"]
mod random;
mod structure;
mod written;

use std::fs;
use std::path::Path;

use oxcall_hlo::{parse_text, print_module, read_hlo_proto, read_hlo_proto_with_config, verify};
use random::Random;

/// Each proto of the corpus, with its name.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hlo_proto/corpus");
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    let protos = files.filter(|file| file.extension().is_some_and(|extension| extension == "pb"));
    let mut corpus: Vec<_> =
        protos.map(|file| (file.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&file).unwrap())).collect();
    corpus.sort();
    assert!(corpus.len() > 15, "the corpus is missing");
    corpus
}

#[test]
fn the_corpus_is_read_and_printed() {
    for (name, proto) in corpus() {
        let module = read_hlo_proto(&proto).unwrap_or_else(|error| panic!("{name}: {error}"));
        verify(&module).unwrap_or_else(|error| panic!("{name}: {error}\n{module}"));
        let printed = print_module(&module);
        let again = parse_text(&printed).unwrap_or_else(|error| panic!("{name}: {error}\n{printed}"));
        assert_eq!(print_module(&again), printed, "{name}");
    }
}

#[test]
fn a_module_with_its_configuration() {
    let (_, proto) = corpus().swap_remove(0);
    let mut whole = oxcall_proto::Writer::default();
    whole.bytes(1, &proto).nested(2, |config| _ = config.int(4, 1));
    let module = read_hlo_proto_with_config(&whole.finish()).unwrap();
    assert_eq!(print_module(&module), print_module(&read_hlo_proto(&proto).unwrap()));
    assert!(read_hlo_proto_with_config(&[]).unwrap_err().to_string().contains("has no module"));
}

#[test]
fn truncated_protos_are_read_or_refused() {
    let mut refused = 0;
    for (_, proto) in corpus() {
        for length in (0..proto.len()).step_by(proto.len() / 60 + 1) {
            // What is missing at the end may be fields that have a default.
            match read_hlo_proto(&proto[..length]) {
                Ok(module) => drop(verify(&module)),
                Err(error) => {
                    assert!(!error.message.is_empty());
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 500, "{refused} refused");
}

#[test]
fn mutated_protos_are_read_or_refused() {
    let corpus = corpus();
    let mut random = Random(3);
    let mut read = 0;
    for _ in 0..3000 {
        let mut proto = corpus[random.below(corpus.len())].1.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(proto.len());
            proto[at] = random.number() as u8;
        }
        if let Ok(module) = read_hlo_proto(&proto) {
            read += usize::from(verify(&module).is_ok());
        }
    }
    assert!(read > 50, "{read} read");
}
