//! Known differences between the header of an older jaxlib and the newest one. Any other difference is drift.

use super::layout::{Item, Layout};
use crate::python::pins;
use crate::shell::{Failure, Result};

/// One known difference. `name` is a struct, a `struct.field`, a `sizeof(struct)` or a constant.
struct Rule {
    name: &'static str,
    change: Change,
}

enum Change {
    /// Up to this jaxlib it was called otherwise.
    Renamed { until: &'static str, old: &'static str },
    /// Up to this jaxlib it did not exist.
    Absent { until: &'static str },
    /// Up to each of these jaxlibs, oldest first, it had the value beside it.
    Was(&'static [(&'static str, i64)]),
    /// Up to each of these jaxlibs, oldest first, the struct had the layout in this file of ffi-sys.
    Layout(&'static [(&'static str, &'static str)]),
}

const fn renamed(name: &'static str, old: &'static str, until: &'static str) -> Rule {
    Rule { name, change: Change::Renamed { until, old } }
}

const fn absent(name: &'static str, until: &'static str) -> Rule {
    Rule { name, change: Change::Absent { until } }
}

const fn was(name: &'static str, values: &'static [(&'static str, i64)]) -> Rule {
    Rule { name, change: Change::Was(values) }
}

const V0_1: &str = "ffi-sys/src/xla_ffi_v0_1.rs";
const V0_2: &str = "ffi-sys/src/xla_ffi_v0_2.rs";

const RULES: &[Rule] = &[
    was("XLA_FFI_API_MINOR", &[("0.8.0", 1), ("0.9.0", 2), ("0.11.0", 3), ("0.11.2", 4)]),
    renamed("XLA_FFI_InternalExtension", "XLA_FFI_Extension_Base", "0.11.0"),
    renamed("XLA_FFI_InvokeContext_Get", "XLA_FFI_ExecutionContext_Get", "0.11.0"),
    renamed("XLA_FFI_Error_GetDetails", "XLA_FFI_Error_GetMessage", "0.11.0"),
    renamed("XLA_FFI_Type_Register", "XLA_FFI_TypeId_Register", "0.8.0"),
    // The function table grew at its end, but for one insertion.
    was("sizeof(XLA_FFI_Api)", &[("0.4.34", 168), ("0.4.38", 176), ("0.5.3", 184), ("0.11.0", 192), ("0.11.2", 200)]),
    was("XLA_FFI_Api_STRUCT_SIZE", &[("0.5.3", 88), ("0.11.0", 192), ("0.11.2", 200)]),
    absent("XLA_FFI_Api.XLA_FFI_ThreadPool_NumThreads", "0.4.34"),
    was("XLA_FFI_Api.XLA_FFI_Future_Create", &[("0.4.34", 144)]),
    was("XLA_FFI_Api.XLA_FFI_Future_SetAvailable", &[("0.4.34", 152)]),
    was("XLA_FFI_Api.XLA_FFI_Future_SetError", &[("0.4.34", 160)]),
    absent("XLA_FFI_Api.XLA_FFI_RunId_Get", "0.4.38"),
    absent("XLA_FFI_Api.XLA_FFI_DeviceOrdinal_Get", "0.5.3"),
    absent("XLA_FFI_Api.XLA_FFI_InvokeContext_FindExtension", "0.11.0"),
    absent("XLA_FFI_Api.XLA_FFI_CustomOptions_Get", "0.11.2"),
    absent("XLA_FFI_ThreadPool_NumThreads_Args", "0.4.34"),
    absent("XLA_FFI_RunId_Get_Args", "0.4.38"),
    absent("XLA_FFI_DeviceOrdinal_Get_Args", "0.5.3"),
    absent("XLA_FFI_Extension", "0.11.0"),
    absent("XLA_FFI_ExtensionId", "0.11.0"),
    absent("XLA_FFI_InvokeContext_FindExtension_Args", "0.11.0"),
    absent("XLA_FFI_CustomOptions_Get_Args", "0.11.2"),
    // Error messages got a code beside them.
    absent("XLA_FFI_Error_GetDetails_Args.errc", "0.11.0"),
    was("sizeof(XLA_FFI_Error_GetDetails_Args)", &[("0.11.0", 32)]),
    was("XLA_FFI_Error_GetDetails_Args_STRUCT_SIZE", &[("0.11.0", 32)]),
    // A fifth stage, and its handler in the bundle.
    absent("XLA_FFI_ExecutionStage_RECORD", "0.11.0"),
    absent("XLA_FFI_Handler_Bundle.record", "0.11.0"),
    was("sizeof(XLA_FFI_Handler_Bundle)", &[("0.11.0", 32)]),
    was("XLA_FFI_Handler_Register_Args.traits", &[("0.11.0", 80)]),
    was("sizeof(XLA_FFI_Handler_Register_Args)", &[("0.11.0", 88)]),
    was("XLA_FFI_Handler_Register_Args_STRUCT_SIZE", &[("0.11.0", 84)]),
    // State types: first an id alone, then with a destructor, then with a size header.
    absent("XLA_FFI_Metadata.state_type_id", "0.7.2"),
    was("sizeof(XLA_FFI_Metadata)", &[("0.7.2", 40)]),
    absent("XLA_FFI_TypeInfo", "0.7.2"),
    absent("XLA_FFI_TypeInfo.struct_size", "0.8.0"),
    absent("XLA_FFI_TypeInfo.extension_start", "0.8.0"),
    absent("XLA_FFI_TypeInfo_STRUCT_SIZE", "0.8.0"),
    was("XLA_FFI_TypeInfo.deleter", &[("0.8.0", 0)]),
    was("sizeof(XLA_FFI_TypeInfo)", &[("0.8.0", 8)]),
    absent("XLA_FFI_Type_Register_Args.type_info", "0.8.0"),
    was("sizeof(XLA_FFI_Type_Register_Args)", &[("0.8.0", 40)]),
    Rule { name: "XLA_FFI_State_Set_Args", change: Change::Layout(&[("0.8.0", V0_1), ("0.9.0", V0_2)]) },
    Rule { name: "XLA_FFI_State_Get_Args", change: Change::Layout(&[("0.9.0", V0_1)]) },
    absent("XLA_FFI_DataType_F8E3M4", "0.4.34"),
    absent("XLA_FFI_DataType_F8E4M3", "0.4.34"),
    absent("XLA_FFI_DataType_F4E2M1FN", "0.4.38"),
    absent("XLA_FFI_DataType_F8E8M0FNU", "0.4.38"),
    absent("XLA_FFI_DataType_S1", "0.5.3"),
    absent("XLA_FFI_DataType_S2", "0.5.3"),
    absent("XLA_FFI_DataType_S4", "0.5.3"),
    absent("XLA_FFI_DataType_U1", "0.5.3"),
    absent("XLA_FFI_DataType_U2", "0.5.3"),
    absent("XLA_FFI_DataType_U4", "0.5.3"),
];

impl Rule {
    /// Whether the rule is about this item: the item itself, or any part of the struct that it names.
    fn covers(&self, item: &Item) -> bool {
        let of_struct = match item {
            Item::Size(name) | Item::Align(name) | Item::Offset(name, _) => name == self.name,
            Item::Const(name) => name.strip_suffix("_STRUCT_SIZE") == Some(self.name),
        };
        of_struct || item.to_string() == self.name
    }
}

/// What one version's header should say of one number.
pub(super) struct Expected {
    /// The item under the name that the header gives it.
    pub(super) item: Item,
    /// `None`: the header should not have it.
    pub(super) value: Option<i64>,
    /// Whether that is what the newest header says.
    pub(super) newest: bool,
}

/// What the header of jaxlib `version` should say, given the layout of the newest one.
pub(super) fn expect(version: &str, newest: &Layout) -> Result<Vec<Expected>> {
    let mut all = Vec::new();
    for (item, &value) in newest {
        let mut expected = Expected { item: item.clone(), value: Some(value), newest: true };
        for rule in RULES {
            match &rule.change {
                Change::Renamed { until, old } if reaches(until, version)? => {
                    expected.item = rename(&expected.item, rule.name, old);
                }
                Change::Absent { until } if rule.covers(item) && reaches(until, version)? => expected.value = None,
                Change::Was(values) if rule.covers(item) && expected.value.is_some() => {
                    if let Some(old) = first_reaching(values, version)? {
                        expected.value = Some(old);
                    }
                }
                Change::Layout(files) if rule.covers(item) => {
                    if let Some(file) = first_reaching(files, version)? {
                        expected.value = in_old_layout(item, &super::layout::of(file)?);
                    }
                }
                _ => {}
            }
        }
        expected.newest = expected.value == Some(value);
        all.push(expected);
    }
    Ok(all)
}

/// The value that an old layout gives; its `STRUCT_SIZE` is that of a struct without padding at its end.
fn in_old_layout(item: &Item, old: &Layout) -> Option<i64> {
    match item {
        Item::Const(name) => {
            old.get(&Item::Size(name.strip_suffix("_STRUCT_SIZE").unwrap_or(name).to_owned())).copied()
        }
        _ => old.get(item).copied(),
    }
}

/// The item under an older name; a struct's name is also that of its argument struct, `*_Args`, and of its field.
fn rename(item: &Item, new: &str, old: &str) -> Item {
    let swap = |name: &String| match name.strip_prefix(new) {
        Some(rest) if ["", "_Args", "_STRUCT_SIZE", "_Args_STRUCT_SIZE", "_Type"].contains(&rest) => {
            format!("{old}{rest}")
        }
        _ => name.clone(),
    };
    match item {
        Item::Size(name) => Item::Size(swap(name)),
        Item::Align(name) => Item::Align(swap(name)),
        Item::Offset(name, field) => Item::Offset(swap(name), swap(field)),
        Item::Const(name) => Item::Const(swap(name)),
    }
}

/// Whether `version` is not newer than `until`. Both must be rows of the table of versions.
fn reaches(until: &str, version: &str) -> Result<bool> {
    let position = |version: &str| {
        let found = pins::JAX.iter().position(|jax| jax.version == version);
        found.ok_or_else(|| Failure::new(format!("jaxlib {version} is no row of the table of versions")))
    };
    Ok(position(version)? <= position(until)?)
}

fn first_reaching<T: Copy>(steps: &[(&str, T)], version: &str) -> Result<Option<T>> {
    for (until, value) in steps {
        if reaches(until, version)? {
            return Ok(Some(*value));
        }
    }
    Ok(None)
}

/// The rules as rows of a Markdown table: what, up to which jaxlib, and how it was.
pub(super) fn markdown() -> String {
    let mut rows = Vec::new();
    for Rule { name, change } in RULES {
        let mut row = |until: &str, how: String| rows.push(format!("| `{name}` | {until} | {how} |"));
        match change {
            Change::Renamed { until, old } => row(until, format!("named `{old}`")),
            Change::Absent { until } => row(until, "absent".into()),
            Change::Was(values) => values.iter().for_each(|(until, value)| row(until, value.to_string())),
            Change::Layout(files) => files.iter().for_each(|(until, file)| row(until, format!("as in `{file}`"))),
        }
    }
    format!("| what | up to jaxlib | was |\n|---|---|---|\n{}\n", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_about_something() {
        let newest = super::super::layout::of(super::super::NEWEST).unwrap();
        for rule in RULES {
            let renames = matches!(rule.change, Change::Renamed { .. });
            let used = newest
                .keys()
                .any(|item| if renames { rename(item, rule.name, "other") != *item } else { rule.covers(item) });
            assert!(used, "{} is in no struct", rule.name);
        }
    }

    #[test]
    fn an_unknown_version_is_an_error() {
        assert!(reaches("0.4.34", "0.0.1").is_err());
        assert!(reaches("0.8.0", "0.4.34").unwrap());
        assert!(!reaches("0.8.0", "0.8.1").unwrap());
    }
}
