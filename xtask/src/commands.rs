//! The commands: one table, from which the help and the usage texts follow, and which `tidy` compares with
//! CONTRIBUTING.md.

use crate::shell::{Failure, Result};
use crate::{
    bench, bindgen, conformance, coverage, demo, docs, downstream, emulate, fuzz, gpu, lint, matrix, messages, miri,
    mutants, release, reproducible, sanitize, smoke, soak, test, tidy,
};

/// A command: its name, the forms in which it is called, and the function that runs it.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) forms: &'static [Form],
    run: fn(&[String]) -> Result<()>,
}

/// Arguments that a command takes, and its effect with them.
pub(crate) struct Form {
    args: &'static str,
    about: &'static str,
}

impl Form {
    /// The command line.
    pub(crate) fn line(&self, name: &str) -> String {
        format!("cargo xtask {name} {}", self.args).trim_end().to_owned()
    }
}

pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "demo",
        forms: &[Form { args: "", about: "build the example ops, install jax, and run the gallery inside jax.jit" }],
        run: demo::run,
    },
    Command {
        name: "test",
        forms: &[Form {
            args: "[lint|rust|python|torch|thorough|avx2]...",
            about: "every Rust, Python and PyTorch test, or the named parts (the last two and lint only if named)",
        }],
        run: test::run,
    },
    Command {
        name: "lint",
        forms: &[Form {
            args: "[fmt|tidy|ruff|clippy|package|features|rustdoc|deny]...",
            about: "formatting, tidy, ruff, clippy, packages, cargo features, rustdoc, and the dependency policy",
        }],
        run: lint::run,
    },
    Command {
        name: "smoke",
        forms: &[Form {
            args: "[wheels|miri|fuzz]...",
            about: "wheels that can be installed; a minute of miri and of fuzzing, where a nightly toolchain is there",
        }],
        run: smoke::run,
    },
    Command {
        name: "tidy",
        forms: &[Form {
            args: "",
            about: "links, paths, items, commands and counts that the documents name; width and heads of comments; imports",
        }],
        run: tidy::run,
    },
    Command {
        name: "conformance",
        forms: &[Form {
            args: "[--family NAME]... [--every N]",
            about: "the plugin against stock JAX: every op and dtype; writes docs/reference/conformance.md if everything ran",
        }],
        run: conformance::run,
    },
    Command {
        name: "downstream",
        forms: &[Form {
            args: "[--library NAME]... [--file PART]",
            about: "the tests of libraries written in JAX, on the plugin; writes docs/reference/downstream.md if everything ran",
        }],
        run: downstream::run,
    },
    Command {
        name: "matrix",
        forms: &[Form {
            args: "[abi|peers|ops|plugin|stablehlo|torch|torch_xla]...",
            about: "one op library on every jaxlib and torch, one plugin on every jaxlib and torch_xla; C++ handlers; structs",
        }],
        run: matrix::run,
    },
    Command {
        name: "messages",
        forms: &[Form { args: "", about: "the guide's index of error messages, from the sources" }],
        run: messages::run,
    },
    Command {
        name: "bench",
        forms: &[
            Form { args: "ffi", about: "the cost of a call beside C++; writes docs/bench/ffi.md" },
            Form { args: "jax", about: "the cost of a call from JAX beside ffi_call; writes docs/bench/jax.md" },
            Form { args: "lines", about: "the lines of one op beside C++ and Triton; writes docs/bench/lines.md" },
            Form {
                args: "pointwise [rows]",
                about: "functions of single numbers and of rows beside formulas; writes docs/bench/pointwise.md",
            },
            Form {
                args: "torch",
                about: "the cost of a call of a torch operator beside C++; writes docs/bench/torch.md",
            },
            Form {
                args: "plugin [NAME]... [--set programs|everyday|algorithms] [--huge-pages|--load] [--avx2] [--quick]",
                about: "programs beside XLA:CPU; without names or `--quick` it writes docs/bench/plugin.md",
            },
            Form { args: "linalg", about: "linear algebra beside XLA:CPU; writes docs/bench/linalg.md" },
            Form { args: "devices", about: "programs on four devices beside one; writes docs/bench/devices.md" },
        ],
        run: bench::run,
    },
    Command {
        name: "gpu",
        forms: &[Form {
            args: "[test|bench] [--rehearse]",
            about: "the gallery's kernels on an NVIDIA GPU, in the JAX and torch installed: tests; docs/bench/gpu.md",
        }],
        run: gpu::run,
    },
    Command {
        name: "docs",
        forms: &[
            Form { args: "", about: "build the API docs" },
            Form { args: "site", about: "build the documentation as a site with search, in target/site" },
        ],
        run: docs::run,
    },
    Command {
        name: "miri",
        forms: &[Form {
            args: "[PACKAGE] [FILTER]",
            about: "the crates' unsafe code under miri (needs a nightly toolchain with miri)",
        }],
        run: miri::run,
    },
    Command {
        name: "fuzz",
        forms: &[
            Form {
                args: "jax [PROGRAMS] [--seed S] [--x64|--no-x64] [--devices N]",
                about: "random JAX programs against stock JAX",
            },
            Form {
                args: "[calls|bytecode|text|hlo_proto|options|run]... [SECONDS] [keep]",
                about: "damaged calls and programs under AddressSanitizer (needs nightly)",
            },
        ],
        run: fuzz::run,
    },
    Command {
        name: "sanitize",
        forms: &[Form {
            args: "[address|thread] [PACKAGE]...",
            about: "the SDK's and the engine's tests under AddressSanitizer and ThreadSanitizer (needs nightly with rust-src)",
        }],
        run: sanitize::run,
    },
    Command {
        name: "coverage",
        forms: &[Form {
            args: "[PACKAGE]...",
            about: "lines of each crate that Rust tests run (needs llvm-tools); writes docs/reference/coverage.md",
        }],
        run: coverage::run,
    },
    Command {
        name: "mutants",
        forms: &[Form {
            args: "[frames|dims|bytecode|text|hlo_proto]... [--shard K/N]",
            about: "whether the tests see each change of what decodes frames, dimensions and programs (needs cargo-mutants)",
        }],
        run: mutants::run,
    },
    Command {
        name: "soak",
        forms: &[Form {
            args: "[KIND]... [--calls N]",
            about: "memory that up to 100,000 calls of each kind leave behind; writes docs/reference/soak.md, unless there are --calls",
        }],
        run: soak::run,
    },
    Command {
        name: "emulate",
        forms: &[Form {
            args: "[FILTER]",
            about: "the SDK's tests on aarch64, by QEMU, and a build of the gallery and the plugin for it",
        }],
        run: emulate::run,
    },
    Command {
        name: "reproducible",
        forms: &[Form {
            args: "[PACKAGE]",
            about: "two builds of an op library in different folders: the same bytes, and no path in them",
        }],
        run: reproducible::run,
    },
    Command {
        name: "release",
        forms: &[
            Form {
                args: "VERSION [--prepare|--rehearse]",
                about: "version, changes, tag, crates and wheels; `--prepare` ends with the tag, `--rehearse` publishes to a folder",
            },
            Form { args: "check", about: "the packages of the published crates, compiled as users get them" },
            Form {
                args: "semver",
                about: "public interfaces beside those of the last release (needs cargo-semver-checks)",
            },
            Form { args: "repository URL", about: "write the address of the repository to every file that has it" },
        ],
        run: release::run,
    },
    Command {
        name: "bindgen",
        forms: &[Form {
            args: "[--check]",
            about: "regenerate ffi-sys from the headers inside published wheels: jaxlib, tensorflow-cpu, torch",
        }],
        run: bindgen::run,
    },
];

