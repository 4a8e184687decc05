//! A check of this directory's source, and of the engine's collectives: kernels take array-sized memory only from their
//! context.

use std::fs;
use std::path::Path;

/// Calls that allocate memory without returning an error.
const FORBIDDEN: [&str; 6] = ["with_capacity(", ".resize(", ".reserve", ".to_vec()", "_vec()", "resize_with("];

/// The comment at the end of such a line that says why the memory is small.
const REASON: &str = "// Bounded: ";

fn is_forbidden(line: &str) -> bool {
    let repeats = line.split_once("vec![").is_some_and(|(before, rest)| {
        !before.ends_with("small") && rest.split_once(']').is_some_and(|(elements, _)| elements.contains(';'))
    });
    repeats || FORBIDDEN.iter().any(|each| line.contains(each))
}

fn check(directory: &Path, mistakes: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check(&path, mistakes);
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with("tests.rs") || ["testing.rs", "allocations.rs"].contains(&name) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let is_code = !line.trim_start().starts_with("//");
            if is_code && is_forbidden(line) && !line.contains(REASON) {
                mistakes.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
}

#[test]
fn scratch_comes_from_the_context() {
    let mut mistakes = Vec::new();
    for directory in ["src/kernels", "../engine/src/collective"] {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join(directory), &mut mistakes);
    }
    let mistakes = mistakes.join("\n");
    assert!(mistakes.is_empty(), "take it by `Context::scratch`, or say why it is little (`{REASON}...`):\n{mistakes}");
}

#[test]
fn what_is_forbidden() {
    for line in
        ["let a = vec![0; n];", "Vec::with_capacity(n)", "a.resize(n, 0)", "a.to_vec()", "plan.make_scratch_vec()"]
    {
        assert!(is_forbidden(line), "{line}");
    }
    for line in ["vec![(0, 0)]", "smallvec![1; rank]", "cx.scratch(n)?", "vec![];"] {
        assert!(!is_forbidden(line), "{line}");
    }
}
