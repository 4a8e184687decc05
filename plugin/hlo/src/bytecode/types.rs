//! Types: those of VHLO, and the builtin ones that appear in attributes.

use oxcall_element::bytecode;

use super::attribute::Node;
use super::cursor::Cursor;
use super::tables::{AttrId, Entry, Tables, TypeId};
use crate::{ElementType, Error, ErrorKind, TensorType, Type};

/// How deep types may nest, in tuples for instance.
const MAX_DEPTH: usize = 32;

/// The types of VHLO, in the order of their codes.
pub(super) const NAMES: &[&str] = &[
    "bool_v1",
    "complex_v1",
    "bf16_v1",
    "f16_v1",
    "f32_v1",
    "f64_v1",
    "f8E4M3FN_v1",
    "f8E5M2_v1",
    "func_v1",
    "index_v1",
    "i4_v1",
    "i8_v1",
    "i16_v1",
    "i32_v1",
    "i64_v1",
    "ui4_v1",
    "ui8_v1",
    "ui16_v1",
    "ui32_v1",
    "ui64_v1",
    "tensor_v1",
    "token_v1",
    "tuple_v1",
    "quant_v1",
    "unranked_tensor_v1",
    "witness_v1",
    "f8E4M3FNUZ_v1",
    "f8E5M2FNUZ_v1",
    "f8E4M3B11FNUZ_v1",
    "quant_per_axis_v1",
    "i2_v1",
    "ui2_v1",
    "none_v1",
    "tf31_v1",
    "f8E4M3_v1",
    "f8E3M4_v1",
    "f4E2M1FN_v1",
    "f6E2M3FN_v1",
    "f6E3M2FN_v1",
    "f8E8M0FNU_v1",
    "buffer_v1",
    "future_v1",
];

/// A decoded type.
#[derive(Debug)]
pub(super) enum TypeNode {
    /// The type of an element; `index` is `S64`.
    Element(ElementType),
    /// TF32, which no value has.
    Tf32,
    /// The type of a value.
    Value(Type),
    /// The type of a function.
    Function {
        /// The types of parameters.
        parameters: Vec<TypeId>,
        /// The types of results.
        results: Vec<TypeId>,
    },
    /// No type.
    None,
    /// A type that is not supported, in words.
    Other(String),
}

impl TypeNode {
    /// The type of a value.
    pub(super) fn value(&self, tables: &Tables<'_>) -> Result<Type, Error> {
        match self {
            TypeNode::Value(ty) => {
                tables.spend(ty.heap_size())?;
                Ok(ty.clone())
            }
            other => Err(other.unexpected("the type of a value")),
        }
    }

    /// A tensor type.
    pub(super) fn tensor(&self) -> Result<&TensorType, Error> {
        match self {
            TypeNode::Value(Type::Tensor(tensor)) => Ok(tensor),
            other => Err(other.unexpected("a tensor type")),
        }
    }

    /// An element type.
    pub(super) fn element(&self) -> Result<ElementType, Error> {
        match self {
            TypeNode::Element(element) => Ok(*element),
            other => Err(other.unexpected("an element type")),
        }
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> Error {
        match self {
            TypeNode::Other(words) => Error::unsupported(format!("{words} is not supported")),
            TypeNode::Value(ty) => Error::invalid(format!("expected {expected}, got {ty}")),
            TypeNode::Element(element) => Error::invalid(format!("expected {expected}, got {element}")),
            TypeNode::Function { .. } => Error::invalid(format!("expected {expected}, got a function type")),
            TypeNode::Tf32 => Error::unsupported("the type tf32 is not supported"),
            TypeNode::None => Error::invalid(format!("expected {expected}, got `none`")),
        }
    }
}

/// Decodes a type that lies in `depth` others.
pub(super) fn decode<'a>(tables: &Tables<'a>, entry: &Entry<'a>, depth: usize) -> Result<TypeNode, Error> {
    let mut cursor = entry.data.clone();
    if depth > MAX_DEPTH {
        return Err(cursor.error("types nest too deeply"));
    }
    if !entry.encoded {
        return Ok(TypeNode::Other(format!("type {}", String::from_utf8_lossy(cursor.null_terminated()?))));
    }
    let mut reader = Reader { tables, cursor: &mut cursor, depth: depth + 1 };
    match entry.dialect {
        "vhlo" => reader.vhlo(),
        "builtin" => reader.builtin(),
        "stablehlo" => reader.stablehlo(),
        dialect => Ok(TypeNode::Other(format!("a type of dialect `{dialect}`"))),
    }
}

