//! The printer: modules as MLIR text, which the parser of this crate and MLIR's own read.

mod attributes;
mod literals;
mod locations;
mod ops;
mod pretty;
mod sharding;

use std::fmt::{self, Write};

use self::attributes::dictionary;
use self::locations::Locations;
use crate::ops::{Attributes, Value};
use crate::text::lexer::is_word;
use crate::{Attribute, Func, Module, Op, OpKind, Region, Type, ValueId};

/// The program as MLIR text, without source locations.
pub fn print_module(module: &Module) -> String {
    print(module, None)
}

/// The program as MLIR text, each op with its source location.
pub fn print_module_with_locations(module: &Module) -> String {
    print(module, Some(Locations::new(module)))
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_module(self))
    }
}

/// An attribute as text.
pub(crate) fn attribute_text(attribute: &Attribute) -> String {
    attributes::attribute(attribute)
}

/// The attributes of an op as text, in generic form.
pub(crate) fn attributes_text(kind: &OpKind, module: &Module) -> String {
    attributes::op_dictionary(op_attributes(kind, module).entries.iter())
}

/// The attributes of an op, by name.
type Entries<'m> = [(&'m str, Value<'m>)];

/// The attributes of an op.
fn op_attributes<'m>(kind: &'m OpKind, module: &'m Module) -> Attributes<'m> {
    let mut attributes = Attributes::new(module);
    kind.write(&mut attributes);
    attributes
}

fn print<'m>(module: &'m Module, locations: Option<Locations<'m>>) -> String {
    let mut printer = Printer {
        module,
        out: String::new(),
        indent: 0,
        func: module.main(),
        names: Vec::new(),
        params: 0,
        results: 0,
        locations,
    };
    printer.module();
    printer.out
}

/// What a value is called.
#[derive(Debug, Clone, Copy)]
enum Name {
    /// `%arg0`.
    Param(usize),
    /// `%0`.
    Result(usize),
    /// `%0#1`.
    ResultOf(usize, usize),
}

/// The text so far, and what the names in it mean.
struct Printer<'m> {
    module: &'m Module,
    out: String,
    indent: usize,
    /// The function that is printed.
    func: &'m Func,
    /// The names of its values.
    names: Vec<Option<Name>>,
    /// How many parameters have names.
    params: usize,
    /// How many ops have names for their results.
    results: usize,
    /// Where locations are collected, if they are printed.
    locations: Option<Locations<'m>>,
}

/// Appends formatted text. Writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($argument:tt)*) => {{
        let _ = std::fmt::Write::write_fmt(&mut $printer.out, format_args!($($argument)*));
    }};
}
use put;

impl<'m> Printer<'m> {
    fn module(&mut self) {
        self.out.push_str("module");
        if !self.module.name.is_empty() {
            put!(self, " {}", symbol(&self.module.name));
        }
        if !self.module.attributes.is_empty() {
            put!(self, " attributes {}", dictionary(&self.module.attributes));
        }
        self.out.push_str(" {");
        self.indent += 1;
        for (name, mesh) in &self.module.meshes {
            self.line();
            put!(self, "sdy.mesh {} = <{mesh}>", symbol(name));
        }
        for func in &self.module.funcs {
            self.function(func);
        }
        self.indent -= 1;
        self.out.push_str("\n}\n");
        if let Some(locations) = &self.locations {
            self.out.push_str(&locations.definitions());
        }
    }