/// Runs the command that the first argument names on the others.
pub(crate) fn dispatch(args: &[String]) -> Result<()> {
    let Some((name, rest)) = args.split_first() else {
        print!("{}", help());
        return Err(Failure::new("name a command"));
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        print!("{}", help());
        return Ok(());
    }
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => Err(Failure::new(format!("`{name}` is not a command\n\n{}", help()))),
    }
}

/// The error for arguments that fit no form of the command `name`.
pub(crate) fn usage(name: &str) -> Failure {
    let forms = COMMANDS.iter().filter(|command| command.name == name).flat_map(|command| command.forms);
    let lines: Vec<String> = forms.map(|form| form.line(name)).collect();
    Failure::new(format!("usage: {}", lines.join("\n       ")))
}

fn help() -> String {
    let mut text = String::from("cargo xtask COMMAND\n\n");
    for Command { name, forms, .. } in COMMANDS {
        for Form { args, about } in *forms {
            let usage = format!("{name} {args}");
            text += &format!("  {usage:<38} {about}\n");
        }
    }
    text += "\nEnvironment: OXCALL_PYTHON (the interpreter to use), CXX (the C++ compiler to use).\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a form of the command offers exactly these words.
    fn offers<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> bool {
        let choice = format!("[{}]", words.collect::<Vec<_>>().join("|"));
        let forms = COMMANDS.iter().filter(|command| command.name == name).flat_map(|command| command.forms);
        forms.into_iter().any(|form| form.args.contains(&choice))
    }

    #[test]
    fn usages_name_every_part() {
        assert!(offers("lint", lint::PARTS.iter().map(|(name, _)| *name)));
        assert!(offers("matrix", matrix::PARTS.iter().map(|(name, _)| *name)));
        assert!(offers("smoke", smoke::PARTS.iter().map(|(name, _)| *name)));
        assert!(offers("test", test::PARTS.iter().map(|(name, _)| *name)));
        assert!(offers("fuzz", fuzz::TARGETS.iter().map(|target| target.name)));
        assert!(offers("mutants", mutants::PARTS.iter().map(|part| part.name)));
        assert!(offers("sanitize", sanitize::SANITIZERS.iter().map(|sanitizer| sanitizer.name)));
    }

    #[test]
    fn usages_have_a_line_for_each_form() {
        assert_eq!(usage("demo").to_string(), "usage: cargo xtask demo");
        let fuzz = usage("fuzz").to_string();
        assert!(fuzz.starts_with("usage: cargo xtask fuzz jax [PROGRAMS]"), "{fuzz}");
        assert!(fuzz.contains("\n       cargo xtask fuzz [calls|"), "{fuzz}");
    }

    #[test]
    fn help_has_every_command() {
        let help = help();
        assert!(COMMANDS.iter().all(|command| help.contains(&format!("\n  {} ", command.name))), "{help}");
    }
}