/// The dynamic size of a dimension in MLIR; older versions had -1.
fn is_dynamic(size: i64) -> bool {
    size < 0
}

struct Reader<'r, 'a> {
    tables: &'r Tables<'a>,
    cursor: &'r mut Cursor<'a>,
    depth: usize,
}

impl Reader<'_, '_> {
    fn vhlo(&mut self) -> Result<TypeNode, Error> {
        let code = self.cursor.varint()?;
        if let Some(element) = bytecode::vhlo(code) {
            return Ok(TypeNode::Element(element));
        }
        Ok(match code {
            1 => return self.complex(),
            8 => return self.function(),
            9 => TypeNode::Element(ElementType::S64),
            20 => return self.tensor(None),
            21 => {
                let encoding = self.tables.read_attribute(self.cursor)?;
                return self.tensor(Some(encoding));
            }
            22 => TypeNode::Value(Type::Token),
            23 => return self.several(Type::Tuple, "a tuple"),
            24 | 30 => TypeNode::Other("a quantised type".into()),
            25 => TypeNode::Other("an unranked tensor".into()),
            26 => TypeNode::Other("a shape witness".into()),
            33 => TypeNode::None,
            34 => TypeNode::Tf32,
            41 => TypeNode::Other("a buffer".into()),
            42 => return self.several(Type::Future, "a future"),
            code => TypeNode::Other(format!("the type of VHLO with code {code}")),
        })
    }

    /// What VHLO has types for may keep those of StableHLO in the regions of Shardy's ops.
    fn stablehlo(&mut self) -> Result<TypeNode, Error> {
        Ok(match self.cursor.varint()? {
            0 => TypeNode::Value(Type::Token),
            code => TypeNode::Other(format!("the type of StableHLO with code {code}")),
        })
    }

    fn builtin(&mut self) -> Result<TypeNode, Error> {
        let code = self.cursor.varint()?;
        if let Some(element) = bytecode::builtin(code) {
            return Ok(TypeNode::Element(element));
        }
        Ok(match code {
            0 => return self.integer(),
            1 => TypeNode::Element(ElementType::S64),
            2 => return self.function(),
            9 => return self.complex(),
            12 => TypeNode::None,
            13 => return self.tensor(None),
            14 => {
                let encoding = self.tables.read_attribute(self.cursor)?;
                return self.tensor(Some(encoding));
            }
            15 => return self.several(Type::Tuple, "a tuple"),
            code => TypeNode::Other(format!("the builtin type with code {code}")),
        })
    }

    /// A builtin integer type: its width, and whether it is signless, signed or unsigned.
    fn integer(&mut self) -> Result<TypeNode, Error> {
        const UNSIGNED: u64 = 2;
        let code = self.cursor.varint()?;
        let (width, unsigned) = (code >> 2, code & 3 == UNSIGNED);
        let name = if unsigned { format!("ui{width}") } else { format!("i{width}") };
        let element = ElementType::from_name(&name).map(TypeNode::Element);
        Ok(element.unwrap_or_else(|| TypeNode::Other(format!("type {name}"))))
    }

