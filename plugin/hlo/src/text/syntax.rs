//! The pretty forms of ops, as data that the parser and the printer share.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::{Attribute, BinaryOp, UnaryOp};

/// The value of an attribute of an op. Those that StableHLO defines have cases of their own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    /// Any other.
    Attribute(Attribute),
    /// `array<i64: 1, 2>`.
    Ints(Vec<i64>),
    /// `dense<[[1, 2]]> : tensor<1x2xi64>`.
    Pairs(Vec<[i64; 2]>),
    /// `dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>`: shorter rows are filled up.
    Rows(Vec<Vec<i64>>),
    /// `array<i1: true>`.
    Bools(Vec<bool>),
    /// `#stablehlo<precision HIGH>`.
    Enum(&'static str, &'a str),
    /// `[#stablehlo<precision HIGH>]`.
    Enums(&'static str, Vec<&'a str>),
    /// `#stablehlo.dot<lhs_contracting_dimensions = [1]>`.
    Struct(&'static str, Fields<'a>),
    /// `[#stablehlo.output_operand_alias<...>]`.
    Structs(&'static str, Vec<Fields<'a>>),
}

impl Value<'_> {
    /// The attribute, if it is not one that StableHLO defines.
    pub(crate) fn into_attribute(self) -> Option<Attribute> {
        match self {
            Value::Attribute(attribute) => Some(attribute),
            _ => None,
        }
    }
}

/// The parameters of a [`Value::Struct`].
pub(crate) type Fields<'a> = Vec<(&'a str, Field<'a>)>;

/// A parameter of a [`Value::Struct`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Field<'a> {
    /// `1`.
    Int(i64),
    /// `[1, 2]`.
    Ints(Vec<i64>),
    /// `true`, `bf16`, ...
    Word(&'a str),
}

/// How an op is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// In generic form only.
    Generic,
    /// As these pieces, in order.
    Pieces(&'static [Piece]),
    /// `stablehlo.constant dense<...> : tensor<...>`.
    Constant,
    /// `stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0] : ...`.
    Reduce,
    /// `stablehlo.while(%arg0 = %a) : ... cond {...} do {...}`.
    While,
    /// `stablehlo.custom_call @target(%a) {...} : ...`.
    CustomCall,
    /// `stablehlo.composite "name" %a {...} : ...`.
    Composite,
    /// `func.call @f(%a) : ...`.
    Call,
    /// `sdy.manual_computation(%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%arg0: ...) {...} : ...`.
    ManualComputation,
}

