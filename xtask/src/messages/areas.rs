//! The sections of the index, by the folders of the sources.

use super::Message;

/// A section.
pub(super) struct Area {
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// Starts of the paths of its sources; the longest of all areas counts.
    paths: &'static [&'static str],
    /// Whether one cause and cure, in `about`, is that of all.
    is_settled: bool,
}

pub(super) static AREAS: &[Area] = &[
    Area {
        title: "Compiling a crate",
        about: "Messages of the compiler about `#[custom_call]`, `#[stage]`, `library!` and the derives, and about types \
                that handlers cannot have. Each comes with the place in the source, and with a help that says what to \
                write.",
        paths: &[
            "macros/src/messages.rs",
            "ffi/src/buffer/param.rs",
            "ffi/src/buffer/rank.rs",
            "ffi/src/element",
            "math/src/real",
        ],
        is_settled: true,
    },
    Area {
        title: "Loading a library",
        about: "Errors of `oxcall.load` and of the command `python -m oxcall`. A library with mistakes reports all of \
                them when it is loaded.",
        paths: &[
            "ffi/src/registry.rs",
            "ffi/src/exports.rs",
            "python/oxcall/src/oxcall/_abi.py",
            "python/oxcall/src/oxcall/_cli.py",
            "python/oxcall/src/oxcall/_copies.py",
            "python/oxcall/src/oxcall/_elf.py",
            "python/oxcall/src/oxcall/_file_kinds.py",
            "python/oxcall/src/oxcall/_image.py",
            "python/oxcall/src/oxcall/_library.py",
            "python/oxcall/src/oxcall/_library_file.py",
            "python/oxcall/src/oxcall/_pairing.py",
            "python/oxcall/src/oxcall/_targets.py",
        ],
        is_settled: false,
    },
    Area {
        title: "Making a project and its wheel",
        about: "Errors of `oxcall new`, `oxcall build` and of the build hook, which pip shows with the build's output.",
        paths: &["python/oxcall/src/oxcall/_new.py", "python/oxcall/src/oxcall/_wheel"],
        is_settled: false,
    },
    Area {
        title: "Calling an op",
        about: "Errors of calls from JAX and of the harness. A message begins with the op, and with the argument, result \
                or attribute that it is about.",
        paths: &["ffi/src", "python/oxcall/src"],
        is_settled: false,
    },
    Area {
        title: "Operators of PyTorch",
        about: "Errors of operators and of operators by descriptor.",
        paths: &["ffi/src/torch", "ffi/src/habana", "python/oxcall/src/oxcall/_torch.py"],
        is_settled: false,
    },
    Area {
        title: "Starting the plugin",
        about: "Errors of the package `oxcall_plugin`, of its options, and of handlers that it registers.",
        paths: &[
            "python/oxcall-plugin/src",
            "ffi/src/host/registry.rs",
            "plugin/src/interrupt.rs",
            "plugin/src/options.rs",
            "plugin/src/registration.rs",
        ],
        is_settled: false,
    },
    Area {
        title: "Reading a program",
        about: "Errors about a program that breaks a rule of StableHLO or of its formats, or that uses an op, attribute or \
                type that the plugin does not support. The op and its place in the source stand around the message. JAX, \
                torch_xla and `jax.export` write valid programs: if one of theirs is refused as INVALID_ARGUMENT, \
                compare its StableHLO version with those that the plugin reads, and report it.",
        paths: &["plugin/hlo/src", "plugin/proto/src", "plugin/src/programs.rs"],
        is_settled: true,
    },
    Area {
        title: "Compiling a program",
        about: "Errors of `compile()` and of the first call of a jitted function. The op and its place in the source stand \
                around the message.",
        paths: &["plugin/engine/src", "plugin/kernels/src"],
        is_settled: false,
    },
    Area {
        title: "Running a program",
        about: "Errors of calls of compiled programs, of transfers, callbacks and linear algebra.",
        paths: &[
            "plugin/engine/src/custom_call",
            "plugin/engine/src/engine.rs",
            "plugin/engine/src/exec",
            "plugin/kernels/src/interrupt.rs",
            "plugin/linalg/src",
            "plugin/src",
        ],
        is_settled: false,
    },
    Area {
        title: "Memory",
        about: "Errors of allocations.",
        paths: &["plugin/kernels/src/memory", "plugin/linalg/src/memory.rs"],
        is_settled: false,
    },
    Area {
        title: "C interfaces",
        about: "Errors of the C functions of PJRT and of the XLA FFI, and about damaged call descriptors. JAX, PyTorch and \
                the Python packages pass valid arguments: an error here is one of a client, a handler or a host that \
                calls these functions itself. It names the field of the args.",
        paths: &["plugin/pjrt/src", "ffi/src/host", "ffi/src/legacy/wire.rs", "plugin/src/exports.rs"],
        is_settled: true,
    },
];

