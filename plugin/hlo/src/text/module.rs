//! Modules and functions.

use std::collections::HashMap;

use super::cursor::list;
use super::given::Given;
use super::lexer::Kind;
use super::ops::Param;
use super::{Error, Parser, read};
use crate::{ArgAttributes, Attribute, Func, FuncId, Module, OpKind, Region, Type};

/// Functions by name. A function may be named before it is defined: then it gets a number, which is replaced by its
/// index at the end.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// The number of each name.
    numbers: HashMap<String, u32>,
    /// For each number, its name and where it was first mentioned.
    mentions: Vec<(String, usize)>,
    /// Functions in order of definition, and where.
    defined: Vec<(Func, usize)>,
    /// Functions without a body.
    declared: Vec<String>,
}

impl Functions {
    /// The number, for now, of the function of this name.
    pub(super) fn mention(&mut self, name: String, at: usize) -> FuncId {
        let next = self.mentions.len() as u32;
        FuncId(*self.numbers.entry(name).or_insert_with_key(|name| {
            self.mentions.push((name.clone(), at));
            next
        }))
    }
}

/// What a module has besides functions.
#[derive(Debug, Default)]
struct Header {
    name: String,
    attributes: Vec<(String, Attribute)>,
}

impl<'a> Parser<'a> {
    /// Reads the whole text.
    pub(super) fn module(mut self) -> Result<Module, Error> {
        let mut header = None;
        while self.tokens.kind() != Kind::End {
            let at = self.tokens.start();
            match (self.tokens.kind(), self.tokens.text()) {
                (Kind::Hash | Kind::Exclamation, _) => self.alias()?,
                (Kind::Word, "module" | "builtin.module") | (Kind::String, "\"builtin.module\"")
                    if header.is_none() =>
                {
                    header = Some(self.module_op()?);
                }
                (Kind::Word, "module" | "builtin.module") | (Kind::String, "\"builtin.module\"") => {
                    return Err(self.tokens.error_at(at, "expected one module, got a second one"));
                }
                (Kind::Punctuation, "{-#") => {
                    return Err(Error::unsupported("resources are not supported: constants must be in the text")
                        .at(self.tokens.position(at)));
                }
                _ => self.module_item()?,
            }
        }
        let Header { name, attributes } = header.unwrap_or_default();
        let locations = self.read_locations()?;
        let functions = std::mem::take(&mut self.functions);
        let funcs = self.resolve(functions)?;
        let entry = entry(&funcs)?;
        let meshes = std::mem::take(&mut self.meshes);
        Ok(Module { name, funcs, entry, meshes, attributes, locations })
    }

    /// Takes a module in either form.
    fn module_op(&mut self) -> Result<Header, Error> {
        let mut header = Header::default();
        if self.tokens.kind() == Kind::String {
            let mut op = Given::new("builtin.module", self.tokens.start());
            self.generic_parts(&mut op, |parser| {
                parser.tokens.expect("{")?;
                if parser.tokens.kind() == Kind::Block {
                    parser.tokens.bump()?;
                    parser.tokens.expect(":")?;
                }
                parser.module_items()
            })?;
            let at = op.at;
            header.name = op.take_string("sym_name").unwrap_or_default();
            header.attributes = self.sorted(op.into_attributes(), at)?;
        } else {
            self.tokens.bump()?;
            if self.tokens.kind() == Kind::Symbol {
                header.name = self.tokens.symbol()?;
            }
            if self.tokens.eat("attributes")? {
                header.attributes = self.dictionary()?;
            }
            self.tokens.expect("{")?;
            self.module_items()?;
            self.optional_location()?;
        }
        Ok(header)
    }

    /// Takes what a module holds, and its closing brace.
    fn module_items(&mut self) -> Result<(), Error> {
        while !self.tokens.eat("}")? {
            self.module_item()?;
        }
        Ok(())
    }

    /// Takes `sdy.mesh @name = <[...]> {...}`: how devices are arranged.
    fn mesh(&mut self) -> Result<(), Error> {
        self.tokens.bump()?;
        let name = self.tokens.symbol()?;
        self.tokens.expect("=")?;
        let mesh = self.tokens.mesh()?;
        self.meshes.push((name, mesh));
        if self.tokens.is("{") {
            self.dictionary()?;
        }
        self.optional_location().map(drop)
    }

