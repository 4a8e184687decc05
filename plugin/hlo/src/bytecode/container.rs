//! The container: header, sections, strings, dialects, op names and properties.

use super::cursor::Cursor;
use crate::Error;

/// The first bytes of MLIR bytecode.
pub(super) const MAGIC: &[u8] = b"ML\xefR";

/// The newest bytecode version that is read.
const NEWEST: u64 = 6;

/// The bytecode version, with what it changed in the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u64);

impl Version {
    /// Dialects may state a version of their own.
    const DIALECT_VERSIONS: Version = Version(1);
    /// Isolated regions lie in sections of their own.
    pub(super) const ISOLATED_SECTIONS: Version = Version(2);
    /// Orders of uses are kept.
    pub(super) const USE_LISTS: Version = Version(3);
    /// Unknown locations of block arguments are left out, and op names are counted.
    pub(super) const ELIDED_LOCATIONS: Version = Version(4);
    /// Inherent attributes lie in a section of properties.
    pub(super) const PROPERTIES: Version = Version(5);
}

/// The sections of a file, in the order of their numbers.
#[derive(Debug, Clone, Copy)]
enum Section {
    String = 0,
    Dialect = 1,
    AttrType = 2,
    AttrTypeOffset = 3,
    Ir = 4,
    Properties = 8,
}

/// One more than the highest section number.
const SECTIONS: usize = 9;

/// Set in a section's number if it is aligned.
const ALIGNED: u8 = 0x80;

/// The name of an op.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpName<'a> {
    /// The dialect.
    pub(super) dialect: &'a str,
    /// The name in the dialect: `add_v1`.
    pub(super) name: &'a str,
    /// Whether the writer knew the op, so that its properties are encoded natively.
    pub(super) registered: bool,
}

/// A parsed container.
#[derive(Debug)]
pub(super) struct Container<'a> {
    /// The bytecode version.
    pub(super) version: Version,
    /// All strings.
    pub(super) strings: Vec<&'a [u8]>,
    /// The names of dialects.
    pub(super) dialects: Vec<&'a str>,
    /// The names of ops.
    pub(super) op_names: Vec<OpName<'a>>,
    /// The properties of ops.
    pub(super) properties: Vec<Cursor<'a>>,
    /// Attributes and types.
    pub(super) entries: Cursor<'a>,
    /// Where each attribute and type lies in `entries`.
    pub(super) offsets: Cursor<'a>,
    /// The ops.
    pub(super) ir: Cursor<'a>,
}

impl<'a> Container<'a> {
    /// Splits `bytes` into its parts.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Container<'a>, Error> {
        let mut cursor = Cursor::new(bytes, 0);
        if cursor.bytes(MAGIC.len()).ok() != Some(MAGIC) {
            return Err(Error::invalid("not MLIR bytecode: the magic number is missing"));
        }
        let version = Version(cursor.varint()?);
        if version.0 > NEWEST {
            let message =
                format!("MLIR bytecode version {} is newer than {NEWEST}, the newest that is supported", version.0);
            return Err(Error::unsupported(message));
        }
        let _producer = cursor.null_terminated()?;

        let mut sections: [Option<Cursor<'a>>; SECTIONS] = Default::default();
        while !cursor.is_empty() {
            let (number, data) = read_section(&mut cursor)?;
            match sections.get_mut(usize::from(number)) {
                Some(section @ None) => *section = Some(data),
                Some(Some(_)) => return Err(data.error(format_args!("section {number} is there twice"))),
                None => return Err(data.error(format_args!("unknown section {number}"))),
            }
        }
        let optional = |section: Section| sections[section as usize].clone();
        let required = |section: Section| {
            optional(section)
                .ok_or_else(|| Error::invalid(format!("malformed bytecode: the {section:?} section is missing")))
        };

        let strings = read_strings(required(Section::String)?)?;
        let (dialects, op_names) = read_dialects(required(Section::Dialect)?, version, &strings)?;
        let properties = optional(Section::Properties).map(read_properties).transpose()?.unwrap_or_default();
        Ok(Container {
            version,
            dialects,
            op_names,
            properties,
            entries: required(Section::AttrType)?,
            offsets: required(Section::AttrTypeOffset)?,
            ir: required(Section::Ir)?,
            strings,
        })
    }
}

/// A section's number and data.
fn read_section<'a>(cursor: &mut Cursor<'a>) -> Result<(u8, Cursor<'a>), Error> {
    const PADDING: u8 = 0xcb;
    let number = cursor.byte()?;
    let length = cursor.size()?;
    if number & ALIGNED != 0 {
        let alignment = cursor.size()?;
        if !alignment.is_power_of_two() {
            return Err(cursor.error(format_args!("expected a power of two as alignment, got {alignment}")));
        }
        while cursor.offset() & (alignment - 1) != 0 {
            if cursor.byte()? != PADDING {
                return Err(cursor.error("expected padding"));
            }
        }
    }
    Ok((number & !ALIGNED, cursor.slice(length)?))
}

/// Reads the section of a region that is isolated from those around it.
pub(super) fn read_ir_section<'a>(cursor: &mut Cursor<'a>) -> Result<Cursor<'a>, Error> {
    let (number, data) = read_section(cursor)?;
    if number != Section::Ir as u8 {
        return Err(data.error(format_args!("expected regions, got section {number}")));
    }
    Ok(data)
}

/// The strings: their lengths come first, the last string's before the others.
fn read_strings(mut cursor: Cursor<'_>) -> Result<Vec<&[u8]>, Error> {
    let count = cursor.count()?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(cursor.size()?);
    }
    let mut strings = Vec::with_capacity(count);
    for &length in lengths.iter().rev() {
        match cursor.bytes(length)? {
            [string @ .., 0] => strings.push(string),
            _ => return Err(cursor.error("unterminated string")),
        }
    }
    Ok(strings)
}

/// A string that has to be a name.
fn name_at<'a>(cursor: &Cursor<'_>, strings: &[&'a [u8]], index: u64) -> Result<&'a str, Error> {
    let bytes = strings[cursor.checked_index(index, strings.len(), "string")?];
    std::str::from_utf8(bytes).map_err(|_| cursor.error("a name must be UTF-8"))
}

/// The dialects and the op names, which are grouped by dialect.
fn read_dialects<'a>(
    mut cursor: Cursor<'a>,
    version: Version,
    strings: &[&'a [u8]],
) -> Result<(Vec<&'a str>, Vec<OpName<'a>>), Error> {
    let dialects = cursor.list(|cursor| {
        if version < Version::DIALECT_VERSIONS {
            let index = cursor.varint()?;
            return name_at(cursor, strings, index);
        }
        let (index, versioned) = cursor.flagged()?;
        let name = name_at(cursor, strings, index)?;
        if versioned {
            read_section(cursor)?;
        }
        Ok(name)
    })?;
    let mut ops = Vec::new();
    if version >= Version::ELIDED_LOCATIONS {
        ops.reserve_exact(cursor.count()?);
    }
    while !cursor.is_empty() {
        let dialect = dialects[cursor.index(dialects.len(), "dialect")?];
        for _ in 0..cursor.count()? {
            let (index, registered) =
                if version < Version::PROPERTIES { (cursor.varint()?, true) } else { cursor.flagged()? };
            ops.push(OpName { dialect, name: name_at(&cursor, strings, index)?, registered });
        }
    }
    Ok((dialects, ops))
}

/// The properties: each its length and its data.
fn read_properties(mut cursor: Cursor<'_>) -> Result<Vec<Cursor<'_>>, Error> {
    cursor.list(|cursor| {
        let size = cursor.size()?;
        cursor.slice(size)
    })
}
