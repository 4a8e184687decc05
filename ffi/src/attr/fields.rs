//! Functions that the derives of enumerations and structs call.

use std::ffi::c_void;

use super::convert::convert_scalar;
use super::{Attr, AttrError, AttrList};
use crate::descriptor::{AttrParam, Presence};
use crate::names;

/// The index of the variant that an attribute names, by its name or by its number.
///
/// # Errors
/// If it is neither; the message lists the variants and the nearest name.
pub fn enum_attr(attr: Attr<'_>, variants: &'static [(&'static str, i64)]) -> Result<usize, AttrError> {
    let list = || variants.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if let Some(bytes) = attr.bytes() {
        if let Some(index) = variants.iter().position(|(name, _)| name.as_bytes() == bytes) {
            return Ok(index);
        }
        let given = String::from_utf8_lossy(bytes);
        let hint = names::did_you_mean(&given, variants.iter().map(|(name, _)| *name));
        return Err(AttrError::expected(format_args!("one of {}", list()), format_args!("{given:?}{hint}")));
    }
    if let Some(scalar) = attr.scalar()
        && let Ok(number) = convert_scalar::<i64>(scalar)
        && let Some(index) = variants.iter().position(|(_, value)| *value == number)
    {
        return Ok(index);
    }
    let numbers = variants.iter().map(|(name, value)| format!("{value} ({name})")).collect::<Vec<_>>().join(", ");
    Err(AttrError::expected(format_args!("one of {}, or of {numbers}", list()), attr))
}

/// The fields of a dictionary, matched with those that a struct names.
pub struct StructFields<'f, const N: usize> {
    found: [Option<Attr<'f>>; N],
    fields: &'static [AttrParam],
}

/// Matches a dictionary with a struct's `N` fields.
///
/// # Errors
/// If it is not a dictionary, or has entries that the struct does not name.
pub fn struct_fields<'f, const N: usize>(
    attr: Attr<'f>,
    fields: &'static [AttrParam],
) -> Result<StructFields<'f, N>, AttrError> {
    let dict = attr.dictionary().ok_or_else(|| {
        let list = fields.iter().map(|field| field.name).collect::<Vec<_>>().join(", ");
        AttrError::expected(format_args!("a dictionary with the entries {list}"), attr)
    })?;
    let mut found = [None; N];
    for (name, value) in dict.iter() {
        let Some(index) = fields.iter().position(|field| field.name == name) else {
            let hint = names::did_you_mean(name, fields.iter().map(|field| field.name));
            return Err(AttrError::message(format!("there is no entry `{name}`{hint}")));
        };
        found[index] = Some(value);
    }
    Ok(StructFields { found, fields })
}

impl<'f, const N: usize> StructFields<'f, N> {
    /// The field at an index, if the dictionary has it.
    pub fn get(&self, index: usize) -> Option<Attr<'f>> {
        self.found[index]
    }

    /// The field at an index.
    ///
    /// # Errors
    /// If the dictionary does not have it.
    pub fn required(&self, index: usize) -> Result<Attr<'f>, AttrError> {
        self.get(index).ok_or_else(|| AttrError::message(format!("the entry `{}` is missing", self.fields[index].name)))
    }
}

/// Puts an operation's attributes in the order of its list, `known`; absent ones keep the kind 0.
///
/// # Errors
/// Missing required attributes, unknown ones and repeated ones, all of them in one message.
pub(crate) fn sort(
    list: &AttrList<'_>,
    known: &'static [AttrParam],
    kinds: &mut [u32],
    values: &mut [*const c_void],
    extra_allowed: bool,
) -> Result<(), String> {
    let mut problems = Vec::new();
    for i in 0..list.len() {
        let Some(name) = list.name(i) else {
            return Err("the host gave an attribute without a name".to_owned());
        };
        match known.iter().position(|attr| attr.name.as_bytes() == name) {
            Some(k) if kinds[k] != 0 => problems.push(format!("attribute `{}` is given twice", known[k].name)),
            Some(k) => (kinds[k], values[k]) = list.parts(i),
            None if extra_allowed => {}
            None => {
                let name = String::from_utf8_lossy(name);
                let hint = names::did_you_mean(&name, known.iter().map(|attr| attr.name));
                problems.push(format!("there is no attribute `{name}`{hint}"));
            }
        }
    }
    for (attr, kind) in known.iter().zip(kinds) {
        if *kind == 0 && matches!(attr.presence, Presence::Required) {
            problems.push(format!("attribute `{}` is missing", attr.name));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let list = known.iter().map(|attr| format!("`{}`", attr.name)).collect::<Vec<_>>().join(", ");
    let takes = if known.is_empty() { "it takes no attributes".to_owned() } else { format!("it takes {list}") };
    Err(format!("{}; {takes}", problems.join("; ")))
}
