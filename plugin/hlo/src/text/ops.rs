//! Ops: their results, both forms, and the forms that need code of their own.

use super::cursor::list;
use super::given::{Given, Statement};
use super::lexer::Kind;
use super::{Error, Parser, pretty, read};
use crate::ops::{Form, Read, Signature, Value};
use crate::{Attribute, LocationId, Op, OpKind, Region, Type};

/// The name of a result, how many there are of it, and where it stands.
type ResultName<'a> = (&'a str, usize, usize);

impl<'a> Parser<'a> {
    /// Takes a line of a block: an op or the block's end. Results of ops are defined.
    fn statement(&mut self) -> Result<Statement<Op>, Error> {
        let names = self.result_names()?;
        let at = self.tokens.start();
        let named = matches!(self.tokens.kind(), Kind::Word | Kind::String);
        let name = self.tokens.text().trim_matches('"');
        self.op(names).map_err(|error| {
            let error = error.at(self.tokens.position(at));
            if named { error.in_op(name) } else { error }
        })
    }

    fn op(&mut self, names: Vec<ResultName<'a>>) -> Result<Statement<Op>, Error> {
        let (given, location) = match self.given_op()? {
            Statement::Op(op) => op,
            Statement::Terminator(values) => {
                return match names.first() {
                    None => Ok(Statement::Terminator(values)),
                    Some((name, _, at)) => {
                        Err(self.tokens.error_at(*at, format!("{name} cannot name a result: the op has none")))
                    }
                };
            }
        };
        let (at, results) = (given.at, given.results.clone());
        let op = read::op(self, given, location)?;
        let named: usize = names.iter().map(|(_, count, _)| count).sum();
        if !names.is_empty() && named != results.len() {
            return Err(self
                .tokens
                .error_at(at, format!("{named} results are named, but the op has {}", results.len())));
        }
        let results = self.add_values(results)?;
        if let (OpKind::Constant(literal), [result]) = (&op.kind, &results[..]) {
            self.values.constants.note(*result, literal);
        }
        let mut rest = results.as_slice();
        for (name, count, at) in names {
            let (these, others) = rest.split_at(count);
            self.name_values(name, at, these)?;
            rest = others;
        }
        Ok(Statement::Op(Op { results, ..op }))
    }