    fn complex(&mut self) -> Result<TypeNode, Error> {
        Ok(match self.child()? {
            TypeNode::Element(ElementType::F32) => TypeNode::Element(ElementType::C64),
            TypeNode::Element(ElementType::F64) => TypeNode::Element(ElementType::C128),
            _ => TypeNode::Other("a complex type whose parts are neither f32 nor f64".into()),
        })
    }

    fn function(&mut self) -> Result<TypeNode, Error> {
        let tables = self.tables;
        let parameters = self.cursor.list(|cursor| tables.read_type(cursor))?;
        let results = self.cursor.list(|cursor| tables.read_type(cursor))?;
        Ok(TypeNode::Function { parameters, results })
    }

    /// A tensor; the encoding has the bounds of its dynamic dimensions.
    fn tensor(&mut self, encoding: Option<AttrId>) -> Result<TypeNode, Error> {
        let sizes = self.cursor.list(Cursor::signed)?;
        let element = match self.child()? {
            TypeNode::Element(element) => *element,
            TypeNode::Other(words) => return Ok(TypeNode::Other(format!("a tensor of {words}"))),
            other => return Err(other.unexpected("an element type")),
        };
        let bounds = match encoding.map(|id| self.tables.attribute(id)).transpose()? {
            Some(Node::Bounds(bounds)) => &bounds[..],
            _ => &[],
        };
        let mut tensor = TensorType::new(element, []);
        for (dim, &size) in sizes.iter().enumerate() {
            let bound = if is_dynamic(size) { bounds.get(dim).copied().unwrap_or(size) } else { size };
            if is_dynamic(bound) || is_dynamic(size) && !tensor.dynamic.insert(dim) {
                let text = sizes.iter().map(|&size| if is_dynamic(size) { "?x".into() } else { format!("{size}x") });
                let text = text.collect::<String>();
                return Ok(TypeNode::Other(format!("the dynamic shape tensor<{text}{element}> without bounds")));
            }
            let bound = usize::try_from(bound)
                .map_err(|_| self.cursor.error(format_args!("dimension {dim} is too large: {bound}")))?;
            tensor.dims.push(bound);
        }
        // The engine counts bytes in `isize`.
        let bytes = tensor.checked_count().and_then(|count| count.checked_mul(element.byte_width()));
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(Error::new(ErrorKind::TooLarge, format!("{tensor} does not fit in memory")));
        }
        Ok(TypeNode::Value(Type::Tensor(tensor)))
    }

    /// A tuple or future.
    fn several(&mut self, make: fn(Vec<Type>) -> Type, name: &str) -> Result<TypeNode, Error> {
        let tables = self.tables;
        let ids = self.cursor.list(|cursor| tables.read_type(cursor))?;
        let mut types = Vec::with_capacity(ids.len());
        for id in ids {
            match tables.type_at_depth(id, self.depth)? {
                TypeNode::Value(ty) => {
                    tables.spend(size_of::<Type>() + ty.heap_size())?;
                    types.push(ty.clone());
                }
                TypeNode::Other(words) => return Ok(TypeNode::Other(format!("{name} with {words}"))),
                other => return Err(other.unexpected("the type of a value")),
            }
        }
        Ok(TypeNode::Value(make(types)))
    }

    fn child(&mut self) -> Result<&TypeNode, Error> {
        let id = self.tables.read_type(self.cursor)?;
        self.tables.type_at_depth(id, self.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_elements_are_the_places_of_their_names() {
        // A tensor with an encoding has a code of its own after that of a tensor, but no name.
        let tensor = NAMES.iter().position(|name| *name == "tensor_v1").unwrap();
        for &element in ElementType::ALL.iter().filter(|element| !element.is_complex()) {
            let name = match element {
                ElementType::Pred => "bool_v1".to_owned(),
                _ => format!("{element}_v1"),
            };
            let place = NAMES.iter().position(|other| *other == name).unwrap();
            let code = place + usize::from(place > tensor);
            assert_eq!(bytecode::vhlo(code as u64), Some(element));
        }
    }
}
