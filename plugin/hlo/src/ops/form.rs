//! Pretty forms of ops, as data that the parser and the printer share.

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
    /// Keywords and punctuation, with spaces between.
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

/// The form of these pieces, the other attributes, and the types, whose signature comes first.
macro_rules! pieces {
    ($signature:ident: $($piece:expr),*) => {{
        #[allow(unused_imports, clippy::enum_glob_use, reason = "a form has some of the pieces")]
        use $crate::ops::form::Piece::*;
        $crate::ops::form::Form::Pieces(&[$($piece,)* Attributes, Types($crate::ops::form::Signature::$signature)])
    }};
}
pub(super) use pieces;

/// `%a, %b : types`.
pub(super) const SAME: Form = pieces!(Same: Operands);
pub(super) const FULL: Form = pieces!(Full: Operands);
pub(super) const ARROW: Form = pieces!(Arrow: Operands);
