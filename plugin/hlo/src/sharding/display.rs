//! Shardings as Shardy's dialect writes them.

use std::fmt::{self, Display, Formatter};

use super::{AxisRef, DimSharding, Mesh, MeshRef, ShardingRule, SubAxis, TensorMapping, TensorSharding};
use crate::print::{string, symbol};

/// Items with commas between.
fn list<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
    }
    Ok(())
}

impl Display for Mesh {
    /// `["x"=4, "y"=2], device_ids=[...]`, without the brackets `<>`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        list(f, self.axes.iter().map(|(name, size)| format!("{}={size}", string(name.as_bytes()))))?;
        f.write_str("]")?;
        if !self.device_ids.is_empty() {
            f.write_str(", device_ids=[")?;
            list(f, &self.device_ids)?;
            f.write_str("]")?;
        }
        Ok(())
    }
}

impl Display for MeshRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MeshRef::Named(name) => f.write_str(&symbol(name)),
            MeshRef::Inline(mesh) => write!(f, "mesh<{mesh}>"),
        }
    }
}

impl Display for AxisRef {
    /// `"x"`, or `"x":(2)4` for a part.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&string(self.name.as_bytes()))?;
        match self.sub_axis {
            Some(SubAxis { pre_size, size }) => write!(f, ":({pre_size}){size}"),
            None => Ok(()),
        }
    }
}

impl Display for DimSharding {
    /// `{"x", ?}p1`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        list(f, &self.axes)?;
        if !self.closed {
            f.write_str(if self.axes.is_empty() { "?" } else { ", ?" })?;
        }
        f.write_str("}")?;
        match self.priority {
            Some(priority) => write!(f, "p{priority}"),
            None => Ok(()),
        }
    }
}

impl Display for TensorSharding {
    /// `<@mesh, [{"x"}, {}], replicated={"y"}>`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "<{}, [", self.mesh)?;
        list(f, &self.dims)?;
        f.write_str("]")?;
        for (name, axes) in [("replicated", &self.replicated), ("unreduced", &self.unreduced)] {
            if !axes.is_empty() {
                write!(f, ", {name}={{")?;
                list(f, axes)?;
                f.write_str("}")?;
            }
        }
        f.write_str(">")
    }
}

/// The name of a factor: `i` to `z`, then `z_1` and so on.
pub fn factor_name(factor: usize) -> String {
    match u8::try_from(factor) {
        Ok(letter) if letter <= b'z' - b'i' => char::from(b'i' + letter).to_string(),
        _ => format!("z_{}", factor - usize::from(b'z' - b'i')),
    }
}

impl Display for ShardingRule {
    /// `<([i, j])->([i]) {i=2, j=4} reduction={j}, custom>`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fn mappings(f: &mut Formatter<'_>, mappings: &[TensorMapping]) -> fmt::Result {
            let dim = |factors: &Vec<usize>| factors.iter().map(|&factor| factor_name(factor)).collect::<String>();
            let tensor =
                |mapping: &TensorMapping| format!("[{}]", mapping.iter().map(dim).collect::<Vec<_>>().join(", "));
            f.write_str("(")?;
            list(f, mappings.iter().map(tensor))?;
            f.write_str(")")
        }
        f.write_str("<")?;
        mappings(f, &self.operands)?;
        f.write_str("->")?;
        mappings(f, &self.results)?;
        if !self.factors.is_empty() {
            f.write_str(" {")?;
            let size = |(factor, size): (usize, &usize)| format!("{}={size}", factor_name(factor));
            list(f, self.factors.iter().enumerate().map(size))?;
            f.write_str("}")?;
        }
        let kinds = [
            ("reduction", &self.reduction),
            ("need_replication", &self.need_replication),
            ("permutation", &self.permutation),
            ("blocked_propagation", &self.blocked_propagation),
        ];
        for (name, factors) in kinds {
            if !factors.is_empty() {
                write!(f, " {name}={{")?;
                list(f, factors.iter().map(|&factor| factor_name(factor)))?;
                f.write_str("}")?;
            }
        }
        f.write_str(if self.custom { ", custom>" } else { ">" })
    }
}
