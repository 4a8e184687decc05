//! Code that both derives share.

use syn::{Attribute, Data, Path, parse_quote};

use crate::attrs::{self, AttrArgs};
use crate::errors::Errors;
use crate::{entries, messages};

/// `#[attr(crate = path)]` on the item, or `::oxcall`.
pub(crate) fn krate(attrs: &[Attribute], errors: &mut Errors) -> Path {
    let mut krate: Path = parse_quote!(::oxcall);
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("attr")) {
        let tokens = errors.ok(attrs::list(attr)).flatten().unwrap_or_default();
        if tokens.is_empty() {
            errors.push(attr, messages::item_attr_position("crate = path"));
        }
        entries::parse(tokens, "`crate = path`", errors, |key, input, _| {
            if *key != "crate" {
                return Err(syn::Error::new_spanned(key, messages::item_attr_position("crate = path")));
            }
            krate = entries::path(key, input)?;
            Ok(())
        });
    }
    krate
}

/// The arguments of the `#[attr(...)]` of a field or variant.
pub(crate) fn attr_args(attrs: &[Attribute], allowed: &[&str], errors: &mut Errors) -> AttrArgs {
    let mut found = attrs.iter().filter(|attr| attr.path().is_ident("attr"));
    let args = found.next().map(|attr| attrs::attr_args(attr, allowed, errors));
    for attr in found {
        errors.push(attr, messages::helper_twice("attr"));
    }
    args.and_then(|args| errors.ok(args)).unwrap_or_default()
}

/// The kind of an item, in words.
pub(crate) fn kind(data: &Data) -> &'static str {
    match data {
        Data::Struct(_) => "a struct",
        Data::Enum(_) => "an enum",
        Data::Union(_) => "a union",
    }
}