    /// A new line, indented.
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.indent));
    }

    fn function(&mut self, func: &'m Func) {
        self.func = func;
        self.names = vec![None; func.values.len()];
        (self.params, self.results) = (0, 0);
        self.line();
        put!(self, "func.func {} {}(", if func.public { "public" } else { "private" }, symbol(&func.name));
        let none = Vec::new();
        for (index, &param) in func.body.params.iter().enumerate() {
            self.separate(index);
            let name = self.name_param(param);
            let attributes = func.param_attributes.get(index).unwrap_or(&none);
            put!(self, "{name}: {}", func.ty(param));
            if !attributes.is_empty() {
                put!(self, " {}", dictionary(attributes));
            }
        }
        self.out.push(')');
        if !func.body.results.is_empty() {
            self.out.push_str(" -> (");
            for (index, &result) in func.body.results.iter().enumerate() {
                self.separate(index);
                put!(self, "{}", func.ty(result));
                let attributes = func.result_attributes.get(index).unwrap_or(&none);
                if !attributes.is_empty() {
                    put!(self, " {}", dictionary(attributes));
                }
            }
            self.out.push(')');
        }
        self.out.push(' ');
        self.block(&func.body, "return", false);
    }

    /// `{`, the block with its end, and `}`. Parameters, if the block shows them, get their names here.
    fn block(&mut self, region: &'m Region, terminator: &str, show_params: bool) {
        self.out.push('{');
        if show_params && !region.params.is_empty() {
            self.line();
            self.out.push_str("^bb0(");
            for (index, &param) in region.params.iter().enumerate() {
                self.separate(index);
                let name = self.name_param(param);
                put!(self, "{name}: {}", self.func.ty(param));
            }
            self.out.push_str("):");
        }
        self.indent += 1;
        for op in &region.ops {
            self.line();
            self.op(op);
        }
        self.line();
        self.out.push_str(terminator);
        if !region.results.is_empty() {
            self.out.push(' ');
            self.values(&region.results);
            self.out.push_str(" : ");
            self.types(&region.results);
        }
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }

    /// A comma, but not before the first.
    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    fn name_param(&mut self, value: ValueId) -> String {
        let name = Name::Param(self.params);
        self.params += 1;
        self.set_name(value, name);
        self.name(value)
    }

    fn set_name(&mut self, value: ValueId, name: Name) {
        if let Some(slot) = self.names.get_mut(value.0 as usize) {
            *slot = Some(name);
        }
    }

    fn name(&self, value: ValueId) -> String {
        match self.names.get(value.0 as usize).copied().flatten() {
            Some(Name::Param(index)) => format!("%arg{index}"),
            Some(Name::Result(index)) => format!("%{index}"),
            Some(Name::ResultOf(index, result)) => format!("%{index}#{result}"),
            None => format!("%undefined_{}", value.0),
        }
    }

    /// Values with commas between.
    fn values(&mut self, values: &[ValueId]) {
        for (index, &value) in values.iter().enumerate() {
            self.separate(index);
            let name = self.name(value);
            self.out.push_str(&name);
        }
    }

    /// The types of values, with commas between.
    fn types(&mut self, values: &[ValueId]) {
        for (index, &value) in values.iter().enumerate() {
            self.separate(index);
            put!(self, "{}", self.func.ty(value));
        }
    }

    /// The types of results: in parentheses, unless there is just one.
    fn result_types(&mut self, results: &[ValueId]) {
        if let [result] = results {
            put!(self, "{}", self.func.ty(*result));
        } else {
            self.out.push('(');
            self.types(results);
            self.out.push(')');
        }
    }

    /// `(operands) -> results`.
    fn function_type(&mut self, op: &Op) {
        self.out.push('(');
        self.types(&op.operands);
        self.out.push_str(") -> ");
        self.result_types(&op.results);
    }

    /// The types of operands.
    fn operand_types(&self, op: &Op) -> Vec<&'m Type> {
        op.operands.iter().map(|&operand| self.func.ty(operand)).collect()
    }
}

/// `@name`, with quotes if it needs them.
pub(crate) fn symbol(name: &str) -> String {
    if is_word(name) { format!("@{name}") } else { format!("@{}", string(name.as_bytes())) }
}

/// A string in quotes, with escapes.
pub(crate) fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\{byte:02X}");
            }
        }
    }
    text.push('"');
    text
}
