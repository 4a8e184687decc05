//! The parser of MLIR text: StableHLO and the parts of CHLO, MHLO and func that programs use, in pretty and generic
//! form.
//!
//! Both forms of an op are read into the same parts ([`given`]): operands, attributes, regions and types. The meaning
//! of the attributes stands in [`ops`](crate::ops) for all formats, which asks [`read`]. The pretty forms are data
//! (`crate::ops::Form`), shared with the printer. `lexer` and `cursor` read tokens, `module` and `ops` the structure.

mod attributes;
mod cursor;
mod given;
pub(crate) mod lexer;
mod literals;
mod locations;
mod mesh_axes;
mod module;
mod ops;
mod pretty;
mod read;
mod sharding;
mod types;
mod values;

use std::collections::HashMap;

use crate::sharding::Mesh;
use crate::{Attribute, Error, ErrorKind, Module, Op, Type};

use self::attributes::Alias;
use self::cursor::Cursor;
use self::locations::Locations;
use self::module::Functions;
use self::values::Values;

/// Reads a program in MLIR text: one module, or functions alone.
///
/// The memory taken is bounded by a multiple of the text's length. Errors say line and column, and the op.
pub fn parse_text(text: &str) -> Result<Module, Error> {
    if text.trim_start().starts_with("HloModule") {
        let message = "this is HLO text; expected MLIR text of StableHLO, which begins with `module`";
        return Err(Error::invalid(message).at("1:1"));
    }
    Parser::new(text)?.module()
}

/// Reads a dictionary of attributes in braces, sorted by name.
pub(crate) fn parse_dictionary(text: &str) -> Result<Vec<(String, Attribute)>, Error> {
    let mut parser = Parser::new(text)?;
    let entries = parser.dictionary()?;
    match parser.tokens.kind() {
        lexer::Kind::End => Ok(entries),
        _ => Err(parser.tokens.expected("the end of the dictionary")),
    }
}

/// How many parts of aliased attributes and types may be copied, for each byte of text.
const COPIES_PER_BYTE: usize = 4;

/// What is known at a place of the text.
struct Parser<'a> {
    tokens: Cursor<'a>,
    /// Aliases of attributes, with `#`.
    aliases: HashMap<&'a str, Alias<Attribute>>,
    /// Aliases of types, with `!`.
    type_aliases: HashMap<&'a str, Alias<Type>>,
    copies_left: usize,
    /// Ops that the op that is being read is written with, to come before it.
    added: Vec<Op>,
    locations: Locations<'a>,
    functions: Functions,
    meshes: Vec<(String, Mesh)>,
    /// The values of the function that is being read.
    values: Values<'a>,
}

impl<'a> Parser<'a> {
    /// At the start of the text.
    fn new(text: &'a str) -> Result<Parser<'a>, Error> {
        Ok(Parser {
            tokens: Cursor::new(text)?,
            aliases: HashMap::new(),
            type_aliases: HashMap::new(),
            copies_left: text.len().saturating_mul(COPIES_PER_BYTE),
            added: Vec::new(),
            locations: Locations::default(),
            functions: Functions::default(),
            meshes: Vec::new(),
            values: Values::default(),
        })
    }

    /// Accounts for a copy of an alias of so many parts, nested so deep.
    fn charge(&mut self, nodes: usize, depth: usize) -> Result<(), Error> {
        self.tokens.check_depth(depth)?;
        match self.copies_left.checked_sub(nodes) {
            Some(left) => {
                self.copies_left = left;
                Ok(())
            }
            None => {
                let message = "aliases of attributes or types make the program much larger than its text";
                Err(Error::new(ErrorKind::TooLarge, message).at(self.tokens.position(self.tokens.start())))
            }
        }
    }
}

impl<'a> AsMut<Cursor<'a>> for Parser<'a> {
    fn as_mut(&mut self) -> &mut Cursor<'a> {
        &mut self.tokens
    }
}
