//! The bindings of PJRT beside an independent table of sizes and offsets, made from the headers of 0.114.
//!
//! Those of 0.90 that grew since agree as far as they go; what was added later must agree exactly.

use std::collections::BTreeMap;

use xla_ffi_sys::pjrt_later::LAYOUTS;

/// The size with and without padding, and the fields' offsets.
type Layout = (usize, usize, BTreeMap<String, usize>);

/// Lines of a name, the two sizes, and `field@offset`.
fn expected() -> BTreeMap<String, Layout> {
    let line = |line: &'static str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let mut number = || words.next().unwrap().parse().unwrap();
        let (size, struct_size) = (number(), number());
        let field = |word: &str| word.split_once('@').map(|(name, at)| (name.to_owned(), at.parse().unwrap())).unwrap();
        (name.to_owned(), (size, struct_size, words.map(field).collect()))
    };
    include_str!("pjrt_0_114.txt").lines().map(line).collect()
}

/// The layouts that the generated file asserts about itself: it does not compile where they are wrong.
fn generated() -> BTreeMap<String, Layout> {
    let source = include_str!("../src/pjrt.rs");
    let mut layouts = BTreeMap::<String, Layout>::new();
    for (marker, is_size) in [("[\"Size of ", true), ("[\"Offset of field: ", false)] {
        for assertion in source.split(marker).skip(1) {
            let (what, rest) = assertion.split_once("\"]").unwrap();
            let number = rest.split_once("- ").unwrap().1.split_once("usize").unwrap().0.parse().unwrap();
            if is_size {
                layouts.insert(what.to_owned(), (number, struct_size(source, what).unwrap_or(number), BTreeMap::new()));
            } else {
                let (name, field) = what.split_once("::").unwrap();
                let field = field.strip_suffix('_').unwrap_or(field);
                layouts.get_mut(name).unwrap().2.insert(field.to_owned(), number);
            }
        }
    }
    layouts
}

/// The constant that callers set `struct_size` to.
fn struct_size(source: &str, name: &str) -> Option<usize> {
    let (_, rest) = source.split_once(&format!("pub const {name}_STRUCT_SIZE: "))?;
    rest.split_once("= ")?.1.split_once(';')?.0.parse().ok()
}

#[test]
fn structs_of_the_header_only_grew() {
    let expected = expected();
    let generated = generated();
    let mut compared = 0;
    for (name, (size, _, fields)) in &generated {
        let Some((new_size, _, new_fields)) = expected.get(name) else { continue };
        assert!(size <= new_size, "{name}: {size} bytes, later {new_size}");
        for (field, offset) in fields {
            // The unions, which have no name, do not compare.
            if let Some(later) = new_fields.get(field) {
                assert_eq!(offset, later, "{name}::{field}");
                compared += 1;
            } else {
                assert!(field.starts_with("__bindgen_anon"), "{name}::{field} is no longer there");
            }
        }
    }
    assert!(compared > 700, "{compared} fields");
    for (name, (size, struct_size, _)) in &generated {
        let Some((new_size, new_struct_size, _)) = expected.get(name) else { continue };
        if size == new_size {
            assert_eq!(struct_size, new_struct_size, "{name}_STRUCT_SIZE");
        } else {
            let grown = format!("{name}_Later");
            let ours = LAYOUTS.iter().find(|layout| layout.0 == grown).map(|layout| layout.1);
            assert!(
                ours == Some(*new_size) || UNUSED.contains(&name.as_str()),
                "{name} grew from {size} to {new_size}"
            );
        }
    }
}

/// Structs that grew, of functions that this project does not implement.
const UNUSED: [&str; 1] = ["PJRT_Device_PoisonExecution_Args"];

#[test]
fn what_was_added_agrees() {
    let expected = expected();
    for (name, size, struct_size, fields) in LAYOUTS {
        let (new_size, new_struct_size, new_fields) = expected
            .get(name.strip_suffix("_Later").unwrap_or(name))
            .unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!((size, struct_size), (new_size, new_struct_size), "{name}");
        for (field, offset) in fields.iter().filter(|(field, _)| *field != "base") {
            assert_eq!(Some(offset), new_fields.get(*field), "{name}::{field}");
        }
    }
}