/// Folders and files whose errors no user sees.
const LEFT_OUT: [&str; 5] = ["/tests/", "/tests.rs", "_tests.rs", "/testing.rs", "/_templates/"];

/// The area of the messages in a file.
pub(super) fn of(path: &str) -> Option<&'static Area> {
    let is_source = path.ends_with(".rs") || path.ends_with(".py");
    if !is_source || LEFT_OUT.iter().any(|part| path.contains(part)) {
        return None;
    }
    let rank = |area: &Area| area.paths.iter().filter(|start| path.starts_with(**start)).map(|start| start.len()).max();
    AREAS.iter().filter(|area| rank(area).is_some()).max_by_key(|area| rank(area))
}

/// Words of messages that say what was expected, or which values there are.
const EXPECTATIONS: [&str; 24] = [
    "expected",
    "expects",
    "must",
    "at most",
    "at least",
    " takes ",
    " take ",
    "did you mean",
    "only ",
    "needs ",
    "requires",
    "required",
    "exactly",
    ", not ",
    " but ",
    " not valid ",
    "; it is ",
    "; there are ",
    "; a pred is ",
    " are constants",
    "are not negative",
    " the options are ",
    " the kinds are ",
    "Expected: ",
];

/// Words that begin an instruction.
const INSTRUCTIONS: [&str; 40] = [
    "add", "build", "call", "choose", "clone", "compile", "convert", "declare", "delete", "describe", "drop", "export",
    "give", "install", "leave", "link", "list", "load", "make", "mark", "move", "name", "pass", "pip", "please", "put",
    "rebuild", "register", "remove", "rename", "report", "return", "run", "set", "share", "take", "update", "upgrade",
    "use", "write",
];

impl Area {
    /// Whether a message needs no cause and cure of its own: it states them, it passes on another error, the area has
    /// one cause and cure, or the message is about a bug, or about something that is not supported.
    pub(super) fn is_settled(&self, message: &Message) -> bool {
        let text = message.text.as_str();
        let instructs = || {
            let clauses = text.split(['.', ';', ':', ',', '(']).flat_map(|clause| clause.split(" and ")).skip(1);
            let first =
                |clause: &str| clause.split_whitespace().next().map(|word| word.trim_matches('`').to_lowercase());
            let begins = text.starts_with("give ");
            begins || clauses.filter_map(first).any(|word| INSTRUCTIONS.contains(&word.as_str()))
        };
        let passes_on = || {
            let end = text.trim_end_matches(['}', ')']).rsplit('{').next().unwrap_or_default();
            text.ends_with(['}', ')']) && (text.ends_with(": {}") || PASSED_ON.iter().any(|name| end.ends_with(name)))
        };
        self.is_settled
            || message.help.is_some()
            || matches!(message.code, "INTERNAL" | "UNIMPLEMENTED")
            || text.contains("not supported")
            || EXPECTATIONS.iter().any(|words| text.contains(words))
            || passes_on()
            || instructs()
    }
}

/// Placeholders at the end of messages that pass on another error.
const PASSED_ON: [&str; 8] = ["error", "reason", "reasons", "cause", "fault", "left_out", "strerror", "text"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_start_of_a_path_decides() {
        let title = |path: &str| of(path).map(|area| area.title);
        assert_eq!(title("ffi/src/entry.rs"), Some("Calling an op"));
        assert_eq!(title("ffi/src/torch/entry.rs"), Some("Operators of PyTorch"));
        assert_eq!(title("ffi/src/torch/tests/calls.rs"), None);
        assert_eq!(title("tests/src/lib.rs"), None);
    }

    #[test]
    fn messages_that_say_what_to_do_are_settled() {
        let settled = |text: &str| {
            let message = Message { text: text.to_owned(), code: "NOT_FOUND", help: None };
            of("ffi/src/entry.rs").unwrap().is_settled(&message)
        };
        assert!(settled("expected 2 arguments, got 3"));
        assert!(settled("the dtype is open; give it explicitly"));
        assert!(!settled("the device is gone"));
    }
}
