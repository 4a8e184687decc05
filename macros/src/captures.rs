//! Names in the body of a function of numbers that it does not bind. The compiler would advise a closure, which cannot
//! be an operation.

use std::collections::HashSet;

use proc_macro2::Ident;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprCall, Item, ItemFn, PatIdent, UseName, UseRename};

use crate::errors::Errors;
use crate::messages;

/// Refuses names that are neither parameters nor bound in the body, in any part of it.
pub(crate) fn check(function: &ItemFn, errors: &mut Errors) {
    let mut bound = Bound(HashSet::new());
    let mut function = function.clone();
    visit_mut::visit_item_fn_mut(&mut bound, &mut function);
    Captures { function: &function.sig.ident, bound: bound.0, errors }.visit_block_mut(&mut function.block);
}

/// The names that patterns and items bind.
struct Bound(HashSet<String>);

impl VisitMut for Bound {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        self.0.insert(pat.ident.to_string());
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        let name = match item {
            Item::Fn(item) => &item.sig.ident,
            Item::Const(item) => &item.ident,
            Item::Static(item) => &item.ident,
            _ => return visit_mut::visit_item_mut(self, item),
        };
        self.0.insert(name.to_string());
    }

    fn visit_use_name_mut(&mut self, name: &mut UseName) {
        self.0.insert(name.ident.to_string());
    }

    fn visit_use_rename_mut(&mut self, name: &mut UseRename) {
        self.0.insert(name.rename.to_string());
    }
}

struct Captures<'a> {
    function: &'a Ident,
    bound: HashSet<String>,
    errors: &'a mut Errors,
}

impl VisitMut for Captures<'_> {
    /// Items have names of their own.
    fn visit_item_mut(&mut self, _: &mut Item) {}

    /// What is called is a function, wherever it is.
    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        if !matches!(*call.func, Expr::Path(_)) {
            self.visit_expr_mut(&mut call.func);
        }
        call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let name = if let Expr::Path(path) = &*expr { path.path.get_ident() } else { None };
        let Some(name) = name.map(ToString::to_string) else { return visit_mut::visit_expr_mut(self, expr) };
        // Constants are in upper case, and so are variants.
        let is_variable = name.starts_with(|first: char| first.is_lowercase()) && name != "self";
        if is_variable && !self.bound.contains(&name) {
            self.errors.push(&*expr, messages::pointwise_capture(&name, self.function));
        }
    }
}
