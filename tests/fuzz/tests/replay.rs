//! The corpus and many random inputs, without a fuzzer.

#[path = "../../../plugin/hlo/tests/common/random.rs"]
mod random;

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use random::Random;

/// Tells the process that it is the one that runs the inputs.
const CHILD: &str = "OXCALL_FUZZ_CHILD";

/// Runs `body` in a process of its own, as it may be the end of it, and says a lot on stderr.
#[track_caller]
fn apart(test: &str, body: impl FnOnce()) {
    if env::var_os(CHILD).is_some() {
        return body();
    }
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.lines().rev().take(10).collect();
    assert!(output.status.success(), "{}: {last:#?}\n{}", output.status, String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_corpus_is_harmless() {
    apart("the_corpus_is_harmless", || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
        assert!(files.map(|data| oxcall_fuzz::fuzz(&data)).count() > 0, "the corpus is empty");
    });
}

#[test]
fn random_calls_are_harmless() {
    apart("random_calls_are_harmless", || {
        let mut random = Random(7);
        for _ in 0..20_000 {
            let len = 8 + random.below(40);
            let data: Vec<u8> = (0..len).flat_map(|_| random.number().to_le_bytes()).collect();
            oxcall_fuzz::fuzz(&data);
        }
    });
}