    /// Takes `%0 =`, `%0:2 =`, `%a, %b =`; nothing if the op has no names for its results.
    fn result_names(&mut self) -> Result<Vec<ResultName<'a>>, Error> {
        let mut names = Vec::new();
        if self.tokens.kind() != Kind::Value {
            return Ok(names);
        }
        loop {
            let at = self.tokens.start();
            let name = self.tokens.take(Kind::Value, "the name of a result")?;
            let count = if self.tokens.eat(":")? { self.tokens.integer()? } else { 1 };
            let count = usize::try_from(count).ok().filter(|&count| count < u32::MAX as usize);
            names.push((name, count.ok_or_else(|| self.tokens.error_at(at, "expected the number of results"))?, at));
            if !self.tokens.eat(",")? {
                self.tokens.expect("=")?;
                return Ok(names);
            }
        }
    }

    /// Takes an op in either form.
    fn given_op(&mut self) -> Result<Statement<(Given<'a>, LocationId)>, Error> {
        let at = self.tokens.start();
        match self.tokens.kind() {
            Kind::String => self.generic_op(at),
            Kind::Word => self.pretty_op(at),
            _ => Err(self.tokens.expected("an op")),
        }
    }

    /// Takes `"stablehlo.add"(%0, %1) <{...}> ({...}) {...} : (types) -> types`.
    fn generic_op(&mut self, at: usize) -> Result<Statement<(Given<'a>, LocationId)>, Error> {
        let quoted = self.tokens.bump()?;
        let name = &quoted[1..quoted.len() - 1];
        let mut op = Given::new(name, at);
        op.operands = list(self, "(", ")", Parser::operand)?;
        if self.tokens.is("[") {
            let message = "branches to other blocks are not supported";
            return Err(Error::unsupported(message).at(self.tokens.position(self.tokens.start())));
        }
        self.op_properties(&mut op)?;
        if self.tokens.is("(") {
            op.regions = list(self, "(", ")", |parser: &mut Parser<'a>| parser.region())?;
        }
        self.op_attributes(&mut op)?;
        self.tokens.expect(":")?;
        let (inputs, results) = self.function_type()?;
        self.check_operands(&op, &inputs)?;
        op.results = results;
        let location = self.op_location(at)?;
        if is_terminator(name) {
            return Ok(Statement::Terminator(op.operand_values()));
        }
        Ok(Statement::Op((op, location)))
    }

    /// Takes `stablehlo.add %0, %1 : type` and so on.
    fn pretty_op(&mut self, at: usize) -> Result<Statement<(Given<'a>, LocationId)>, Error> {
        let name = self.tokens.bump()?;
        let mut op = Given::new(name, at);
        if is_terminator(name) {
            op.operands = self.operands()?;
            self.op_attributes(&mut op)?;
            if !op.operands.is_empty() {
                self.tokens.expect(":")?;
                self.signature(&mut op, Signature::Pairwise)?;
            }
            self.optional_location()?;
            return Ok(Statement::Terminator(op.operand_values()));
        }
        let form = read::find(name).map_err(|error| error.at(self.tokens.position(at)))?.text;
        match form {
            Form::Generic => {
                return Err(self.tokens.error_at(at, format!("the op needs its generic form: \"{name}\"(...)")));
            }
            Form::Pieces(pieces) => self.pieces(&mut op, pieces)?,
            Form::Constant => self.constant(&mut op)?,
            Form::Reduce => self.reduce(&mut op)?,
            Form::While => self.while_loop(&mut op)?,
            Form::CustomCall => self.call(&mut op, "call_target_name", Attribute::String)?,
            Form::Call => {
                self.call(&mut op, "callee", |name| Attribute::Symbol(String::from_utf8_lossy(&name).into()))?;
            }
            Form::Composite => self.composite(&mut op)?,
            Form::ManualComputation => self.manual_computation(&mut op)?,
        }
        let location = self.op_location(at)?;
        if let (Form::Reduce, [body]) = (form, op.regions.as_mut_slice()) {
            // What `applies` applies has no location of its own.
            body.ops.iter_mut().filter(|op| op.location == LocationId::UNKNOWN).for_each(|op| op.location = location);
        }
        Ok(Statement::Op((op, location)))
    }

    /// Takes the rest of `stablehlo.constant {...} dense<1.0> : tensor<f32>`.
    fn constant(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        self.op_attributes(op)?;
        let at = self.tokens.start();
        let value = self.attribute()?;
        if let Attribute::Dense(literal) = &value {
            op.results = vec![Type::Tensor(literal.ty().clone())];
        }
        op.set("value", Value::Attribute(value), at);
        Ok(())
    }

    /// Takes the rest of `call @f(%0) {...} : (types) -> types`, where the attribute `callee` gets the name.
    fn call(&mut self, op: &mut Given<'a>, callee: &str, name: fn(Vec<u8>) -> Attribute) -> Result<(), Error> {
        let at = self.tokens.start();
        let symbol = self.tokens.symbol()?;
        op.set(callee, Value::Attribute(name(symbol.into_bytes())), at);
        op.operands = list(self, "(", ")", Parser::operand)?;
        self.op_attributes(op)?;
        self.tokens.expect(":")?;
        self.signature(op, Signature::Full)
    }

    /// Takes the rest of `stablehlo.composite "name" %0 ({...}) {...} : (types) -> types`.
    fn composite(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        let at = self.tokens.start();
        let name = self.tokens.string()?;
        op.set("name", Value::Attribute(Attribute::String(name)), at);
        op.operands = self.operands()?;
        if self.tokens.is("(") {
            op.regions = list(self, "(", ")", |parser: &mut Parser<'a>| parser.region())?;
        }
        self.op_attributes(op)?;
        self.tokens.expect(":")?;
        self.signature(op, Signature::Full)
    }

    /// Takes the rest of `stablehlo.while(%arg0 = %0) : types attributes {...} cond {...} do {...}`.
    fn while_loop(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        let bindings = list(self, "(", ")", |parser: &mut Parser<'a>| {
            let at = parser.tokens.start();
            let name = parser.tokens.take(Kind::Value, "the name of a loop variable")?;
            parser.tokens.expect("=")?;
            Ok(((name, at), parser.operand()?))
        })?;
        let names: Vec<(&'a str, usize)>;
        (names, op.operands) = bindings.into_iter().unzip();
        if !op.operands.is_empty() {
            self.tokens.expect(":")?;
            self.signature(op, Signature::Pairwise)?;
        }
        if self.tokens.eat("attributes")? {
            self.op_attributes(op)?;
        }
        for keyword in ["cond", "do"] {
            self.tokens.expect(keyword)?;
            let params = names.iter().copied().zip(op.results.iter().cloned()).collect();
            let region = self.region_with(params)?;
            op.regions.push(region);
        }
        Ok(())
    }

    /// Takes the rest of `stablehlo.reduce(%a init: %b), (%c init: %d) ...`, in either of its two forms.
    fn reduce(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        let mut initial = Vec::new();
        loop {
            self.tokens.expect("(")?;
            op.operands.push(self.operand()?);
            self.tokens.expect("init")?;
            self.tokens.expect(":")?;
            initial.push(self.operand()?);
            self.tokens.expect(")")?;
            if !self.tokens.eat(",")? {
                break;
            }
        }
        op.operands.append(&mut initial);
        let body = if self.tokens.eat("applies")? { Some((self.tokens.start(), self.tokens.word()?)) } else { None };
        self.tokens.expect("across")?;
        self.tokens.expect("dimensions")?;
        self.tokens.expect("=")?;
        let at = self.tokens.start();
        op.set("dimensions", Value::Ints(self.tokens.integers()?), at);
        self.op_attributes(op)?;
        self.tokens.expect(":")?;
        self.signature(op, Signature::Full)?;
        op.regions = vec![match body {
            Some((at, name)) => self.reducer_of_op(op, name, at)?,
            None => self.reducer()?,
        }];
        Ok(())
    }

    /// The body of `applies stablehlo.add`.
    fn reducer_of_op(&mut self, op: &Given<'a>, name: &'a str, at: usize) -> Result<Region, Error> {
        let (Read::Binary(kind), [result]) = (read::find(name)?.read, op.results.as_slice()) else {
            return Err(self.tokens.error_at(at, format!("`applies` takes a binary op with one result, got {name}")));
        };
        let ty = pretty::scalar(result).ok_or_else(|| self.tokens.error_at(at, "the result must be a tensor"))?;
        let params = self.add_values([ty.clone(), ty.clone()])?;
        let results = self.add_values([ty])?;
        let body = Op {
            kind: OpKind::Binary(kind),
            operands: params.clone(),
            results: results.clone(),
            regions: Vec::new(),
            location: LocationId::UNKNOWN,
        };
        Ok(Region { params, ops: vec![body], results })
    }

    /// Takes `reducer(%a: type, %b: type) (%c: type, %d: type) {...}`: a pair for each input. The block has all the
    /// left ones first.
    fn reducer(&mut self) -> Result<Region, Error> {
        self.tokens.expect("reducer")?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while self.tokens.is("(") {
            let at = self.tokens.start();
            let pair = list(self, "(", ")", Parser::block_param)?;
            let [a, b] = <[_; 2]>::try_from(pair).map_err(|_| self.tokens.error_at(at, "expected two parameters"))?;
            left.push(a);
            right.push(b);
        }
        left.append(&mut right);
        self.region_with(left)
    }
}

/// Whether the op ends a block.
pub(super) fn is_terminator(name: &str) -> bool {
    matches!(name, "return" | "func.return" | "stablehlo.return" | "chlo.return" | "sdy.return")
}

/// A parameter of a block: its name, where that stands, and its type.
pub(super) type Param<'a> = ((&'a str, usize), Type);

