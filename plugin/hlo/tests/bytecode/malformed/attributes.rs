//! Attributes and locations.

use oxcall_hlo::{Attribute, ElementType};

use super::{code, read_attribute, read_body, return_op};
use crate::made::{BUILTIN, File, VHLO, attr, has, list, op, op_header, ty, varint};

#[test]
fn integers_have_the_bits_of_their_types() {
    use ElementType::{S4, S8, S16, U4, U8, U16, U64};
    // Up to eight bits are a byte, others are zigzag-encoded.
    for (code, number, expected) in [
        (code::S4, vec![0x0f], Attribute::Integer(-1, S4)),
        (code::S4, vec![0x07], Attribute::Integer(7, S4)),
        (code::U4, vec![0x0f], Attribute::Integer(15, U4)),
        (code::S8, vec![0xff], Attribute::Integer(-1, S8)),
        (code::S8, vec![0x7f], Attribute::Integer(127, S8)),
        (code::U8, vec![0xff], Attribute::Integer(255, U8)),
        (code::S16, varint(1), Attribute::Integer(-1, S16)),
        (code::S16, varint(599), Attribute::Integer(-300, S16)),
        (code::S16, varint(600), Attribute::Integer(300, S16)),
        (code::U16, varint(1), Attribute::Integer(65535, U16)),
        (code::U64, varint(1), Attribute::Integer(-1, U64)),
        (code::BOOL, vec![1], Attribute::Bool(true)),
        (code::BOOL, vec![0], Attribute::Bool(false)),
    ] {
        let mut file = File::new();
        let ty = file.add_type(&[code]);
        let value = file.add(VHLO, &[varint(9), varint(ty), number].concat());
        assert_eq!(read_attribute(file, value).unwrap(), expected);
    }
}

/// The error of an attribute of the dialect.
fn attribute_error(file: File, value: usize) -> String {
    read_attribute(file, value).unwrap_err().to_string()
}

#[test]
fn attributes_whose_parts_contradict_each_other() {
    let error = |make: &dyn Fn(&mut File) -> usize| {
        let mut file = File::new();
        let value = make(&mut file);
        attribute_error(file, value)
    };
    let integer = error(&|file| {
        let ty = file.add_type(&[code::F32]);
        file.add(VHLO, &[varint(9), varint(ty), varint(0)].concat())
    });
    assert!(integer.contains("an integer cannot have type f32"), "{integer}");
    let float = error(&|file| file.add(VHLO, &[varint(8), varint(ty::S32), varint(0)].concat()));
    assert!(float.contains("a float cannot have type i32"), "{float}");
    let array =
        error(&|file| file.add(BUILTIN, &[varint(17), varint(ty::S32), varint(2), varint(4), vec![0; 4]].concat()));
    assert!(array.contains("an array of 2 i32 cannot have 4 bytes"), "{array}");
    let constant = error(&|file| file.add(VHLO, &[varint(15), varint(ty::SCALAR), varint(3), vec![0; 3]].concat()));
    assert!(constant.contains("a constant tensor<i32> must have 4 bytes, got 3"), "{constant}");
    let twice = error(&|file| file.add_dictionary(&[(attr::MAIN, attr::MAIN), (attr::MAIN, attr::EMPTY_LIST)]));
    assert!(twice.contains("a dictionary must have each name once"), "{twice}");
    let key = error(&|file| file.add_dictionary(&[(attr::EMPTY_LIST, attr::MAIN)]));
    assert!(key.contains("expected a string attribute"), "{key}");
    let index = error(&|file| file.add(VHLO, &[varint(10), list([]), varint(1), list([])].concat()));
    assert!(index.contains("an index must not be negative, got -1"), "{index}");
    let direction = error(&|file| file.add(VHLO, &[varint(4), varint(5)].concat()));
    assert!(direction.contains("comparison_type 5 must be less than 5"), "{direction}");
}

/// A list of lists, and a dictionary of dictionaries.
#[test]
fn attributes_nest_so_deep_and_no_deeper() {
    for (levels, fits) in [(64, true), (65, false)] {
        let mut file = File::new();
        let last = (0..levels).fold(attr::EMPTY_LIST, |last, _| file.add_list([last]));
        assert_eq!(read_attribute(file, last).map(drop).map_err(|error| error.message), depth(fits));
        let mut file = File::new();
        let last = (0..levels).fold(attr::EMPTY_LIST, |last, _| file.add_dictionary(&[(attr::MAIN, last)]));
        assert_eq!(read_attribute(file, last).map(drop).map_err(|error| error.message), depth(fits));
    }
    fn depth(fits: bool) -> Result<(), String> {
        if fits { Ok(()) } else { Err("attributes nest too deeply".to_owned()) }
    }
}

