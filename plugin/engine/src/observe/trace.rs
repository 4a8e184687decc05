//! Traces in the format of Chrome and Perfetto: <https://ui.perfetto.dev> shows them.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sync::Mutex;
use std::time::Instant;

use oxcall::Error;
use oxcall_hlo::{Func, Type, ValueId};
use serde_json::{Value, json};

/// A file of spans: one for each step and custom call of each execution, and one for each execution and compilation. It
/// is complete JSON except during a write.
#[derive(Debug)]
pub struct Trace {
    start: Instant,
    file: Mutex<File>,
}

/// The end of the file, which the next spans overwrite.
const END: &[u8] = b"\n]\n";

impl Trace {
    /// Creates the file.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if that fails.
    pub fn create(path: &Path) -> Result<Trace, Error> {
        let name = json!({
            "name": "process_name", "ph": "M", "pid": std::process::id(), "tid": 0, "args": { "name": "oxcall" },
        });
        let made = File::create(path).and_then(|mut file| {
            write!(file, "[\n{name}")?;
            file.write_all(END)?;
            Ok(file)
        });
        let file = made.map_err(|error| {
            Error::invalid_argument(format!("OXCALL_TRACE: cannot write the file {}: {error}", path.display()))
        })?;
        Ok(Trace { start: Instant::now(), file: Mutex::new(file) })
    }

    /// Microseconds since the trace began.
    fn micros(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.start).as_nanos() as f64 / 1e3
    }

    /// Adds spans to the file.
    pub(crate) fn write(&self, spans: &[Span]) {
        let thread = thread_id();
        let mut text = String::new();
        for span in spans {
            let event = json!({
                "name": span.name, "cat": span.category, "ph": "X", "pid": std::process::id(), "tid": thread,
                "ts": self.micros(span.start), "dur": self.micros(span.end) - self.micros(span.start),
                "args": span.args,
            });
            text.push_str(",\n");
            text.push_str(&event.to_string());
        }
        let mut file = self.file.lock();
        if let Err(error) = append(&mut file, text.as_bytes()) {
            eprintln!("oxcall: OXCALL_TRACE: cannot write the trace: {error}");
        }
    }
}

fn append(file: &mut File, text: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::End(-(END.len() as i64)))?;
    file.write_all(&[text, END].concat())
}

/// A number that identifies this thread.
fn thread_id() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static ID: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    ID.with(|id| *id)
}

/// An activity from one moment to another.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) category: &'static str,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) args: Value,
}

/// The types of values as JSON, without values that have no type.
pub(crate) fn shapes(func: &Func, values: &[Option<ValueId>]) -> Value {
    let types = values.iter().flatten().map(|&value| func.ty(value));
    let text = |ty: &Type| match ty {
        Type::Tensor(ty) => {
            let dims: Vec<String> = ty.dims.iter().map(ToString::to_string).collect();
            format!("{}[{}]", ty.element, dims.join(","))
        }
        other => other.to_string(),
    };
    types.map(text).collect()
}
