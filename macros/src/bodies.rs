//! Mistakes in the body of a function of numbers that the compiler would refuse without saying what to write: branches
//! and comparisons of numbers, loops over them, and attributes of other types beside them.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, ExprBinary, ExprClosure, ExprMethodCall, Local, Pat, PatIdent, Stmt, Type};

use crate::errors::Errors;
use crate::{messages, types};

/// What a function's operands are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Single elements.
    Elements,
    /// Rows, and numbers of rows.
    Rows,
}

/// Refuses such mistakes, given the operands and the attributes.
pub(crate) fn check<'a>(
    block: &Block,
    operands: &[Ident],
    attrs: impl Iterator<Item = (&'a Ident, &'a Type)>,
    form: Form,
    errors: &mut Errors,
) {
    let narrow = attrs.filter_map(|(ident, ty)| Some((ident.clone(), types::name(ty)?)));
    let narrow = narrow.filter(|(_, ty)| OTHER_NUMBERS.contains(&ty.as_str())).collect();
    Body { names: Names { numbers: operands.to_vec(), narrow }, form, errors }.visit_block_mut(&mut block.clone());
}

/// Types of attributes that do not go together with numbers.
const OTHER_NUMBERS: &[&str] =
    &["f32", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize", "isize", "f16", "bf16"];

/// What names stand for at a place in the body.
#[derive(Clone)]
struct Names {
    /// Operands, and what is computed from them.
    numbers: Vec<Ident>,
    /// Attributes of other types than `f64`, with these.
    narrow: Vec<(Ident, String)>,
}

impl Names {
    /// Forgets names that a pattern gives to something else.
    fn shadow(&mut self, pattern: &Pat) {
        struct Bound<'a>(&'a mut Names);
        impl VisitMut for Bound<'_> {
            fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
                self.0.numbers.retain(|name| *name != pat.ident);
                self.0.narrow.retain(|(name, _)| *name != pat.ident);
                visit_mut::visit_pat_ident_mut(self, pat);
            }
        }
        Bound(self).visit_pat_mut(&mut pattern.clone());
    }

    /// Whether an expression is a number, or a mask, by its form: operators and methods of one.
    fn is_number(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => self.numbers.iter().any(|name| path.path.is_ident(name)),
            Expr::Paren(inner) => self.is_number(&inner.expr),
            Expr::Unary(unary) => self.is_number(&unary.expr),
            Expr::Binary(binary) => self.is_number(&binary.left) || self.is_number(&binary.right),
            Expr::MethodCall(call) => self.is_number(&call.receiver),
            Expr::If(branch) => self.ends_in_number(&branch.then_branch),
            Expr::Block(block) => self.ends_in_number(&block.block),
            _ => false,
        }
    }

    fn ends_in_number(&self, block: &Block) -> bool {
        matches!(block.stmts.last(), Some(Stmt::Expr(expr, None)) if self.is_number(expr))
    }
}

struct Body<'a> {
    names: Names,
    form: Form,
    errors: &'a mut Errors,
}

