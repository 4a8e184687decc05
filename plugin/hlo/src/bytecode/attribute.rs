//! Attributes: those of VHLO, and the builtin ones. Decoding is shallow: an attribute refers to others by index.

use super::cursor::Cursor;
use super::tables::{AttrId, Entry, Tables, TypeId};
use super::{literal, mesh_axes, sharding};
use crate::sharding::{AxisRef, MeshRef};
use crate::{Alias, Attribute, ElementType, Error, Literal, TensorType};

/// A decoded attribute.
#[derive(Debug)]
pub(super) enum Node<'a> {
    /// Present, with no value.
    Unit,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64, ElementType),
    /// A floating-point number.
    Float(f64, ElementType),
    /// A string.
    String(&'a [u8]),
    /// The name of a function or mesh.
    Symbol(&'a [u8]),
    /// One of the values of an enum, both by name.
    Enum(&'static str, &'static str),
    /// A list.
    Array(Vec<AttrId>),
    /// A dictionary.
    Dictionary(Vec<(&'a [u8], AttrId)>),
    /// A constant tensor.
    Dense(Literal),
    /// A constant tensor that is written as an array.
    DenseArray(Literal),
    /// A type.
    Type(TypeId),
    /// A result that shares memory with an operand.
    Alias(Alias),
    /// The bounds of the dynamic dimensions of a tensor; those of others are negative.
    Bounds(Vec<i64>),
    /// A source location.
    Location(LocationNode<'a>),
    /// What nothing here needs, in the words of MLIR text or close to them.
    Other(String),
    /// Axes of a mesh, for groups of processes.
    MeshAxes(MeshRef, Vec<AxisRef>),
    /// Of Shardy's dialect, with all that it refers to, and the memory that a copy of it takes.
    Sharding(Attribute, usize),
    /// Something of another dialect, in an encoding that only this dialect knows.
    Foreign(&'a str),
}

/// A source location.
#[derive(Debug)]
pub(super) enum LocationNode<'a> {
    /// Not known.
    Unknown,
    /// File, line and column.
    File(&'a [u8], u64, u64),
    /// A name and what it names.
    Name(&'a [u8], AttrId),
    /// Callee and caller.
    Call(AttrId, AttrId),
    /// Several.
    Fused(Vec<AttrId>),
}

/// Decodes an attribute.
pub(super) fn decode<'a>(tables: &Tables<'a>, entry: &Entry<'a>) -> Result<Node<'a>, Error> {
    let mut cursor = entry.data.clone();
    if !entry.encoded {
        return Ok(Node::Other(String::from_utf8_lossy(cursor.null_terminated()?).into_owned()));
    }
    let mut reader = Reader { tables, cursor: &mut cursor };
    match entry.dialect {
        "vhlo" => reader.vhlo(),
        "builtin" => reader.builtin(),
        "sdy" => sharding::decode(tables, &mut cursor),
        dialect => Ok(Node::Foreign(dialect)),
    }
}

/// Decodes an attribute that has to be a string.
pub(super) fn decode_string<'a>(tables: &Tables<'a>, entry: &Entry<'a>) -> Result<&'a [u8], Error> {
    let mut cursor = entry.data.clone();
    match (entry.dialect, entry.encoded, cursor.varint()?) {
        ("vhlo", true, vhlo::STRING) | ("builtin", true, builtin::STRING | builtin::TYPED_STRING) => {
            tables.read_string(&mut cursor)
        }
        _ => Err(cursor.error("expected a string attribute")),
    }
}

/// The attributes of VHLO, in the order of their codes; a compiler's own are left out.
pub(super) const NAMES: &[&str] = &[
    "array_v1",
    "bool_v1",
    "comparison_direction_v1",
    "comparison_type_v1",
    "api_version_v1",
    "dict_v1",
    "fft_type_v1",
    "float_v1",
    "integer_v1",
    "output_operand_alias_v1",
    "precision_v1",
    "rng_algorithm_v1",
    "rng_distribution_v1",
    "string_v1",
    "tensor_v1",
    "transpose_v1",
    "type_v1",
    "type_extensions_v1",
    "result_accuracy_mode_v1",
    "result_accuracy_v1",
    "sub_axis_info_v1",
    "axis_ref_v1",
    "replica_group_mesh_axes_v1",
    "mesh_axis_v1",
    "mesh_v1",
];

/// The codes of attributes of VHLO.
pub(super) mod vhlo {
    pub(in super::super) const ARRAY: u64 = 1;
    pub(in super::super) const BOOLEAN: u64 = 2;
    pub(in super::super) const COMPARISON_DIRECTION: u64 = 3;
    pub(in super::super) const COMPARISON_TYPE: u64 = 4;
    pub(in super::super) const API_VERSION: u64 = 5;
    pub(in super::super) const DICTIONARY: u64 = 6;
    pub(in super::super) const FFT_TYPE: u64 = 7;
    pub(in super::super) const FLOAT: u64 = 8;
    pub(in super::super) const INTEGER: u64 = 9;
    pub(in super::super) const ALIAS: u64 = 10;
    pub(in super::super) const PRECISION: u64 = 11;
    pub(in super::super) const RNG_ALGORITHM: u64 = 12;
    pub(in super::super) const RNG_DISTRIBUTION: u64 = 13;
    pub(in super::super) const STRING: u64 = 14;
    pub(in super::super) const TENSOR: u64 = 15;
    pub(in super::super) const TRANSPOSE: u64 = 16;
    pub(in super::super) const TYPE: u64 = 17;
    pub(in super::super) const TYPE_EXTENSIONS: u64 = 18;
    pub(in super::super) const SUB_AXIS: u64 = 21;
    pub(in super::super) const AXIS_REF: u64 = 22;
    pub(in super::super) const MESH_AXES: u64 = 23;
    pub(in super::super) const MESH_AXIS: u64 = 24;
    pub(in super::super) const MESH: u64 = 25;
}

/// The codes of builtin attributes.
mod builtin {
    pub(super) const ARRAY: u64 = 0;
    pub(super) const DICTIONARY: u64 = 1;
    pub(super) const STRING: u64 = 2;
    pub(super) const TYPED_STRING: u64 = 3;
    pub(super) const SYMBOL: u64 = 4;
    pub(super) const NESTED_SYMBOL: u64 = 5;
    pub(super) const TYPE: u64 = 6;
    pub(super) const UNIT: u64 = 7;
    pub(super) const INTEGER: u64 = 8;
    pub(super) const FLOAT: u64 = 9;
    pub(super) const CALL_LOCATION: u64 = 10;
    pub(super) const FILE_LOCATION: u64 = 11;
    pub(super) const FUSED_LOCATION: u64 = 12;
    pub(super) const FUSED_LOCATION_WITH_METADATA: u64 = 13;
    pub(super) const NAME_LOCATION: u64 = 14;
    pub(super) const UNKNOWN_LOCATION: u64 = 15;
    pub(super) const DENSE_ARRAY: u64 = 17;
    pub(super) const DENSE: u64 = 18;
    pub(super) const FILE_RANGE_LOCATION: u64 = 22;
}

/// The values of an enum of VHLO, by number; unused numbers have no name.
fn enum_values(code: u64) -> Option<(&'static str, &'static [&'static str])> {
    Some(match code {
        vhlo::COMPARISON_DIRECTION => ("comparison_direction", &["EQ", "NE", "GE", "GT", "LE", "LT"]),
        vhlo::COMPARISON_TYPE => ("comparison_type", &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]),
        vhlo::API_VERSION => (
            "custom_call_api_version",
            &[
                "API_VERSION_UNSPECIFIED",
                "API_VERSION_ORIGINAL",
                "API_VERSION_STATUS_RETURNING",
                "API_VERSION_STATUS_RETURNING_UNIFIED",
                "API_VERSION_TYPED_FFI",
            ],
        ),
        vhlo::FFT_TYPE => ("fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"]),
        vhlo::PRECISION => ("precision", &["DEFAULT", "HIGH", "HIGHEST"]),
        vhlo::RNG_ALGORITHM => ("rng_algorithm", &["DEFAULT", "THREE_FRY", "PHILOX"]),
        vhlo::RNG_DISTRIBUTION => ("rng_distribution", &["", "UNIFORM", "NORMAL"]),
        vhlo::TRANSPOSE => ("transpose", &["", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
        _ => return None,
    })
}

struct Reader<'r, 'a> {
    tables: &'r Tables<'a>,
    cursor: &'r mut Cursor<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn vhlo(&mut self) -> Result<Node<'a>, Error> {
        let code = self.cursor.varint()?;
        if let Some((name, values)) = enum_values(code) {
            let value = self.cursor.index(values.len(), name)?;
            return Ok(Node::Enum(name, values[value]));
        }
        Ok(match code {
            vhlo::ARRAY => Node::Array(self.attributes()?),
            vhlo::BOOLEAN => Node::Bool(self.cursor.varint()? != 0),
            vhlo::DICTIONARY => self.dictionary()?,
            vhlo::FLOAT => self.float()?,
            vhlo::INTEGER => self.integer()?,
            vhlo::ALIAS => Node::Alias(Alias {
                output: self.cursor.list(read_index)?,
                operand: read_index(self.cursor)?,
                operand_path: self.cursor.list(read_index)?,
            }),
            vhlo::STRING => Node::String(self.tables.read_string(self.cursor)?),
            vhlo::TENSOR => self.dense()?,
            vhlo::TYPE => Node::Type(self.tables.read_type(self.cursor)?),
            vhlo::TYPE_EXTENSIONS => Node::Bounds(self.cursor.list(Cursor::signed)?),
            vhlo::MESH_AXES => mesh_axes::decode(self.tables, self.cursor)?,
            code => Node::Other(format!("an attribute of VHLO with code {code}")),
        })
    }

    fn builtin(&mut self) -> Result<Node<'a>, Error> {
        Ok(match self.cursor.varint()? {
            builtin::ARRAY => Node::Array(self.attributes()?),
            builtin::DICTIONARY => self.dictionary()?,
            builtin::STRING | builtin::TYPED_STRING => Node::String(self.tables.read_string(self.cursor)?),
            builtin::SYMBOL | builtin::NESTED_SYMBOL => Node::Symbol(self.string()?),
            builtin::TYPE => Node::Type(self.tables.read_type(self.cursor)?),
            builtin::UNIT => Node::Unit,
            builtin::INTEGER => self.integer()?,
            builtin::FLOAT => self.float()?,
            builtin::DENSE_ARRAY => self.dense_array()?,
            builtin::DENSE => self.dense()?,
            builtin::CALL_LOCATION => Node::Location(LocationNode::Call(self.attribute()?, self.attribute()?)),
            builtin::FILE_LOCATION => {
                let file = self.string()?;
                Node::Location(LocationNode::File(file, self.cursor.varint()?, self.cursor.varint()?))
            }
            builtin::FILE_RANGE_LOCATION => {
                let file = self.string()?;
                let numbers = self.cursor.list(Cursor::varint)?;
                let number = |index: usize| numbers.get(index).copied().unwrap_or_default();
                Node::Location(LocationNode::File(file, number(0), number(1)))
            }
            builtin::FUSED_LOCATION | builtin::FUSED_LOCATION_WITH_METADATA => {
                Node::Location(LocationNode::Fused(self.attributes()?))
            }
            builtin::NAME_LOCATION => {
                let name = self.string()?;
                Node::Location(LocationNode::Name(name, self.attribute()?))
            }
            builtin::UNKNOWN_LOCATION => Node::Location(LocationNode::Unknown),
            code => Node::Other(format!("a builtin attribute with code {code}")),
        })
    }

    fn attribute(&mut self) -> Result<AttrId, Error> {
        self.tables.read_attribute(self.cursor)
    }

    fn attributes(&mut self) -> Result<Vec<AttrId>, Error> {
        let tables = self.tables;
        self.cursor.list(|cursor| tables.read_attribute(cursor))
    }

    /// The bytes of a string attribute.
    fn string(&mut self) -> Result<&'a [u8], Error> {
        let id = self.attribute()?;
        self.tables.string(id)
    }

    fn dictionary(&mut self) -> Result<Node<'a>, Error> {
        let tables = self.tables;
        let mut entries = self.cursor.list(|cursor| {
            let name = tables.read_attribute(cursor)?;
            Ok((tables.string(name)?, tables.read_attribute(cursor)?))
        })?;
        entries.sort_by_key(|(name, _)| *name);
        if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(self.cursor.error("a dictionary must have each name once"));
        }
        Ok(Node::Dictionary(entries))
    }

    /// A number: up to 8 bits as a byte, up to 64 as a signed integer.
    fn number(&mut self, bits: usize) -> Result<i64, Error> {
        Ok(if bits <= 8 { i64::from(self.cursor.byte()?) } else { self.cursor.signed()? })
    }

    fn integer(&mut self) -> Result<Node<'a>, Error> {
        let id = self.tables.read_type(self.cursor)?;
        let element = self.tables.ty(id)?.element()?;
        let bits = element.bits();
        let number = self.number(bits)?;
        if element == ElementType::Pred {
            return Ok(Node::Bool(number != 0));
        }
        if !element.is_integer() {
            return Err(self.cursor.error(format_args!("an integer cannot have type {element}")));
        }
        let unused = 64 - bits as u32;
        let number = number << unused;
        Ok(Node::Integer(
            if element.is_signed() { number >> unused } else { (number as u64 >> unused) as i64 },
            element,
        ))
    }

    fn float(&mut self) -> Result<Node<'a>, Error> {
        let id = self.tables.read_type(self.cursor)?;
        let element = self.tables.ty(id)?.element()?;
        if !element.is_float() {
            return Err(self.cursor.error(format_args!("a float cannot have type {element}")));
        }
        let bits = self.number(element.bits())?;
        Ok(Node::Float(element.decode(bits as u64), element))
    }

    fn dense(&mut self) -> Result<Node<'a>, Error> {
        let id = self.tables.read_type(self.cursor)?;
        let ty = self.tables.ty(id)?.tensor()?;
        self.tables.spend(ty.heap_size())?;
        let blob = self.cursor.blob()?;
        Ok(Node::Dense(literal::from_blob(ty, blob).map_err(|error| self.cursor.error(error))?))
    }

    fn dense_array(&mut self) -> Result<Node<'a>, Error> {
        let id = self.tables.read_type(self.cursor)?;
        let element = self.tables.ty(id)?.element()?;
        let count = self.cursor.size()?;
        let blob = self.cursor.blob()?;
        let fits = count.checked_mul(element.byte_width()) == Some(blob.len());
        if !fits {
            return Err(self
                .cursor
                .error(format_args!("an array of {count} {element} cannot have {} bytes", blob.len())));
        }
        let literal = Literal::normalised(TensorType::new(element, [count]), blob);
        Ok(Node::DenseArray(literal))
    }
}

/// An index that is written as a signed integer.
fn read_index(cursor: &mut Cursor<'_>) -> Result<usize, Error> {
    let index = cursor.signed()?;
    usize::try_from(index).map_err(|_| cursor.error(format_args!("an index must not be negative, got {index}")))
}
