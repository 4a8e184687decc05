//! Groups of processes that are given as axes of a mesh.

use super::cursor::{Cursor, list};
use super::lexer::Kind;
use super::{Error, Parser};
use crate::sharding::{AxisRef, Mesh, MeshRef, SubAxis};

/// The name of the attribute.
const NAME: &str = "#stablehlo.replica_group_mesh_axes";

/// The mesh and its axes in the text of an attribute; `None` if it is another attribute.
pub(super) fn parse(text: &str) -> Result<Option<(MeshRef, Vec<AxisRef>)>, Error> {
    if !text.starts_with(NAME) {
        return Ok(None);
    }
    let mut parser = Parser::new(text)?;
    name_of(&mut parser.tokens, NAME)?;
    parser.tokens.expect("<")?;
    field(&mut parser.tokens, "mesh")?;
    let mesh = match parser.tokens.kind() {
        Kind::Symbol => MeshRef::Named(parser.tokens.symbol()?),
        _ => MeshRef::Inline(parser.mesh_of_axes()?),
    };
    parser.tokens.expect(",")?;
    field(&mut parser.tokens, "axes")?;
    let axes = list(&mut parser.tokens, "[", "]", axis)?;
    parser.tokens.expect(">")?;
    Ok(Some((mesh, axes)))
}

impl Parser<'_> {
    /// Takes `#stablehlo.mesh<axes=[<name = "x", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>`.
    fn mesh_of_axes(&mut self) -> Result<Mesh, Error> {
        name_of(&mut self.tokens, "#stablehlo.mesh")?;
        self.tokens.expect("<")?;
        field(&mut self.tokens, "axes")?;
        let axes = list(&mut self.tokens, "[", "]", |tokens| {
            if tokens.kind() == Kind::Hash {
                name_of(tokens, "#stablehlo.mesh_axis")?;
            }
            tokens.expect("<")?;
            let name = name(tokens)?;
            tokens.expect(",")?;
            field(tokens, "size")?;
            let size = tokens.size()?;
            tokens.expect(">")?;
            Ok((name, size))
        })?;
        let mut device_ids = Vec::new();
        if self.tokens.eat(",")? {
            field(&mut self.tokens, "device_ids")?;
            let at = self.tokens.start();
            let literal = self.dense()?;
            let wrong = || self.tokens.error_at(at, "the ids of devices must be integers, as many as devices");
            let devices = axes.iter().fold(1usize, |all, (_, size)| all.saturating_mul(*size));
            if literal.ty().count() != devices.max(1) {
                return Err(wrong());
            }
            let ids = literal.integers().into_iter().flatten().map(|id| usize::try_from(id).ok());
            device_ids = ids.collect::<Option<_>>().ok_or_else(wrong)?;
        }
        self.tokens.expect(">")?;
        let mesh = Mesh { axes, device_ids };
        mesh.check()?;
        Ok(mesh)
    }
}

/// Takes the name of an attribute.
fn name_of(tokens: &mut Cursor<'_>, name: &str) -> Result<(), Error> {
    if tokens.kind() == Kind::Hash && tokens.text() == name {
        return tokens.bump().map(drop);
    }
    Err(tokens.expected(&format!("`{name}`")))
}

/// Takes `name =`.
fn field(tokens: &mut Cursor<'_>, name: &str) -> Result<(), Error> {
    tokens.expect(name)?;
    tokens.expect("=")
}

/// Takes `name = "x"`.
fn name(tokens: &mut Cursor<'_>) -> Result<String, Error> {
    field(tokens, "name")?;
    tokens.text_string()
}

/// Takes `#stablehlo.axis_ref<name = "x", sub_axis_info = (2)4>`.
fn axis(tokens: &mut Cursor<'_>) -> Result<AxisRef, Error> {
    name_of(tokens, "#stablehlo.axis_ref")?;
    tokens.expect("<")?;
    let name = name(tokens)?;
    let mut sub_axis = None;
    if tokens.eat(",")? {
        field(tokens, "sub_axis_info")?;
        sub_axis = Some(tokens.sub_axis()?);
    }
    tokens.expect(">")?;
    Ok(AxisRef { name, sub_axis })
}

impl Cursor<'_> {
    /// Takes `(2)4`.
    pub(super) fn sub_axis(&mut self) -> Result<SubAxis, Error> {
        self.expect("(")?;
        let pre_size = self.size()?;
        self.expect(")")?;
        Ok(SubAxis { pre_size, size: self.size()? })
    }
}
