//! Source locations. They may refer to aliases that are defined at the end of the text, so they are only noted while
//! ops are read, and read at the end.

use std::collections::HashMap;
use std::sync::Arc;

use super::cursor::list;
use super::lexer::Kind;
use super::{Error, Parser};
use crate::{Location, LocationId};

/// How deep locations may nest; deeper ones are left out, not refused.
const MAX_DEPTH: usize = 64;

/// The locations of a text, noted.
#[derive(Debug, Default)]
pub(super) struct Locations<'a> {
    /// Locations by their text: `(#loc1)`.
    ids: HashMap<&'a str, LocationId>,
    /// The place of each, by id; the unknown location has none. There is a parenthesis, or else an op.
    places: Vec<usize>,
    /// The places of the aliases' locations.
    aliases: HashMap<&'a str, usize>,
}

/// What reading locations may still take. Since aliases can be shared, the text does not bound it.
struct Budget<'a> {
    nodes: usize,
    names: HashMap<&'a str, Arc<str>>,
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Lines([0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect())
    }

    /// The line and the column, from 1, of the byte at `at`.
    fn position(&self, at: usize) -> (u64, u64) {
        let line = self.0.partition_point(|&start| start <= at);
        (line as u64, (at - self.0[line - 1] + 1) as u64)
    }
}

impl<'a> Parser<'a> {
    /// Takes `loc(...)`, if it follows.
    pub(super) fn optional_location(&mut self) -> Result<LocationId, Error> {
        if !self.tokens.eat("loc")? {
            return Ok(LocationId::UNKNOWN);
        }
        let start = self.tokens.start();
        self.tokens.skip_brackets()?;
        let text = self.tokens.since(start);
        let Locations { ids, places, .. } = &mut self.locations;
        Ok(*ids.entry(text).or_insert_with(|| {
            places.push(start);
            LocationId(places.len() as u32)
        }))
    }

    /// Takes the location of the op at `at`. If it says none, that is its place in the text, which MLIR calls `-`.
    pub(super) fn op_location(&mut self, at: usize) -> Result<LocationId, Error> {
        if self.tokens.is("loc") {
            return self.optional_location();
        }
        self.locations.places.push(at);
        Ok(LocationId(self.locations.places.len() as u32))
    }

    /// Takes the rest of `#loc1 = loc(...)`.
    pub(super) fn location_alias(&mut self, name: &'a str, at: usize) -> Result<(), Error> {
        self.tokens.expect("loc")?;
        let place = self.tokens.start();
        self.tokens.skip_brackets()?;
        match self.locations.aliases.insert(name, place) {
            None => Ok(()),
            Some(_) => Err(self.tokens.error_at(at, format!("the alias {name} is defined twice"))),
        }
    }

    /// Reads the locations that were noted. Together they have at most as many parts as the text has bytes; what would
    /// be more is unknown.
    pub(super) fn read_locations(&mut self) -> Result<Vec<Location>, Error> {
        let mut budget = Budget { nodes: self.tokens.source().len(), names: HashMap::new() };
        let (lines, no_name) = (Lines::new(self.tokens.source()), Arc::from("-"));
        let mut locations = vec![Location::Unknown];
        for place in std::mem::take(&mut self.locations.places) {
            let is_op = self.tokens.source().as_bytes().get(place) != Some(&b'(');
            locations.push(if is_op {
                let (line, column) = lines.position(place);
                Location::File { file: Arc::clone(&no_name), line, column }
            } else {
                self.location_in_parentheses(place, 0, &mut budget)?
            });
        }
        Ok(locations)
    }

    /// Reads `(...)` at byte `place`.
    fn location_in_parentheses(
        &mut self,
        place: usize,
        depth: usize,
        budget: &mut Budget<'a>,
    ) -> Result<Location, Error> {
        self.tokens.seek(place)?;
        self.tokens.expect("(")?;
        let location = self.location(depth, budget)?;
        self.tokens.expect(")")?;
        Ok(location)
    }

    fn location(&mut self, depth: usize, budget: &mut Budget<'a>) -> Result<Location, Error> {
        let spent = budget.nodes == 0 || depth > MAX_DEPTH;
        budget.nodes = budget.nodes.saturating_sub(1);
        match (self.tokens.kind(), self.tokens.text()) {
            (Kind::String, _) => self.file_or_name(depth, budget),
            (Kind::Hash, name) => {
                let Some(&place) = self.locations.aliases.get(name) else {
                    return Err(self.tokens.error(format!("the alias {name} is not defined")));
                };
                self.tokens.bump()?;
                if spent {
                    return Ok(Location::Unknown);
                }
                let after = self.tokens.start();
                let location = self.location_in_parentheses(place, depth + 1, budget)?;
                self.tokens.seek(after)?;
                Ok(location)
            }
            (Kind::Word, "unknown") => {
                self.tokens.bump()?;
                Ok(Location::Unknown)
            }
            (Kind::Word, "callsite") => {
                self.tokens.bump()?;
                self.tokens.enter()?;
                self.tokens.expect("(")?;
                let callee = self.location(depth + 1, budget)?;
                self.tokens.expect("at")?;
                let caller = self.location(depth + 1, budget)?;
                self.tokens.expect(")")?;
                self.tokens.leave();
                Ok(Location::Call(callee.into(), caller.into()))
            }
            (Kind::Word, "fused") => {
                self.tokens.bump()?;
                if self.tokens.is("<") {
                    self.tokens.skip_brackets()?; // metadata
                }
                self.tokens.enter()?;
                let parts = list(self, "[", "]", |parser: &mut Parser<'a>| parser.location(depth + 1, budget))?;
                self.tokens.leave();
                Ok(Location::Fused(parts))
            }
            _ => Err(self.tokens.expected("a location")),
        }
    }

    /// Takes `"file":1:2`, `"file":1:2 to 3:4`, `"name"` or `"name"(location)`.
    fn file_or_name(&mut self, depth: usize, budget: &mut Budget<'a>) -> Result<Location, Error> {
        let quoted = self.tokens.text();
        let bytes = self.tokens.string()?;
        let name = budget.names.entry(quoted).or_insert_with(|| String::from_utf8_lossy(&bytes).into()).clone();
        if self.tokens.eat(":")? {
            let line = self.line_or_column()?;
            let column = if self.tokens.eat(":")? { self.line_or_column()? } else { 0 };
            if self.tokens.eat("to")? {
                if self.tokens.kind() == Kind::Integer {
                    self.line_or_column()?;
                }
                self.tokens.expect(":")?;
                self.line_or_column()?;
            }
            return Ok(Location::File { file: name, line, column });
        }
        let mut inner = Location::Unknown;
        if self.tokens.eat("(")? {
            self.tokens.enter()?;
            inner = self.location(depth + 1, budget)?;
            self.tokens.leave();
            self.tokens.expect(")")?;
        }
        Ok(Location::Name(name, inner.into()))
    }

    fn line_or_column(&mut self) -> Result<u64, Error> {
        let at = self.tokens.start();
        let value = self.tokens.integer()?;
        u64::try_from(value).map_err(|_| self.tokens.error_at(at, "a line or column must not be negative"))
    }
}