/// The budget for copies has a part that is the same for every program.
#[test]
fn small_programs_may_share_much() {
    let mut file = File::new();
    let last = (0..14).fold(attr::EMPTY_LIST, |last, _| file.add_list([last, last]));
    assert!(read_attribute(file, last).is_ok());
}

/// Attributes of custom calls that have no form of their own are kept in words.
#[test]
fn attributes_that_are_kept_in_words() {
    let kept = |make: &dyn Fn(&mut File) -> usize| {
        let mut file = File::new();
        let value = make(&mut file);
        read_attribute(file, value).unwrap()
    };
    let in_words = |text: &str| Attribute::Other(text.to_owned());
    assert_eq!(kept(&|file| file.add(BUILTIN, &varint(7))), Attribute::Unit);
    assert_eq!(kept(&|file| file.add(VHLO, &[varint(11), varint(1)].concat())), in_words("#stablehlo<precision HIGH>"));
    let alias = |file: &mut File| {
        let numbers = [list([1 << 1, 2 << 1]), varint(3 << 1), list([4 << 1])].concat();
        file.add(VHLO, &[varint(10), numbers].concat())
    };
    assert_eq!(
        kept(&alias),
        in_words(
            "#stablehlo.output_operand_alias<output_tuple_indices = [1, 2], operand_index = 3, \
             operand_tuple_indices = [4]>"
        )
    );
    let of_type = |file: &mut File, data: &[u8]| {
        let ty = file.add_type(data);
        file.add(VHLO, &[varint(17), varint(ty)].concat())
    };
    assert_eq!(kept(&|file| of_type(file, &[code::F32])), in_words("f32"));
    assert_eq!(kept(&|file| of_type(file, &[33])), in_words("none"));
    assert_eq!(kept(&|file| of_type(file, &[34])), in_words("tf32"));
    assert_eq!(kept(&|file| of_type(file, &[25])), in_words(r#"#vhlo.described<"an unranked tensor">"#));
    let function = [&[8][..], &list([]), &list([])].concat();
    assert_eq!(kept(&|file| of_type(file, &function)), in_words(r#"#vhlo.described<"a function type">"#));
    assert_eq!(kept(&|file| file.add(BUILTIN, &varint(15))), in_words("loc(...)"));
    assert_eq!(
        kept(&|file| file.add(VHLO, &varint(99))),
        in_words(r#"#vhlo.described<"an attribute of VHLO with code 99">"#)
    );
    assert_eq!(
        kept(&|file| file.add(VHLO, &[varint(18), list([3])].concat())),
        in_words(r#"#vhlo.described<"the bounds of a tensor type">"#)
    );
    let foreign = |file: &mut File| {
        let dialect = file.dialect("foreign");
        let value = file.add(dialect, &varint(0));
        file.add_list([value])
    };
    assert_eq!(
        kept(&foreign),
        Attribute::Array(vec![in_words(r#"#vhlo.described<"an attribute of dialect foreign">"#)])
    );
}

/// Locations that nest are kept; what lies too deep in them is unknown.
#[test]
fn locations_nest_so_deep_and_no_deeper() {
    for (levels, known) in [(64, true), (65, false)] {
        let mut file = File::new();
        let innermost = file.add(BUILTIN, &[varint(11), varint(attr::MAIN), varint(7), varint(8)].concat());
        let location = (0..levels).fold(innermost, |inner, level| {
            let unknown = attr::UNKNOWN_LOCATION;
            let data = match level % 4 {
                0 => [varint(14), varint(attr::MAIN), varint(inner)].concat(),
                1 => [varint(10), varint(inner), varint(unknown)].concat(),
                2 => [varint(10), varint(unknown), varint(inner)].concat(),
                _ => [varint(12), list([inner])].concat(),
            };
            file.add(BUILTIN, &data)
        });
        let op = [op_header(op::AFTER_ALL, has::RESULTS, location), list([ty::TOKEN])].concat();
        let module = read_body(file, 2, 2, &[op, return_op()].concat()).unwrap();
        let location = module.location(module.main().body.ops[0].location).to_string();
        assert_eq!(location.contains("main:7:8"), known, "{location}");
    }
}
