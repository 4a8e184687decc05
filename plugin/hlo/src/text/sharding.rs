//! Meshes and shardings, as Shardy's dialect writes them, and computations per device.

use super::cursor::{Cursor, list};
use super::given::Given;
use super::{Error, Parser};
use crate::Attribute;
use crate::ops::{Signature, Value};
use crate::sharding::{AxisRef, DimSharding, Mesh, MeshRef, ShardingRule, TensorMapping, TensorSharding, factor_name};

/// More factors than a rule has.
const MOST_FACTORS: usize = 1 << 12;

impl<'a> Parser<'a> {
    /// Takes what follows the name of an attribute, if it is one of Shardy's that matter.
    pub(super) fn sharding_attribute(&mut self, name: &str) -> Result<Option<Attribute>, Error> {
        let tokens = &mut self.tokens;
        Ok(Some(match name {
            "#sdy.mesh" => Attribute::Mesh(tokens.mesh()?),
            "#sdy.sharding" => Attribute::Sharding(tokens.tensor_sharding()?),
            "#sdy.sharding_per_value" => {
                tokens.expect("<")?;
                let shardings = list(tokens, "[", "]", Cursor::tensor_sharding)?;
                tokens.expect(">")?;
                Attribute::ShardingPerValue(shardings)
            }
            "#sdy.op_sharding_rule" => Attribute::ShardingRule(Box::new(tokens.sharding_rule()?)),
            "#sdy" => {
                let start = tokens.start();
                tokens.expect("<")?;
                if !tokens.eat("manual_axes")? {
                    tokens.seek(start)?;
                    return Ok(None);
                }
                let axes = tokens.axis_names()?;
                tokens.expect(">")?;
                Attribute::ManualAxes(axes)
            }
            _ => return Ok(None),
        }))
    }

    /// Takes `<@mesh, [...]>`.
    pub(super) fn tensor_sharding(&mut self) -> Result<TensorSharding, Error> {
        self.tokens.tensor_sharding()
    }

    /// Takes the rest of
    /// `sdy.manual_computation(%0) in_shardings=[...] out_shardings=[...] manual_axes={"x"} (%arg0: type) {...} :
    /// type`.
    pub(super) fn manual_computation(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        op.operands = list(self, "(", ")", Parser::operand)?;
        for name in ["in_shardings", "out_shardings"] {
            let at = self.tokens.start();
            self.tokens.expect(name)?;
            self.tokens.expect("=")?;
            let shardings = list(&mut self.tokens, "[", "]", Cursor::tensor_sharding)?;
            op.set(name, Value::Attribute(Attribute::ShardingPerValue(shardings)), at);
        }
        let at = self.tokens.start();
        self.tokens.expect("manual_axes")?;
        self.tokens.expect("=")?;
        let axes = self.tokens.axis_names()?;
        op.set("manual_axes", Value::Attribute(Attribute::ManualAxes(axes)), at);
        let params = list(self, "(", ")", Parser::block_param)?;
        op.regions.push(self.region_with(params)?);
        self.op_attributes(op)?;
        self.tokens.expect(":")?;
        self.signature(op, Signature::Full)
    }
}