impl Body<'_> {
    /// The number that a condition names.
    fn named(&self, condition: &Expr) -> Option<&Ident> {
        fn find(tokens: TokenStream, number: &Ident) -> bool {
            tokens.into_iter().any(|token| match token {
                TokenTree::Ident(found) => found == *number,
                TokenTree::Group(group) => find(group.stream(), number),
                _ => false,
            })
        }
        self.names.numbers.iter().find(|number| find(condition.to_token_stream(), number))
    }

    fn branch(&mut self, keyword: &str, condition: &Expr) -> bool {
        let Some(name) = self.named(condition) else { return false };
        let mask = match condition {
            Expr::Binary(binary) if comparison(&binary.op).is_some() => compared(binary),
            condition if self.names.is_number(condition) => types::text(condition),
            _ => format!("{name}.less(0.0)"),
        };
        let message = match self.form {
            Form::Elements => messages::pointwise_branch(keyword, name, mask),
            Form::Rows => messages::rowwise_branch(keyword, name, mask),
        };
        self.errors.push(condition, message);
        true
    }

    /// Refuses a use of a number as a collection: of a row's single elements, or of an element's neighbours.
    fn elements(&mut self, of: &Expr, whole: &dyn ToTokens) -> bool {
        let Expr::Path(path) = of else { return false };
        let Some(name) = self.names.numbers.iter().find(|name| path.path.is_ident(*name)) else { return false };
        let message = match self.form {
            Form::Elements => messages::pointwise_elements(name),
            Form::Rows => messages::rowwise_elements(name),
        };
        self.errors.push(whole.to_token_stream(), message);
        true
    }

    fn comparison(&mut self, binary: &ExprBinary) -> bool {
        let is_number = [&binary.left, &binary.right].iter().any(|side| self.names.is_number(side));
        let is_refused = is_number && comparison(&binary.op).is_some();
        if is_refused {
            self.errors.push(binary, messages::pointwise_comparison(compared(binary)));
        }
        is_refused
    }

    /// Refuses a method that other libraries have under this name.
    fn misnamed(&mut self, call: &ExprMethodCall) -> bool {
        // Rows have `max()`.
        let found = NAMES.iter().find(|(name, _, takes)| call.method == name && call.args.len() == *takes);
        let Some((name, ours, _)) = found.filter(|_| self.names.is_number(&call.receiver)) else { return false };
        self.errors.push(&call.method, messages::pointwise_method(name, ours));
        true
    }

    /// Refuses an attribute of another type beside a number.
    fn narrow(&mut self, binary: &ExprBinary) -> bool {
        let (left, right) = (&*binary.left, &*binary.right);
        let pair = [(left, right), (right, left)].into_iter().find(|(number, _)| self.names.is_number(number));
        let Some((_, Expr::Path(other))) = pair else { return false };
        let found = self.names.narrow.iter().find(|(name, _)| other.path.is_ident(name));
        let Some((name, ty)) = found else { return false };
        let convert = match ty.as_str() {
            "i64" | "u64" | "usize" | "isize" => format!("{name} as f64"),
            _ => format!("f64::from({name})"),
        };
        self.errors.push(other, messages::pointwise_number(name, ty, convert));
        true
    }
}

impl VisitMut for Body<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let outside = self.names.clone();
        visit_mut::visit_block_mut(self, block);
        self.names = outside;
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        visit_mut::visit_local_mut(self, local);
        let is_number = local.init.as_ref().is_some_and(|init| self.names.is_number(&init.expr));
        self.names.shadow(&local.pat);
        let pattern = if let Pat::Type(typed) = &local.pat { &*typed.pat } else { &local.pat };
        if let (Pat::Ident(pat), true) = (pattern, is_number) {
            self.names.numbers.push(pat.ident.clone());
        }
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        let outside = self.names.clone();
        closure.inputs.iter().for_each(|input| self.names.shadow(input));
        visit_mut::visit_expr_closure_mut(self, closure);
        self.names = outside;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_refused = match expr {
            Expr::If(expr) => self.branch("if", &expr.cond),
            Expr::While(expr) => self.branch("while", &expr.cond),
            Expr::Match(expr) => self.branch("match", &expr.expr),
            Expr::ForLoop(expr) => self.elements(&expr.expr, &expr.expr),
            Expr::Index(index) => self.elements(&index.expr, index),
            Expr::MethodCall(call) if ITERATIONS.iter().any(|name| call.method == name) => {
                self.elements(&call.receiver, call)
            }
            Expr::MethodCall(call) => self.misnamed(call),
            Expr::Binary(binary) => self.comparison(binary) || self.narrow(binary),
            _ => false,
        };
        if !is_refused {
            visit_mut::visit_expr_mut(self, expr);
        }
    }
}

/// Methods by which one would go through the elements of a collection.
const ITERATIONS: &[&str] = &["iter", "into_iter", "map", "fold", "windows", "chunks", "get"];

/// Names of functions in other libraries, ours, and how many arguments they take.
const NAMES: &[(&str, &str, usize)] = &[
    ("max", "maximum", 1),
    ("min", "minimum", 1),
    ("log1p", "ln_1p", 0),
    ("expm1", "exp_m1", 0),
    ("sigmoid", "logistic", 0),
    ("log", "ln", 0),
    ("sign", "signum", 0),
    ("rsqrt", "sqrt().recip", 0),
];

/// A comparison by an operator, as one by a method.
fn compared(binary: &ExprBinary) -> String {
    let [left, right] = [&binary.left, &binary.right].map(types::text);
    let not = if matches!(binary.op, BinOp::Ne(_)) { "!" } else { "" };
    format!("{not}{left}.{}({right})", comparison(&binary.op).unwrap_or_default())
}

/// The method that compares elements as an operator does.
fn comparison(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Lt(_) => "less",
        BinOp::Le(_) => "less_equal",
        BinOp::Gt(_) => "greater",
        BinOp::Ge(_) => "greater_equal",
        BinOp::Eq(_) => "equal",
        BinOp::Ne(_) => "equal",
        _ => return None,
    })
}
