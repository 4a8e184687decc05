//! The macro that reads the table of ops.

/// Defines `OpKind` with the methods that differ by op, and `TABLE`. An entry is a variant with its documentation and
/// fields, `=>`, the op's name in MLIR, and columns in this order:
///
/// * `bytecode`: its versions, each with its attributes and regions;
/// * `text`: its pretty form; generic if left out;
/// * `ignored`: attributes in text that change nothing;
/// * `read` and `write`: from attributes to the kind, and back from the fields. They follow from the fields if each is
///   `= codec(attribute, ...)`: `codec` is a method of `dyn Source`, and one of `Attributes`, which takes the field
///   last;
/// * `hlo` and `write_hlo`: its instruction of HLO, how it is read, and its fields, if it is written;
/// * `rule`: the types of the results.
macro_rules! ops {
    ($(
        $(#[$doc:meta])*
        $variant:ident
        $({$(
            $(#[$field_doc:meta])*
            $field:ident: $field_type:ty $(= $codec:ident($($argument:expr),*))?,
        )*})?
        $(($(
            $item:ident: $item_type:ty $(= $item_codec:ident($($item_argument:expr),*))?
        ),*))?
        => $name:literal {
            $(bytecode: $bytecode:expr,)?
            $(text: $text:expr,)?
            $(ignored: $ignored:expr,)?
            $(read: $read:expr,)?
            $(write: |$out:ident| $write:expr,)?
            $(hlo: $hlo:expr,)?
            $(write_hlo: |$fields:ident| $write_hlo:expr,)?
            rule: |$cx:ident| $rule:expr,
        }
    )*) => {
        /// What an op does, with its attributes. Operands and results are in the order of the specification.
        #[derive(Debug, Clone, PartialEq)]
        pub enum OpKind {
            /// Element-wise, one operand.
            Unary(UnaryOp),
            /// Element-wise, two operands of one type.
            Binary(BinaryOp),
            $(
                $(#[$doc])*
                $variant $({$($(#[$field_doc])* $field: $field_type,)*})? $(($($item_type),*))?,
            )*
        }

        /// The entries, in order.
        pub(super) static TABLE: &[OpDef] = &[$(OpDef {
            $(bytecode: $bytecode,)?
            $(text: $text,)?
            $(ignored: $ignored,)?
            $(hlo: Some($hlo),)?
            ..OpDef::new($name, reader!(
                [$($read)?] $variant
                $({$($field: $($codec($($argument),*))?,)*})?
                $(($($item: $($item_codec($($item_argument),*))?,)*))?
            ))
        },)*];

        /// The number of an entry.
        #[derive(Clone, Copy)]
        enum Entry {
            $($variant,)*
        }

        impl OpKind {
            /// The name in MLIR: `stablehlo.add`.
            pub fn name(&self) -> &'static str {
                self.def().name
            }

            /// The entry of the table.
            pub(crate) fn def(&self) -> &'static OpDef {
                let entry = match self {
                    OpKind::Unary(op) => return op.def(),
                    OpKind::Binary(op) => return op.def(),
                    $(OpKind::$variant { .. } => Entry::$variant,)*
                };
                &TABLE[entry as usize]
            }

            /// Adds the attributes. Those that have their default are left out where the pretty form leaves them out.
            #[allow(unused_variables, reason = "writers name the fields that they use")]
            pub(crate) fn write<'m>(&'m self, attributes: &mut Attributes<'m>) {
                match self {
                    OpKind::Unary(_) | OpKind::Binary(_) => {}
                    $(OpKind::$variant $({$($field,)*})? $(($($item),*))? => writer!(
                        attributes [$($out, $write)?]
                        $($($field: $($codec($($argument),*))?,)*)? $($($item: $($item_codec($($item_argument),*))?,)*)?
                    ),)*
                }
            }

            /// Adds the fields of the instruction of HLO that the op is; `None` if it is not written as one.
            #[allow(unused_variables, reason = "writers name the fields that they use")]
            pub(crate) fn write_hlo(&self, fields: &mut oxcall_proto::Writer) -> Option<()> {
                match self {
                    OpKind::Unary(op) if op.is_written_to_hlo() => {}
                    OpKind::Binary(op) if op.is_written_to_hlo() => {}
                    OpKind::Unary(_) | OpKind::Binary(_) => return None,
                    $(OpKind::$variant $({$($field,)*})? $(($($item),*))? => {
                        hlo_writer!(fields [$($fields, $write_hlo)?])
                    })*
                }
                Some(())
            }

            /// Checks the constraints of the op, and gives the types of its results.
            #[allow(unused_variables, reason = "rules name the fields that they use")]
            pub(crate) fn rule(&self, signature: crate::Signature<'_>) -> Result<Vec<Type>, Error> {
                match self {
                    OpKind::Unary(op) => verify::elementwise::unary(signature, *op),
                    OpKind::Binary(op) => verify::elementwise::binary(signature, *op),
                    $(OpKind::$variant $({$($field,)*})? $(($($item),*))? => {
                        let $cx = signature;
                        $rule
                    })*
                }
            }
        }
    };
}

/// The function that reads an op: the one that is given, or one that reads the fields one by one.
macro_rules! reader {
    ([$read:expr] $($fields:tt)*) => {
        $read
    };
    ([] $variant:ident) => {
        |_| Ok(OpKind::$variant)
    };
    ([] $variant:ident {$($field:ident: $codec:ident($($argument:expr),*),)*}) => {
        |op| Ok(OpKind::$variant { $($field: op.$codec($($argument),*)?,)* })
    };
    ([] $variant:ident ($($item:ident: $codec:ident($($argument:expr),*),)*)) => {
        |op| Ok(OpKind::$variant($(op.$codec($($argument),*)?),*))
    };
}

/// Writes the fields of an op: as is said, or one by one.
macro_rules! writer {
    ($attributes:ident [$out:ident, $write:expr] $($fields:tt)*) => {{
        let $out = $attributes;
        $write;
    }};
    ($attributes:ident [] $($field:ident: $codec:ident($($argument:expr),*),)*) => {{
        $($attributes.$codec($($argument,)* $field);)*
    }};
}

/// Writes the fields of an instruction, if they are said.
macro_rules! hlo_writer {
    ($target:ident [$fields:ident, $write:expr]) => {{
        let $fields = $target;
        $write;
    }};
    ($target:ident []) => {
        return None
    };
}

pub(super) use hlo_writer;
pub(super) use ops;
pub(super) use reader;
pub(super) use writer;
