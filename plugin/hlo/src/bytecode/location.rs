//! Source locations.

use std::collections::HashMap;
use std::sync::Arc;

use super::attribute::{LocationNode, Node};
use super::tables::{AttrId, Tables};
use crate::{Error, Location, LocationId};

/// How deep locations may nest; what lies deeper becomes unknown.
const MAX_DEPTH: usize = 64;

/// The locations of a module, each made when it is first used.
#[derive(Debug)]
pub(super) struct Locations<'a> {
    made: Vec<Location>,
    ids: Vec<Option<LocationId>>,
    names: HashMap<&'a [u8], Arc<str>>,
    /// The bytes that may still be spent on locations, which share parts that are copied here.
    budget: usize,
}

impl<'a> Locations<'a> {
    /// No locations but the unknown one.
    pub(super) fn new(tables: &Tables<'a>) -> Locations<'a> {
        let ids = vec![None; tables.attribute_count()];
        Locations { made: vec![Location::Unknown], ids, names: HashMap::new(), budget: tables.copies() }
    }

    /// The location that attribute `id` describes.
    pub(super) fn get(&mut self, tables: &Tables<'a>, id: AttrId) -> Result<LocationId, Error> {
        if let Some(made) = self.ids[id.0 as usize] {
            return Ok(made);
        }
        let made = match self.convert(tables, id, 0)? {
            Location::Unknown => LocationId::UNKNOWN,
            location => {
                self.made.push(location);
                LocationId((self.made.len() - 1) as u32)
            }
        };
        self.ids[id.0 as usize] = Some(made);
        Ok(made)
    }

    /// Names the location in an error.
    #[cold]
    pub(super) fn add_to(&self, error: Error, id: LocationId) -> Error {
        error.at(self.made[id.0 as usize].to_string())
    }

    /// All locations.
    pub(super) fn finish(self) -> Vec<Location> {
        self.made
    }

    fn convert(&mut self, tables: &Tables<'a>, id: AttrId, depth: usize) -> Result<Location, Error> {
        // No program is refused for its locations: it loses those that are too deep, and some if there are too many.
        self.budget = self.budget.saturating_sub(size_of::<Location>());
        if depth > MAX_DEPTH || self.budget == 0 {
            return Ok(Location::Unknown);
        }
        let Node::Location(node) = tables.attribute(id)? else {
            return Ok(Location::Unknown);
        };
        Ok(match node {
            LocationNode::Unknown => Location::Unknown,
            LocationNode::File(file, line, column) => {
                Location::File { file: self.name(file), line: *line, column: *column }
            }
            LocationNode::Name(name, inner) => {
                let inner = self.convert(tables, *inner, depth + 1)?;
                Location::Name(self.name(name), Box::new(inner))
            }
            LocationNode::Call(callee, caller) => {
                let callee = self.convert(tables, *callee, depth + 1)?;
                let caller = self.convert(tables, *caller, depth + 1)?;
                Location::Call(Box::new(callee), Box::new(caller))
            }
            LocationNode::Fused(parts) => {
                let parts = parts.iter().map(|&part| self.convert(tables, part, depth + 1));
                Location::Fused(parts.collect::<Result<_, _>>()?)
            }
        })
    }

    fn name(&mut self, bytes: &'a [u8]) -> Arc<str> {
        self.names.entry(bytes).or_insert_with(|| String::from_utf8_lossy(bytes).into()).clone()
    }
}