impl Cursor<'_> {
    pub(super) fn size(&mut self) -> Result<usize, Error> {
        let at = self.start();
        usize::try_from(self.integer()?).map_err(|_| self.error_at(at, "a size or index must not be negative"))
    }

    /// Takes a string that is text.
    pub(super) fn text_string(&mut self) -> Result<String, Error> {
        let at = self.start();
        String::from_utf8(self.string()?).map_err(|_| self.error_at(at, "the name of an axis must be UTF-8"))
    }

    /// Takes `{"x", "y"}`.
    fn axis_names(&mut self) -> Result<Vec<String>, Error> {
        list(self, "{", "}", Cursor::text_string)
    }

    /// Takes `<["x"=4, "y"=2], device_ids=[...]>`.
    pub(super) fn mesh(&mut self) -> Result<Mesh, Error> {
        let at = self.start();
        self.expect("<")?;
        let axes = list(self, "[", "]", |tokens: &mut Self| {
            let name = tokens.text_string()?;
            tokens.expect("=")?;
            Ok((name, tokens.size()?))
        })?;
        let mut mesh = Mesh { axes, device_ids: Vec::new() };
        if self.eat(",")? {
            self.expect("device_ids")?;
            self.expect("=")?;
            mesh.device_ids = list(self, "[", "]", Cursor::size)?;
        }
        self.expect(">")?;
        mesh.check().map_err(|error| error.at(self.position(at)))?;
        Ok(mesh)
    }

    /// Takes `"x"` or `"x":(2)4`.
    fn axis(&mut self) -> Result<AxisRef, Error> {
        let name = self.text_string()?;
        let mut sub_axis = None;
        if self.eat(":")? {
            sub_axis = Some(self.sub_axis()?);
        }
        Ok(AxisRef { name, sub_axis })
    }

    /// Takes `{"x", ?}p1`.
    fn dim_sharding(&mut self) -> Result<DimSharding, Error> {
        let mut closed = true;
        let axes = list(self, "{", "}", |tokens: &mut Self| {
            if !closed {
                return Err(tokens.error("`?` must be the last entry of a dimension"));
            }
            closed = !tokens.eat("?")?;
            if closed { tokens.axis().map(Some) } else { Ok(None) }
        })?;
        let priority = match self.text().strip_prefix('p').map(str::parse) {
            Some(Ok(priority)) => {
                self.bump()?;
                Some(priority)
            }
            _ => None,
        };
        Ok(DimSharding { axes: axes.into_iter().flatten().collect(), closed, priority })
    }

    /// Takes `<@mesh, [{"x"}, {}], replicated={"y"}, unreduced={"z"}>`.
    pub(super) fn tensor_sharding(&mut self) -> Result<TensorSharding, Error> {
        self.expect("<")?;
        let mesh = if self.eat("mesh")? { MeshRef::Inline(self.mesh()?) } else { MeshRef::Named(self.symbol()?) };
        self.expect(",")?;
        let dims = list(self, "[", "]", Cursor::dim_sharding)?;
        let (mut replicated, mut unreduced) = (Vec::new(), Vec::new());
        while self.eat(",")? {
            let axes = if self.eat("replicated")? {
                &mut replicated
            } else {
                self.expect("unreduced")?;
                &mut unreduced
            };
            self.expect("=")?;
            *axes = list(self, "{", "}", Cursor::axis)?;
        }
        self.expect(">")?;
        Ok(TensorSharding { mesh, dims, replicated, unreduced })
    }

    /// Takes `<([i, j])->([ij]) {i=2, j=4} reduction={j}, custom>`.
    fn sharding_rule(&mut self) -> Result<ShardingRule, Error> {
        self.expect("<")?;
        let mut rule = ShardingRule { operands: self.mappings()?, ..ShardingRule::default() };
        self.expect("->")?;
        rule.results = self.mappings()?;
        if self.is("{") {
            let at = self.start();
            let factors = list(self, "{", "}", |tokens: &mut Self| {
                let factor = tokens.factors()?;
                tokens.expect("=")?;
                Ok((factor, tokens.size()?))
            })?;
            let in_order = factors.iter().enumerate().all(|(index, (factor, _))| *factor == [index]);
            if !in_order {
                return Err(self.error_at(at, "the sizes of factors must be in the order of the factors"));
            }
            rule.factors = factors.into_iter().map(|(_, size)| size).collect();
        }
        while !self.eat(">")? {
            if self.eat(",")? {
                self.expect("custom")?;
                rule.custom = true;
                continue;
            }
            let kind = match self.text() {
                "reduction" => &mut rule.reduction,
                "need_replication" => &mut rule.need_replication,
                "permutation" => &mut rule.permutation,
                "blocked_propagation" => &mut rule.blocked_propagation,
                _ => return Err(self.expected("a kind of factors")),
            };
            self.bump()?;
            self.expect("=")?;
            *kind = list(self, "{", "}", Cursor::factors)?.concat();
        }
        Ok(rule)
    }

    /// Takes `([i, j], [k])`.
    fn mappings(&mut self) -> Result<Vec<TensorMapping>, Error> {
        list(self, "(", ")", |tokens: &mut Self| list(tokens, "[", "]", Cursor::factors))
    }

    /// Takes factors without anything between: `ij`, `z_1z_2`.
    fn factors(&mut self) -> Result<Vec<usize>, Error> {
        let at = self.start();
        let mut rest = self.word()?;
        let mut factors = Vec::new();
        while let Some(letter) = rest.bytes().next() {
            let mut factor = usize::from(letter.wrapping_sub(b'i'));
            rest = rest.get(1..).unwrap_or_default();
            if let (b'z', Some(number)) = (letter, rest.strip_prefix('_')) {
                let digits = number.bytes().take_while(u8::is_ascii_digit).count();
                factor += number[..digits].parse::<usize>().unwrap_or(MOST_FACTORS);
                rest = &number[digits..];
            }
            if factor >= MOST_FACTORS || factor_name(factor).as_bytes()[0] != letter {
                return Err(self.error_at(at, "expected the names of factors: `i` to `z`, `z_1`, ..."));
            }
            factors.push(factor);
        }
        Ok(factors)
    }
}
