//! Listings: the same code, with labels.

use super::*;
use crate::{Block, End, Place, Region, Routine, Target, Unary};

/// `sqrt(a * b + 2)`, where a constant and an operation that nothing uses are left out.
fn arithmetic(lanes: Builder) -> Program {
    let [a, b] = [0, 1].map(|array| lanes.load(array, Width::Word));
    lanes.enter(|| "unused".to_owned());
    lanes.binary(Binary::Subtract, a, b);
    lanes.enter(|| "hypot".to_owned());
    let product = lanes.binary(Binary::Multiply, a, b);
    let sum = lanes.binary(Binary::Add, product, lanes.constant(2.0_f32.to_bits()));
    lanes.enter(|| "sqrt".to_owned());
    lanes.store(2, Width::Word, lanes.unary(Unary::Sqrt, sum));
    lanes.build()
}

fn present() -> impl Iterator<Item = Isa> {
    Isa::all().filter(|isa| Kernel::is_supported() && isa.is_present())
}

#[test]
fn each_operation_has_a_label_before_its_instructions() {
    for isa in present() {
        for counts in [Counts::Blocks, Counts::Any] {
            let kernel = Kernel::compile_for(&arithmetic(Builder::listed()), isa, counts).unwrap();
            let listing = kernel.listing();
            let names: Vec<&str> = listing.marks.iter().map(|mark| mark.name.as_str()).collect();
            let turn = [
                "%0 = load array 0",
                "%1 = load array 1",
                "hypot: %2 = multiply %0, %1",
                "hypot: %3 = constant 0x40000000",
                "hypot: %4 = add %2, %3",
                "sqrt: %5 = sqrt %4",
                "array 2 = %5",
            ];
            let mut expected = vec!["loop"];
            expected.extend(turn);
            if counts == Counts::Any {
                expected.push("tail");
                expected.extend(turn);
                expected.push("next row");
            }
            expected.extend(["leave", "constants"]);
            if names.last() != Some(&"constants") {
                expected.pop();
            }
            assert_eq!(names, expected, "{isa:?}");
            assert!(listing.marks.windows(2).all(|pair| pair[0].offset <= pair[1].offset), "{listing:?}");
            assert!(listing.marks.iter().all(|mark| mark.offset < listing.bytes.len()), "{listing:?}");
            let at = |name: &str| listing.marks.iter().find(|mark| mark.name.ends_with(name)).unwrap().offset;
            // Everything but constants has instructions.
            let (product, sum) = (at("multiply %0, %1"), at("add %2, %3"));
            assert!(at("load array 1") < product && product < sum && sum < at("sqrt %4"), "{listing:?}");
        }
    }
}

#[test]
fn labels_change_no_code() {
    for isa in present() {
        let [plain, listed] = [Builder::new(), Builder::listed()]
            .map(|lanes| Kernel::compile_for(&arithmetic(lanes), isa, Counts::Any).unwrap());
        assert_eq!(plain.listing().bytes, listed.listing().bytes);
        assert_eq!(plain.listing().marks, []);
        assert_ne!(plain.listing().address, listed.listing().address);
    }
}

#[test]
fn blocks_have_labels_between_their_starts() {
    let place = Place { slot: 3, offset: 8, lanes: 4, width: Width::Word, is_exact: false };
    let block = |end: End| {
        let lanes = Builder::listed();
        lanes.enter(|| "step 7".to_owned());
        lanes.set_lanes(4);
        let value = lanes.read(place, None, 0);
        lanes.write(place, None, lanes.binary(Binary::AddBits, value, value));
        Block::new(lanes, end)
    };
    let region = Region { blocks: vec![block(End::Jump(Target::Block(1))), block(End::Jump(Target::Exit(0)))] };
    for isa in present() {
        let routine = Routine::compile_for(&region, isa).unwrap();
        let (listing, starts) = (routine.listing(), routine.starts());
        let second: Vec<&str> =
            (listing.marks.iter()).filter(|mark| mark.offset >= starts[1]).map(|mark| mark.name.as_str()).collect();
        let expected = [
            "step 7: %0 = read slot 3 [8]",
            "step 7: %1 = add bits %0, %0",
            "step 7: slot 3 [8] = %1",
            "end of the block",
        ];
        assert_eq!(second, expected, "{isa:?}");
        assert_eq!(listing.marks.iter().filter(|mark| mark.name == expected[0]).count(), 2);
        assert_eq!(listing.marks[0].name, "leave");
    }
}
