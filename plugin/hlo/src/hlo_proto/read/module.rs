//! `HloModuleProto`.

use std::collections::{HashMap, HashSet};

use oxcall_proto::Message;

use super::super::fields::{computation, metadata, module};
use super::computation::FuncReader;
use super::entry::{self, Leaves};
use crate::{Error, ErrorKind, Func, FuncId, Location, LocationId, Module};

/// What is read of a module as a whole.
pub(super) struct ModuleReader {
    /// The computations that are read.
    pub(super) funcs: Vec<Func>,
    /// Their ids.
    ids: HashMap<i64, FuncId>,
    /// The id of the entry computation, which no other may use.
    entry: i64,
    /// Its parameters and results.
    leaves: Option<Leaves>,
    names: HashSet<String>,
    locations: Vec<Location>,
    /// The bytes that may still be spent on what the input does not hold: types of values, and ops that it implies.
    budget: usize,
}

/// The bytes that copies may take for each byte of the input, and for any.
const COPIES_PER_BYTE: usize = 128;
const COPIES: usize = 8 << 20;

impl ModuleReader {
    /// Takes `bytes` from what copies may take.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Error> {
        let message = "the values of instructions expand to more than a program of this size may hold";
        let rest = self.budget.checked_sub(bytes);
        self.budget = rest.ok_or_else(|| Error::new(ErrorKind::TooLarge, message))?;
        Ok(())
    }

    /// The function of a computation, which comes before those that use it.
    pub(super) fn computation(&self, id: i64) -> Result<FuncId, Error> {
        if id == self.entry {
            return Err(Error::invalid("the entry computation must not be called"));
        }
        self.ids.get(&id).copied().ok_or_else(|| {
            Error::invalid(format!("computation {id} must be defined before the computation that calls it"))
        })
    }

    /// A new location, which names the instruction.
    pub(super) fn location(&mut self, name: &str, source: Option<Message<'_>>) -> Result<LocationId, Error> {
        let source = source.map(location).transpose()?.unwrap_or(Location::Unknown);
        self.locations.push(Location::Name(format!("%{name}").into(), Box::new(source)));
        let id = u32::try_from(self.locations.len() - 1);
        id.map(LocationId).map_err(|_| Error::invalid("more than 2^32 instructions"))
    }

    /// The text of a location.
    pub(super) fn place(&self, id: LocationId) -> String {
        self.locations[id.0 as usize].to_string()
    }

    /// The name for a function that was called so: names are unique, and `main` is the entry's.
    fn unique(&mut self, name: &str, id: i64) -> String {
        let mut unique = if name.is_empty() { format!("computation.{id}") } else { name.to_owned() };
        if self.names.contains(&unique) {
            unique.push_str(&format!(".{id}"));
        }
        while !self.names.insert(unique.clone()) {
            unique.push('_');
        }
        unique
    }

    fn read_computation(&mut self, message: Message<'_>) -> Result<(), Error> {
        let id = message.int(computation::ID)?;
        let is_entry = id == self.entry;
        let name = message.text(computation::NAME)?;
        let name = if is_entry { "main".to_owned() } else { self.unique(name, id) };
        let reader = FuncReader::new(self);
        let func = if is_entry {
            entry::read(reader, message).map(|(func, leaves)| {
                self.leaves = Some(leaves);
                func
            })
        } else {
            reader.read(message)
        };
        let mut func = func.map_err(|error| error.at(format!("computation {name}")))?;
        func.name = name;
        func.public = is_entry;
        let index = FuncId(self.funcs.len() as u32);
        if self.ids.insert(id, index).is_some() {
            return Err(Error::invalid(format!("two computations have the id {id}")));
        }
        self.funcs.push(func);
        Ok(())
    }
}

/// Where an instruction comes from, as `OpMetadata` says.
fn location(message: Message<'_>) -> Result<Location, Error> {
    let (file, name) = (message.text(metadata::FILE)?, message.text(metadata::OP_NAME)?);
    let number = |number| Ok::<u64, Error>(u64::try_from(message.int(number)?).unwrap_or_default());
    let place = if file.is_empty() {
        Location::Unknown
    } else {
        Location::File { file: file.into(), line: number(metadata::LINE)?, column: number(metadata::COLUMN)? }
    };
    Ok(if name.is_empty() { place } else { Location::Name(name.into(), Box::new(place)) })
}

/// Reads a module, which is at most `length` bytes.
pub(super) fn read(message: Message<'_>, length: usize) -> Result<Module, Error> {
    let entry = message.int(module::ENTRY_ID)?;
    let mut reader = ModuleReader {
        funcs: Vec::new(),
        ids: HashMap::new(),
        entry,
        leaves: None,
        names: HashSet::from(["main".to_owned()]),
        locations: vec![Location::Unknown],
        budget: length.saturating_mul(COPIES_PER_BYTE).saturating_add(COPIES),
    };
    for computation in message.messages(module::COMPUTATIONS)? {
        reader.read_computation(computation)?;
    }
    let ModuleReader { mut funcs, ids, locations, leaves, .. } = reader;
    let (Some(&id), Some(leaves)) = (ids.get(&entry), leaves) else {
        return Err(Error::invalid(format!("the entry computation {entry} does not exist")));
    };
    leaves.check(message)?;
    entry::set_attributes(&mut funcs[id.0 as usize], &leaves, message)?;
    let name = message.text(module::NAME)?.to_owned();
    Ok(Module { name, funcs, entry: id, meshes: Vec::new(), attributes: Vec::new(), locations })
}