/// A piece of a pretty form. Strings in it name attributes, unless said otherwise.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece {
    /// A keyword or punctuation.
    Text(&'static str),
    /// The operands, with commas between.
    Operands,
    /// The operands in parentheses.
    Arguments,
    /// `[1, 2]`.
    Ints(&'static str),
    /// `1`.
    Int(&'static str),
    /// `true`.
    Bool(&'static str),
    /// `"a string"`.
    Quoted(&'static str),
    /// `HIGH`; then the name of the enum.
    Enum(&'static str, &'static str),
    /// `[HIGH, HIGH]`; then the name of the enum.
    Enums(&'static str, &'static str),
    /// `[0] x [1]`: two fields of the dimension numbers of a dot product.
    DotDims(&'static str, &'static str),
    /// `<lhs_precision_type = tf32, ...>`.
    DotAlgorithm,
    /// `[b, 0, f]x[0, i, o]->[b, 0, f]`.
    ConvolutionDims,
    /// `{stride = [1], pad = [[0, 0]], ...}`.
    ConvolutionWindow,
    /// `[0:4:2, 1:3]`.
    SliceRanges,
    /// `e5m10`.
    ExponentMantissa,
    /// Pieces that are there only if the attribute (or the field of one) is; they begin with text.
    Optional(&'static str, &'static [Piece]),
    /// `<@mesh, [{"x"}, {}]>`.
    Sharding(&'static str),
    /// `{...}`: the attributes that no other piece says, if there are any.
    Attributes,
    /// `: types`.
    Types(Signature),
}

/// How the types of an op are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    /// `(operands) -> results`.
    Full,
    /// One type, which all operands and the result have; otherwise as `Full`.
    Same,
    /// The type of the predicate, and that of the others; otherwise as `Full`.
    Select,
    /// The type of the result, whose real type the operands have; otherwise as `Full`.
    Complex,
    /// The type of the tuple of operands.
    Tuple,
    /// The types of operands, and of results.
    Pairwise,
    /// `operand, operand -> results`.
    Arrow,
}

use Piece::{
    Arguments, Attributes, Bool, ConvolutionDims, ConvolutionWindow, DotAlgorithm, DotDims, Enum, Enums,
    ExponentMantissa, Int, Ints, Operands, Optional, Quoted, Sharding, SliceRanges, Text, Types,
};

const SAME: Form = Form::Pieces(&[Operands, Attributes, Types(Signature::Same)]);
const FULL: Form = Form::Pieces(&[Operands, Attributes, Types(Signature::Full)]);
const ARROW: Form = Form::Pieces(&[Operands, Attributes, Types(Signature::Arrow)]);

/// `%a, keyword = attribute : types`.
macro_rules! with_attribute {
    ($keyword:literal, $piece:expr, $signature:ident) => {
        Form::Pieces(&[
            Operands,
            Text(","),
            Text($keyword),
            Text("="),
            $piece,
            Attributes,
            Types(Signature::$signature),
        ])
    };
}

/// `, keyword = attribute`, if the attribute is there.
macro_rules! optional {
    ($name:literal, $keyword:literal, $piece:expr) => {
        Optional($name, &[Text(","), Text($keyword), Text("="), $piece])
    };
}

/// The pretty forms, but those of element-wise functions.
const FORMS: &[(&str, Form)] = &[
    ("stablehlo.constant", Form::Constant),
    ("chlo.constant", Form::Constant),
    (
        "stablehlo.iota",
        Form::Pieces(&[Text("dim"), Text("="), Int("iota_dimension"), Attributes, Types(Signature::Same)]),
    ),
    (
        "stablehlo.compare",
        Form::Pieces(&[
            Enum("comparison_direction", "comparison_direction"),
            Text(","),
            Operands,
            Optional("compare_type", &[Text(","), Enum("compare_type", "comparison_type")]),
            Attributes,
            Types(Signature::Full),
        ]),
    ),
    ("stablehlo.select", Form::Pieces(&[Operands, Attributes, Types(Signature::Select)])),
    ("stablehlo.clamp", SAME),
    ("stablehlo.convert", SAME),
    ("stablehlo.bitcast_convert", FULL),
    ("stablehlo.reduce_precision", with_attribute!("format", ExponentMantissa, Same)),
    ("stablehlo.complex", Form::Pieces(&[Operands, Attributes, Types(Signature::Complex)])),
    ("stablehlo.broadcast_in_dim", with_attribute!("dims", Ints("broadcast_dimensions"), Full)),
    ("stablehlo.broadcast", with_attribute!("sizes", Ints("broadcast_sizes"), Full)),
    ("stablehlo.reshape", FULL),
    ("stablehlo.transpose", with_attribute!("dims", Ints("permutation"), Full)),
    ("stablehlo.slice", Form::Pieces(&[Operands, SliceRanges, Attributes, Types(Signature::Full)])),
    ("stablehlo.dynamic_slice", with_attribute!("sizes", Ints("slice_sizes"), Full)),
    ("stablehlo.dynamic_update_slice", FULL),
    ("stablehlo.dynamic_broadcast_in_dim", with_attribute!("dims", Ints("broadcast_dimensions"), Full)),
    ("stablehlo.dynamic_iota", with_attribute!("dim", Int("iota_dimension"), Full)),
    ("stablehlo.dynamic_pad", FULL),
    ("stablehlo.dynamic_reshape", FULL),
    ("stablehlo.real_dynamic_slice", FULL),
    ("stablehlo.set_dimension_size", with_attribute!("dim", Int("dimension"), Full)),
    ("stablehlo.einsum", with_attribute!("config", Quoted("einsum_config"), Full)),
    ("stablehlo.unary_einsum", with_attribute!("config", Quoted("einsum_config"), Full)),
    (
        "stablehlo.pad",
        Form::Pieces(&[
            Operands,
            Text(","),
            Text("low"),
            Text("="),
            Ints("edge_padding_low"),
            Text(","),
            Text("high"),
            Text("="),
            Ints("edge_padding_high"),
            Text(","),
            Text("interior"),
            Text("="),
            Ints("interior_padding"),
            Attributes,
            Types(Signature::Full),
        ]),
    ),
    ("stablehlo.concatenate", with_attribute!("dim", Int("dimension"), Full)),
    ("stablehlo.reverse", with_attribute!("dims", Ints("dimensions"), Same)),
    ("stablehlo.reduce", Form::Reduce),
    ("stablehlo.while", Form::While),
    (
        "chlo.top_k",
        Form::Pieces(&[
            Text("("),
            Operands,
            Text(","),
            Text("k"),
            Text("="),
            Int("k"),
            optional!("largest", "largest", Bool("largest")),
            Text(")"),
            Attributes,
            Types(Signature::Arrow),
        ]),
    ),
    (
        "stablehlo.dot",
        Form::Pieces(&[
            Operands,
            optional!("precision_config", "precision", Enums("precision_config", "precision")),
            Attributes,
            Types(Signature::Full),
        ]),
    ),
    (
        "stablehlo.dot_general",
        Form::Pieces(&[
            Operands,
            optional!(
                "lhs_batching_dimensions",
                "batching_dims",
                DotDims("lhs_batching_dimensions", "rhs_batching_dimensions")
            ),
            Text(","),
            Text("contracting_dims"),
            Text("="),
            DotDims("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
            optional!("precision_config", "precision", Enums("precision_config", "precision")),
            optional!("algorithm", "algorithm", DotAlgorithm),
            Attributes,
            Types(Signature::Full),
        ]),
    ),
    (
        "stablehlo.convolution",
        Form::Pieces(&[
            Arguments,
            Text("dim_numbers"),
            Text("="),
            ConvolutionDims,
            Text(","),
            Text("window"),
            Text("="),
            ConvolutionWindow,
            Attributes,
            Types(Signature::Full),
        ]),
    ),
    (
        "stablehlo.fft",
        Form::Pieces(&[
            Operands,
            Text(","),
            Text("type"),
            Text("="),
            Enum("fft_type", "fft_type"),
            Text(","),
            Text("length"),
            Text("="),
            Ints("fft_length"),
            Attributes,
            Types(Signature::Full),
        ]),
    ),
    (
        "stablehlo.cholesky",
        Form::Pieces(&[Operands, optional!("lower", "lower", Bool("lower")), Attributes, Types(Signature::Same)]),
    ),
    ("stablehlo.rng", with_attribute!("distribution", Enum("rng_distribution", "rng_distribution"), Full)),
    ("stablehlo.rng_bit_generator", with_attribute!("algorithm", Enum("rng_algorithm", "rng_algorithm"), Full)),
    ("func.call", Form::Call),
    ("stablehlo.composite", Form::Composite),
    ("stablehlo.custom_call", Form::CustomCall),
    ("stablehlo.optimization_barrier", Form::Pieces(&[Operands, Attributes, Types(Signature::Pairwise)])),
    ("stablehlo.tuple", Form::Pieces(&[Operands, Attributes, Types(Signature::Tuple)])),
    (
        "stablehlo.get_tuple_element",
        Form::Pieces(&[Operands, Text("["), Int("index"), Text("]"), Attributes, Types(Signature::Full)]),
    ),
    ("stablehlo.after_all", SAME),
    ("stablehlo.create_token", SAME),
    ("stablehlo.get_dimension_size", with_attribute!("dim", Int("dimension"), Full)),
    ("stablehlo.partition_id", SAME),
    ("stablehlo.replica_id", SAME),
    ("sdy.sharding_constraint", Form::Pieces(&[Operands, Sharding("sharding"), Attributes, Types(Signature::Same)])),
    ("sdy.manual_computation", Form::ManualComputation),
];

/// The form of the op of this name; `Generic` if it has no other.
pub(crate) fn form(name: &str) -> Form {
    static TABLE: LazyLock<HashMap<&str, Form>> = LazyLock::new(|| {
        let unary = UnaryOp::ALL.iter().map(|op| op.name());
        let binary = BinaryOp::ALL.iter().map(|op| op.name());
        let element_wise = unary.chain(binary).map(|name| (name, if name.starts_with("chlo.") { ARROW } else { SAME }));
        element_wise.chain(FORMS.iter().copied()).collect()
    });
    // CHLO's functions of two operands that broadcast them.
    let broadcasting = name.starts_with("chlo.broadcast_");
    TABLE.get(name).copied().unwrap_or(if broadcasting { FULL } else { Form::Generic })
}
