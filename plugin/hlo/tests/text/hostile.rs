//! Text that is truncated, mutated or made up: an error or a module, in bounded memory and time, and never a panic.

use oxcall_hlo::{ErrorKind, parse_text, print_module, verify};

use super::pieces::PIECES;
use super::random::Random;
use super::{parse, pretty_programs, program, programs};

#[test]
fn truncation_is_an_error() {
    for (name, text) in programs("text/programs") {
        let text = text.trim_end();
        let lengths = (0..text.len()).step_by(text.len() / 150);
        for length in lengths.filter(|&length| text.is_char_boundary(length)) {
            assert!(parse_text(&text[..length]).is_err(), "{name} {length}");
        }
    }
}

/// Changes some places: pieces put in, ranges removed, copied or replaced.
fn mutate(text: &mut String, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let mut place = || {
            let at = random.below(text.len() + 1);
            (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0)
        };
        let (from, other) = (place(), place());
        let to = (from + other % 24).min(text.len());
        let to = (to..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(from);
        let piece = PIECES[random.below(PIECES.len())];
        match random.below(4) {
            0 => text.insert_str(from, piece),
            1 => text.replace_range(from..to, ""),
            2 => text.replace_range(from..to, piece),
            _ => {
                let copied = text[from..to].to_owned();
                text.insert_str(other, &copied);
            }
        }
    }
}

#[test]
fn mutations_never_panic() {
    let programs: Vec<_> = [programs("text/programs"), programs("text/generic")]
        .concat()
        .into_iter()
        .filter(|(_, text)| text.len() < 8000)
        .collect();
    let mut random = Random(3);
    let mut read = 0;
    for _ in 0..2000 {
        let (_, original) = &programs[random.below(programs.len())];
        let mut text = original.clone();
        mutate(&mut text, &mut random);
        // Most are errors; what is read can be verified and printed, and that read.
        if let Ok(module) = parse_text(&text) {
            let _ = verify(&module);
            parse(&text, &print_module(&module));
            read += 1;
        }
    }
    assert!(read > 30, "{read}");
}

#[test]
fn nesting_is_limited() {
    let deep = 100_000;
    let nested = |open: &str, close: &str, inside: &str| format!("{}{inside}{}", open.repeat(deep), close.repeat(deep));
    let regions = nested("\"stablehlo.case\"(%arg1) ({\n", "stablehlo.return\n}) : (tensor<i32>) -> ()\n", "");
    for text in [
        program(&regions),
        program(&format!("%0 = stablehlo.constant dense<{}> : tensor<1xf32>", nested("[", "]", "1.0"))),
        program(&format!("%0 = stablehlo.constant {{a = {}}} dense<1.0> : tensor<1xf32>", nested("[", "]", ""))),
        program(&format!("%0 = \"stablehlo.tuple\"() : () -> {}", nested("tuple<", ">", "tensor<f32>"))),
        program(&format!("%0 = stablehlo.constant dense<1.0> : tensor<1xf32> loc({})", nested("fused[", "]", "\"a\""))),
        nested("module {", "}", ""),
    ] {
        assert!(parse_text(&text).is_err());
    }
    // A shape may have any number of dimensions.
    let text = program(&format!("%0 = stablehlo.constant dense<1.0> : tensor<{}f32>", "1x".repeat(deep)));
    assert!(parse("rank", &text).to_string().contains("1x1x1x"));
}

/// Each alias has the one before it several times.
fn doubling(first: &str, prefix: &str, next: impl Fn(&str) -> String, last: impl Fn(&str) -> String) -> String {
    let mut text = format!("{prefix}0 = {first}\n");
    for index in 1..60 {
        text += &format!("{prefix}{index} = {}\n", next(&format!("{prefix}{}", index - 1)));
    }
    text + &last(&format!("{prefix}59"))
}

#[test]
fn aliases_do_not_multiply() {
    let main = "func.func @main() { return }";
    let attributes = doubling("1", "#a", |alias| format!("[{alias}, {alias}]"), |_| main.into());
    let types = doubling("tensor<f32>", "!t", |alias| format!("tuple<{alias}, {alias}>"), |_| main.into());
    for text in [attributes, types] {
        assert_eq!(parse_text(&text).unwrap_err().kind, ErrorKind::TooLarge);
    }
    // Chains of aliases nest no deeper than text may.
    let chain =
        (1..10_000).fold("#a0 = 1\n".to_owned(), |text, index| text + &format!("#a{index} = [#a{}]\n", index - 1));
    assert!(parse_text(&(chain + main)).is_err());
    // Locations are left out rather than refused.
    let locations = doubling(
        "loc(\"f\":1:1)",
        "#loc",
        |alias| format!("loc(fused[{alias}, {alias}])"),
        |alias| format!("func.func @main() {{ %0 = stablehlo.after_all : !stablehlo.token loc({alias}) return }}"),
    );
    let module = parse("locations", &locations);
    assert!(module.location(module.main().body.ops[0].location).to_string().len() < 100_000);
    let cycle = "#loc1 = loc(\"a\"(#loc2))\n#loc2 = loc(\"b\"(#loc1))\nfunc.func @main() { return loc(#loc1) }";
    parse("cycle", cycle);
}

#[test]
fn a_splat_takes_no_memory() {
    let text = program("%0 = stablehlo.constant dense<1.0> : tensor<1000000x1000000xf32>");
    assert!(parse("splat", &text).to_string().contains("dense<1.0> : tensor<1000000x1000000xf32>"));
    let text = program(
        "%0 = \"stablehlo.transpose\"(%arg0) {permutation = dense<0> : tensor<1000000000000xi64>} : \
         (tensor<2x3xf32>) -> tensor<3x2xf32>",
    );
    assert!(parse_text(&text).is_err());
}

#[test]
fn many_programs_at_once() {
    let programs = pretty_programs();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| programs.iter().for_each(|(name, text)| drop(parse(name, text))));
        }
    });
}
