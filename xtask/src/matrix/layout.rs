//! This workspace's view of the ABI: every size, offset and constant of the generated bindings.
//!
//! The numbers are read from the `const _` assertions that bindgen writes beside each struct. rustc has checked them
//! when ffi-sys compiled, so they are the Rust side's own, and no struct can be left out.

use std::collections::BTreeMap;
use std::path::Path;

use crate::shell::{Failure, Result};
use crate::workspace;

/// One number of the ABI.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// `sizeof(name)`.
    Size(String),
    /// `alignof(name)`.
    Align(String),
    /// `offsetof(name, field)`.
    Offset(String, String),
    /// A constant, such as a `*_STRUCT_SIZE` or an enumerator.
    Const(String),
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Size(name) => write!(f, "sizeof({name})"),
            Self::Align(name) => write!(f, "alignof({name})"),
            Self::Offset(name, field) => write!(f, "{name}.{field}"),
            Self::Const(name) => f.write_str(name),
        }
    }
}

pub(super) type Layout = BTreeMap<Item, i64>;

/// The layout in one of ffi-sys's generated files, given relative to the workspace.
pub(super) fn of(file: &str) -> Result<Layout> {
    let layout = parse(&workspace::read(&workspace::root().join(file))?);
    if layout.is_empty() {
        return Err(Failure::new(format!("{}: no layout assertions; was bindgen changed?", Path::new(file).display())));
    }
    Ok(layout)
}

fn parse(source: &str) -> Layout {
    // rustfmt breaks these lines where it must; without white space they all look the same.
    let tight: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut layout = Layout::new();
    for assertion in tight.split("[\"").skip(1) {
        let Some((label, rest)) = assertion.split_once("\"]") else { continue };
        let Some(value) = rest.split_once("usize]").and_then(|(text, _)| text.rsplit("- ").next()?.parse().ok()) else {
            continue;
        };
        let item = if let Some(name) = label.strip_prefix("Size of ") {
            Item::Size(name.to_owned())
        } else if let Some(name) = label.strip_prefix("Alignment of ") {
            Item::Align(name.to_owned())
        } else if let Some((name, field)) =
            label.strip_prefix("Offset of field: ").and_then(|label| label.split_once("::"))
        {
            // bindgen writes `type` as `type_`.
            Item::Offset(name.to_owned(), field.trim_end_matches('_').to_owned())
        } else {
            continue;
        };
        layout.insert(item, value);
    }
    for constant in tight.split("pub const ").skip(1) {
        let Some((name, rest)) = constant.split_once(": ") else { continue };
        let value = rest.split_once(';').and_then(|(text, _)| text.split_once("= ")?.1.parse().ok());
        if let Some(value) = value {
            layout.insert(Item::Const(name.to_owned()), value);
        }
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_and_constants_are_read() {
        let source = r#"
            pub const XLA_FFI_A_STRUCT_SIZE: _bindgen_ty_1 = 28;
            const _: () = {
                ["Size of XLA_FFI_A"][::core::mem::size_of::<XLA_FFI_A>() - 32usize];
                ["Offset of field: XLA_FFI_A::type_"]
                    [::core::mem::offset_of!(XLA_FFI_A, type_) - 8usize];
            };"#;
        let item = |name: &str| name.to_owned();
        let expected = Layout::from([
            (Item::Const(item("XLA_FFI_A_STRUCT_SIZE")), 28),
            (Item::Size(item("XLA_FFI_A")), 32),
            (Item::Offset(item("XLA_FFI_A"), item("type")), 8),
        ]);
        assert_eq!(parse(source), expected);
    }
}
