//! Patterns as source text.

use std::fmt;

use crate::descriptor::{DimExpr, DimOp, DimPattern};

/// The dimension pattern of a parameter; displays as it is written in `#[dims(...)]`.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'a>(pub &'a [DimPattern]);

impl<'a> Pattern<'a> {
    /// The expressions of single dimensions.
    pub(crate) fn exprs(self) -> impl Iterator<Item = &'a DimExpr> {
        self.0.iter().filter_map(|token| match token {
            DimPattern::Dim(expr) => Some(expr),
            DimPattern::Any | DimPattern::List(_) => None,
        })
    }

    /// Calls `f` with every name in the order of the text, repetitions included.
    pub(super) fn for_each_name(&self, f: &mut dyn FnMut(&'static str)) {
        fn visit(expr: &DimExpr, f: &mut dyn FnMut(&'static str)) {
            match *expr {
                DimExpr::Wildcard | DimExpr::Const(_) => {}
                DimExpr::Name(name) => f(name),
                DimExpr::Binary(_, left, right) => {
                    visit(left, f);
                    visit(right, f);
                }
            }
        }
        for token in self.0 {
            match token {
                DimPattern::Any => {}
                DimPattern::List(name) => f(name),
                DimPattern::Dim(expr) => visit(expr, f),
            }
        }
    }
}

impl fmt::Display for Pattern<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, token) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            match token {
                DimPattern::Any => f.write_str("..")?,
                DimPattern::List(name) => write!(f, "..{name}")?,
                DimPattern::Dim(expr) => write!(f, "{expr}")?,
            }
        }
        Ok(())
    }
}

impl DimOp {
    /// How strongly the operator binds.
    fn precedence(self) -> u8 {
        match self {
            DimOp::Add | DimOp::Sub => 1,
            DimOp::Mul | DimOp::Div | DimOp::Rem => 2,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            DimOp::Add => "+",
            DimOp::Sub => "-",
            DimOp::Mul => "*",
            DimOp::Div => "/",
            DimOp::Rem => "%",
        }
    }
}

/// Displays the expression as source text, with no more parentheses than needed to parse to the same tree.
impl fmt::Display for DimExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Writes `expr`, in parentheses if its operator binds less strongly than `least`.
        fn operand(f: &mut fmt::Formatter<'_>, expr: &DimExpr, least: u8) -> fmt::Result {
            match expr {
                DimExpr::Binary(op, ..) if op.precedence() < least => write!(f, "({expr})"),
                _ => write!(f, "{expr}"),
            }
        }
        match self {
            DimExpr::Wildcard => f.write_str("_"),
            DimExpr::Const(value) => write!(f, "{value}"),
            DimExpr::Name(name) => f.write_str(name),
            DimExpr::Binary(op, left, right) => {
                operand(f, left, op.precedence())?;
                write!(f, " {} ", op.symbol())?;
                // All operators group to the left, so an equal one on the right keeps its parentheses.
                operand(f, right, op.precedence() + 1)
            }
        }
    }
}