    /// Takes `"sdy.mesh"() <{mesh = #sdy.mesh<[...]>, sym_name = "name"}> : () -> ()`.
    fn generic_mesh(&mut self) -> Result<(), Error> {
        let mut op = Given::new("sdy.mesh", self.tokens.start());
        self.generic_parts(&mut op, |parser| Err(parser.tokens.error("a mesh has no region")))?;
        match (op.take_string("sym_name"), op.take_attribute("mesh")) {
            (Some(name), Some(Attribute::Mesh(mesh))) => self.meshes.push((name, mesh)),
            _ => return Err(self.tokens.error_at(op.at, "a mesh has attributes `mesh` and `sym_name`")),
        }
        Ok(())
    }

    /// Takes a function or a mesh.
    fn module_item(&mut self) -> Result<(), Error> {
        let at = self.tokens.start();
        match (self.tokens.kind(), self.tokens.text()) {
            (Kind::Word, "func.func" | "func") => self.function().map_err(|error| error.in_op("func.func")),
            (Kind::String, "\"func.func\"") => self.generic_function().map_err(|error| error.in_op("func.func")),
            (Kind::Word, "sdy.mesh") => self.mesh(),
            (Kind::String, "\"sdy.mesh\"") => self.generic_mesh(),
            (Kind::Word | Kind::String, name) => {
                let name = name.trim_matches('"');
                let only = || Error::unsupported("is not supported in a module: only functions are");
                let error = read::why_no_program(name).unwrap_or_else(only);
                Err(error.in_op(name).at(self.tokens.position(at)))
            }
            _ => Err(self.tokens.expected("a function")),
        }
    }

    /// Takes `func.func public @main(%arg0: type {...}) -> (type {...}) attributes {...} {...}`.
    fn function(&mut self) -> Result<(), Error> {
        self.tokens.bump()?;
        let visibility = if self.tokens.kind() == Kind::Word { self.tokens.bump()? } else { "public" };
        let at = self.tokens.start();
        let name = self.tokens.symbol()?;
        let (params, param_attributes): (Vec<_>, Vec<_>) =
            list(self, "(", ")", Parser::function_param)?.into_iter().unzip();
        let (results, result_attributes): (Vec<_>, Vec<_>) =
            if self.tokens.eat("->")? { self.function_results()?.into_iter().unzip() } else { Default::default() };
        if self.tokens.eat("attributes")? {
            self.dictionary()?;
        }
        if !self.tokens.is("{") {
            self.functions.declared.push(name);
            self.optional_location()?;
            return Ok(());
        }
        let params: Option<Vec<_>> = params.into_iter().collect();
        let params =
            params.ok_or_else(|| self.tokens.error_at(at, "a parameter of a function with a body has no name"))?;
        let body = self.region_with(params)?;
        self.optional_location()?;
        let returned = body.results.iter().map(|&value| self.values.ty(value));
        if !returned.eq(results.iter()) {
            return Err(self.tokens.error_at(at, format!("@{name} returns values of other types than it declares")));
        }
        self.define_function(name, at, visibility == "public", body, param_attributes, result_attributes)
    }

    /// Takes `%arg0: type {...} loc(...)`, or `type {...}` in a declaration.
    #[allow(clippy::type_complexity, reason = "a pair, for `unzip`")]
    fn function_param(&mut self) -> Result<(Option<Param<'a>>, ArgAttributes), Error> {
        let at = self.tokens.start();
        let name = if self.tokens.kind() == Kind::Value { Some(self.tokens.bump()?) } else { None };
        if name.is_some() {
            self.tokens.expect(":")?;
        }
        let (ty, attributes) = self.type_with_attributes()?;
        self.optional_location()?;
        Ok((name.map(|name| ((name, at), ty)), attributes))
    }

    /// Takes `type {...}`.
    fn type_with_attributes(&mut self) -> Result<(Type, ArgAttributes), Error> {
        let ty = self.ty()?;
        let attributes = if self.tokens.is("{") { self.dictionary()? } else { Vec::new() };
        Ok((ty, attributes))
    }

    /// Takes a type, or a list of types with attributes.
    fn function_results(&mut self) -> Result<Vec<(Type, ArgAttributes)>, Error> {
        if self.tokens.is("(") {
            list(self, "(", ")", Parser::type_with_attributes)
        } else {
            Ok(vec![(self.ty()?, Vec::new())])
        }
    }