impl<'a> Parser<'a> {
    /// Takes `%a: type loc(...)`.
    pub(super) fn block_param(&mut self) -> Result<Param<'a>, Error> {
        let at = self.tokens.start();
        let name = self.tokens.take(Kind::Value, "the name of a parameter, such as `%arg0`")?;
        self.tokens.expect(":")?;
        let ty = self.ty()?;
        self.optional_location()?;
        Ok(((name, at), ty))
    }

    /// Takes `{...}`, whose block may have a label with parameters.
    pub(super) fn region(&mut self) -> Result<Region, Error> {
        self.region_with(Vec::new())
    }

    /// Takes `{...}` whose parameters were given before it.
    pub(super) fn region_with(&mut self, mut params: Vec<Param<'a>>) -> Result<Region, Error> {
        self.tokens.enter()?;
        self.tokens.expect("{")?;
        if params.is_empty() && self.tokens.kind() == Kind::Block {
            self.tokens.bump()?;
            if self.tokens.is("(") {
                params = list(self, "(", ")", Parser::block_param)?;
            }
            self.tokens.expect(":")?;
        }
        let mark = self.values.enter_region();
        let mut region = Region::default();
        for ((name, at), ty) in params {
            region.params.append(&mut self.define(name, at, vec![ty])?);
        }
        region.results = loop {
            if self.tokens.is("}") {
                return Err(self.tokens.error("a region must end with a `return`"));
            }
            match self.statement()? {
                Statement::Op(op) => {
                    region.ops.append(&mut self.added);
                    region.ops.push(op);
                }
                Statement::Terminator(results) => break results,
            }
        };
        if self.tokens.kind() == Kind::Block {
            let message = "a region of several blocks is not supported";
            return Err(Error::unsupported(message).at(self.tokens.position(self.tokens.start())));
        }
        self.tokens.expect("}")?;
        self.values.leave_region(mark);
        self.tokens.leave();
        Ok(region)
    }
}
