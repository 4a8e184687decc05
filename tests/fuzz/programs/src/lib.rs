//! Damaged and made-up programs, in bytecode, text and HLO protos, and compile options, given to what reads them and to
//! the engine.
//!
//! Whatever the input: no panic, no hang, and memory within a multiple (512) of its size; an error that
//! says where; what is read is verified or refused; what is printed reads back as the same program. What is verified
//! and small compiles or is refused, and runs, always with the same results.

#[cfg(feature = "engine")]
mod compare;
#[path = "../../../../plugin/hlo/tests/common/memory.rs"]
mod memory;
mod mutate;
mod options;
#[path = "../../../../plugin/hlo/tests/common/pieces.rs"]
mod pieces;
#[path = "../../../../plugin/hlo/tests/common/random.rs"]
mod random;
mod read;
#[cfg(feature = "engine")]
mod run;

pub use mutate::mutate;
pub use random::Random;

/// What an input is given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The reader of bytecode.
    Bytecode,
    /// The parser of text.
    Text,
    /// The reader of HLO protos.
    HloProto,
    /// The reader of compile options.
    Options,
    /// The engine, by way of text.
    Run,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 5] = [Target::Bytecode, Target::Text, Target::HloProto, Target::Options, Target::Run];

    /// The name: of the folder of the corpus, too.
    pub fn name(self) -> &'static str {
        match self {
            Target::Bytecode => "bytecode",
            Target::Text => "text",
            Target::HloProto => "hlo_proto",
            Target::Options => "options",
            Target::Run => "run",
        }
    }

    /// The target of this name.
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Whether inputs are text, whose words [`mutate()`] knows.
    pub fn is_text(self) -> bool {
        matches!(self, Target::Text | Target::Run)
    }

    /// Runs one input. The answer is whether it was accepted.
    ///
    /// # Panics
    /// If a promise is broken.
    pub fn fuzz(self, data: &[u8]) -> bool {
        let text = || std::str::from_utf8(data).ok();
        match self {
            Target::Bytecode => read::bytecode(data).is_some(),
            Target::Text => text().and_then(read::text).is_some(),
            Target::HloProto => read::hlo_proto(data).is_some(),
            Target::Options => options::fuzz(data),
            #[cfg(feature = "engine")]
            Target::Run => text().is_some_and(run::fuzz),
            #[cfg(not(feature = "engine"))]
            Target::Run => panic!("built without the engine"),
        }
    }
}