    /// Takes an op without operands and results in generic form, its regions with `region`: how many there are.
    fn generic_parts(
        &mut self,
        op: &mut Given<'a>,
        mut region: impl FnMut(&mut Parser<'a>) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        self.tokens.bump()?;
        self.tokens.expect("(")?;
        self.tokens.expect(")")?;
        self.op_properties(op)?;
        let regions = if self.tokens.is("(") { list(self, "(", ")", &mut region)?.len() } else { 0 };
        self.op_attributes(op)?;
        self.tokens.expect(":")?;
        self.function_type()?;
        self.optional_location()?;
        Ok(regions)
    }

    /// Takes `"func.func"() <{sym_name = "main", ...}> ({...}) : () -> ()`.
    fn generic_function(&mut self) -> Result<(), Error> {
        let mut op = Given::new("func.func", self.tokens.start());
        let mut body = None;
        let regions = self.generic_parts(&mut op, |parser| {
            if !parser.is_empty_region()? {
                body = Some(parser.region()?); // else it is a declaration
            }
            Ok(())
        })?;
        let at = op.at;
        let name = op.take_string("sym_name").ok_or_else(|| self.tokens.error_at(at, "a function must have a name"))?;
        if regions != 1 {
            return Err(self.tokens.error_at(at, "a function must have one region"));
        }
        let Some(body) = body else {
            self.functions.declared.push(name);
            return Ok(());
        };
        let public = op.take_string("sym_visibility").is_none_or(|visibility| visibility == "public");
        let mut lists = ["arg_attrs", "res_attrs"].into_iter().zip([body.params.len(), body.results.len()]).map(
            |(attribute, count)| match op.take_attribute(attribute) {
                None => Some(vec![ArgAttributes::new(); count]),
                Some(Attribute::Array(items)) if items.len() == count => items
                    .into_iter()
                    .map(|item| if let Attribute::Dictionary(entries) = item { Some(entries) } else { None })
                    .collect(),
                Some(_) => None,
            },
        );
        match (lists.next().flatten(), lists.next().flatten()) {
            (Some(params), Some(results)) => self.define_function(name, at, public, body, params, results),
            _ => Err(self.tokens.error_at(at, "arg_attrs and res_attrs must be lists of a dictionary each")),
        }
    }
}

impl<'a> Parser<'a> {
    /// Whether `{}` follows; it is taken.
    fn is_empty_region(&mut self) -> Result<bool, Error> {
        let open = self.tokens.start();
        self.tokens.expect("{")?;
        let empty = self.tokens.eat("}")?;
        if !empty {
            self.tokens.seek(open)?;
        }
        Ok(empty)
    }

    /// Adds a function whose body was just read.
    fn define_function(
        &mut self,
        name: String,
        at: usize,
        public: bool,
        body: Region,
        param_attributes: Vec<ArgAttributes>,
        result_attributes: Vec<ArgAttributes>,
    ) -> Result<(), Error> {
        let values = std::mem::take(&mut self.values).into_types();
        self.functions.defined.push((Func { name, public, body, values, param_attributes, result_attributes }, at));
        Ok(())
    }

    /// The functions, with the numbers in their ops replaced by indices.
    fn resolve(&self, functions: Functions) -> Result<Vec<Func>, Error> {
        let mut indices = HashMap::new();
        for (index, (func, at)) in functions.defined.iter().enumerate() {
            if indices.insert(&*func.name, FuncId(index as u32)).is_some() {
                return Err(self.tokens.error_at(*at, format!("the function @{} is defined twice", func.name)));
            }
        }
        let ids: Vec<FuncId> = functions
            .mentions
            .iter()
            .map(|(name, at)| {
                indices.get(&**name).copied().ok_or_else(|| {
                    let declared = functions.declared.iter().any(|each| each == name);
                    let why = if declared { "declared, but has no body" } else { "not defined" };
                    self.tokens.error_at(*at, format!("the function @{name} is {why}"))
                })
            })
            .collect::<Result<_, Error>>()?;
        let mut funcs: Vec<Func> = functions.defined.into_iter().map(|(func, _)| func).collect();
        funcs.iter_mut().for_each(|func| renumber(&mut func.body, &ids));
        Ok(funcs)
    }
}

/// Replaces the functions that ops name by `ids`.
fn renumber(region: &mut Region, ids: &[FuncId]) {
    for op in &mut region.ops {
        match &mut op.kind {
            OpKind::Call(func) | OpKind::Composite { decomposition: func, .. } => *func = ids[func.0 as usize],
            OpKind::CustomCall(call) => {
                call.called_computations.iter_mut().for_each(|func| *func = ids[func.0 as usize]);
            }
            _ => {}
        }
        op.regions.iter_mut().for_each(|region| renumber(region, ids));
    }
}

/// The function that is run: `main`, or else the only public one.
fn entry(funcs: &[Func]) -> Result<FuncId, Error> {
    let mut public = funcs.iter().enumerate().filter(|(_, func)| func.public);
    let main = funcs.iter().position(|func| func.name == "main");
    let only = match (public.next(), public.next()) {
        (Some((index, _)), None) => Some(index),
        _ => None,
    };
    let index = main.or(only).ok_or_else(|| Error::invalid("the program has no function @main"))?;
    Ok(FuncId(index as u32))
}
