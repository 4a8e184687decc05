//! Source locations, as aliases.

use std::collections::HashMap;
use std::fmt::Write;

use super::string;
use crate::{Location, LocationId, Module};

/// The locations that the text names, in order of first use.
pub(super) struct Locations<'m> {
    module: &'m Module,
    numbers: HashMap<LocationId, usize>,
    used: Vec<LocationId>,
}

impl<'m> Locations<'m> {
    /// None yet.
    pub(super) fn new(module: &'m Module) -> Locations<'m> {
        Locations { module, numbers: HashMap::new(), used: Vec::new() }
    }

    /// ` loc(#loc1)`.
    pub(super) fn reference(&mut self, id: LocationId) -> String {
        if *self.module.location(id) == Location::Unknown {
            return " loc(unknown)".into();
        }
        let used = &mut self.used;
        let number = *self.numbers.entry(id).or_insert_with(|| {
            used.push(id);
            used.len()
        });
        format!(" loc(#loc{number})")
    }

    /// `#loc1 = loc(...)` of all that are used.
    pub(super) fn definitions(&self) -> String {
        let mut text = String::new();
        for (index, &id) in self.used.iter().enumerate() {
            let _ = writeln!(text, "#loc{} = loc({})", index + 1, location(self.module.location(id)));
        }
        text
    }
}

fn location(at: &Location) -> String {
    match at {
        Location::Unknown => "unknown".into(),
        Location::File { file, line, column } => format!("{}:{line}:{column}", string(file.as_bytes())),
        Location::Name(name, inner) if **inner == Location::Unknown => string(name.as_bytes()),
        Location::Name(name, inner) => format!("{}({})", string(name.as_bytes()), location(inner)),
        Location::Call(callee, caller) => format!("callsite({} at {})", location(callee), location(caller)),
        Location::Fused(parts) => {
            format!("fused[{}]", parts.iter().map(location).collect::<Vec<_>>().join(", "))
        }
    }
}
