//! Attributes of Shardy, and groups that are axes of a mesh.

use oxcall_hlo::{Attribute, Error, ErrorKind};

use super::read_attribute;
use crate::made::{BUILTIN, File, VHLO, attr, list, varint};

/// The codes of Shardy's attributes.
mod sdy {
    pub(super) const MANUAL_AXES: usize = 0;
    pub(super) const MESH_AXIS: usize = 1;
    pub(super) const MESH: usize = 2;
    pub(super) const SUB_AXIS: usize = 3;
    pub(super) const AXIS: usize = 4;
    pub(super) const DIM_SHARDING: usize = 5;
    pub(super) const SHARDING: usize = 6;
    pub(super) const PER_VALUE: usize = 7;
    pub(super) const SHARDING_2: usize = 15;
    pub(super) const SHARDING_3: usize = 17;
}

/// A file with Shardy's dialect.
struct Shardy {
    file: File,
    dialect: usize,
}

fn signed(value: usize) -> Vec<u8> {
    varint(value << 1)
}

const MINUS_ONE: usize = 1;

impl Shardy {
    fn new() -> Shardy {
        let mut file = File::new();
        let dialect = file.dialect("sdy");
        Shardy { file, dialect }
    }

    fn add(&mut self, code: usize, parts: &[Vec<u8>]) -> usize {
        self.file.add(self.dialect, &[varint(code), parts.concat()].concat())
    }

    fn mesh(&mut self, axes: &[(&str, usize)], device_ids: &[usize]) -> usize {
        let axes: Vec<usize> = axes
            .iter()
            .map(|&(name, size)| {
                let name = self.file.string(name);
                self.add(sdy::MESH_AXIS, &[varint(name), signed(size)])
            })
            .collect();
        self.add(sdy::MESH, &[list(axes), list(device_ids.iter().map(|id| id << 1))])
    }

    /// An axis, of which `part` is used.
    fn axis(&mut self, name: &str, part: Option<usize>) -> usize {
        let name = self.file.string(name);
        self.add(sdy::AXIS, &[varint(name), varint(part.map_or(0, |part| part << 1 | 1))])
    }

    /// A sharding of no dimensions over a mesh that has a name.
    fn named(&mut self, code: usize, rest: &[Vec<u8>]) -> usize {
        let mesh = self.file.add(BUILTIN, &[varint(4), varint(attr::MAIN)].concat());
        self.add(code, &[vec![varint(mesh), list([]), list([])], rest.to_vec()].concat())
    }

    fn read(self, value: usize) -> Result<Attribute, Error> {
        read_attribute(self.file, value)
    }

    #[track_caller]
    fn refused(self, value: usize, words: &str) {
        let error = self.read(value).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// The text of a sharding or mesh.
fn text(attribute: Attribute) -> String {
    match attribute {
        Attribute::Sharding(sharding) => sharding.to_string(),
        Attribute::Mesh(mesh) => mesh.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn shardings_with_all_parts() {
    let mut all = Shardy::new();
    let mesh = all.mesh(&[("x", 8), ("y", 2)], &[]);
    let part = all.add(sdy::SUB_AXIS, &[signed(2), signed(4)]);
    let [x, y, z] = [("x", Some(part)), ("y", None), ("z", None)].map(|(name, part)| all.axis(name, part));
    let first = all.add(sdy::DIM_SHARDING, &[list([x]), vec![1], varint(0)]);
    let second = all.add(sdy::DIM_SHARDING, &[list([]), vec![0], varint(3 << 1 | 1)]);
    let parts = [varint(mesh), list([first, second]), list([y]), list([z])];
    let sharding = all.add(sdy::SHARDING_2, &parts);
    assert_eq!(
        text(all.read(sharding).unwrap()),
        r#"<mesh<["x"=8, "y"=2]>, [{"x":(2)4}, {?}p3], replicated={"y"}, unreduced={"z"}>"#
    );
    let mut plain = Shardy::new();
    let sharding = plain.named(sdy::SHARDING, &[]);
    assert_eq!(text(plain.read(sharding).unwrap()), "<@main, []>");
    let mut mesh = Shardy::new();
    let devices = mesh.mesh(&[("x", 2)], &[1, 0]);
    assert_eq!(text(mesh.read(devices).unwrap()), r#"["x"=2], device_ids=[1, 0]"#);
    let mut axes = Shardy::new();
    let manual = axes.add(sdy::MANUAL_AXES, &[list([attr::MAIN, attr::MAIN])]);
    assert_eq!(axes.read(manual).unwrap(), Attribute::ManualAxes(vec!["main".to_owned(), "main".to_owned()]));
}

#[test]
fn parts_that_are_something_else() {
    let other = "expected another kind of attribute in a sharding";
    let mut shardy = Shardy::new();
    let mesh = shardy.add(sdy::SHARDING, &[varint(attr::MAIN), list([]), list([])]);
    shardy.refused(mesh, "expected the name of a mesh");
    // An axis where a dimension must be, an attribute of another dialect, and a mesh where a sharding must be.
    let mut shardy = Shardy::new();
    let axis = shardy.axis("x", None);
    let mesh = shardy.file.add(BUILTIN, &[varint(4), varint(attr::MAIN)].concat());
    let sharding = shardy.add(sdy::SHARDING, &[varint(mesh), list([axis]), list([])]);
    shardy.refused(sharding, other);
    let mut shardy = Shardy::new();
    let of_vhlo = shardy.file.add(VHLO, &varint(sdy::SHARDING));
    let all = shardy.add(sdy::PER_VALUE, &[list([of_vhlo])]);
    shardy.refused(all, other);
    let mut shardy = Shardy::new();
    let mesh = shardy.mesh(&[("x", 2)], &[]);
    let all = shardy.add(sdy::PER_VALUE, &[list([mesh])]);
    shardy.refused(all, other);

    let mut shardy = Shardy::new();
    let name = shardy.file.string("x");
    let axis = shardy.add(sdy::MESH_AXIS, &[varint(name), varint(MINUS_ONE)]);
    let mesh = shardy.add(sdy::MESH, &[list([axis]), list([])]);
    shardy.refused(mesh, "a size or index must not be negative, got -1");
    let mut shardy = Shardy::new();
    let mesh = shardy.add(sdy::MESH, &[list([]), list([MINUS_ONE])]);
    shardy.refused(mesh, "a size must not be negative, got -1");
    let mut shardy = Shardy::new();
    let mesh = shardy.mesh(&[("x", 2), ("x", 2)], &[]);
    shardy.refused(mesh, "must have at least one device and different names");

    let mut shardy = Shardy::new();
    let sharding = shardy.named(sdy::SHARDING_3, &[list([])]);
    let error = shardy.read(sharding).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("unreduced axes that are not to be summed are not supported"), "{error}");
}

/// A list of one mesh, written once and copied for each entry.
#[test]
fn copies_of_shardings_are_bounded() {
    for (copies, fits) in [(10, true), (10_000, false)] {
        let mut shardy = Shardy::new();
        let devices = 4096;
        let ids: Vec<usize> = (0..devices).rev().collect();
        let mesh = shardy.mesh(&[("x", devices)], &ids);
        let all = shardy.file.add_list(vec![mesh; copies]);
        match shardy.read(all) {
            Ok(_) => assert!(fits),
            Err(error) => assert_eq!((error.kind, fits), (ErrorKind::TooLarge, false), "{error}"),
        }
    }
}

/// Groups are kept in words where they are no attribute of a collective.
#[test]
fn axes_of_meshes() {
    let with_mesh = |make: &dyn Fn(&mut File) -> usize| {
        let mut file = File::new();
        let mesh = make(&mut file);
        let part = file.add(VHLO, &[varint(21), signed(2), signed(4)].concat());
        let x = file.text("x");
        let whole = file.add(VHLO, &[varint(22), varint(x), varint(0)].concat());
        let split = file.add(VHLO, &[varint(22), varint(x), varint(1), varint(part)].concat());
        let axes = file.add_list([whole, split]);
        let groups = file.add(VHLO, &[varint(23), varint(mesh), varint(axes)].concat());
        read_attribute(file, groups)
    };
    let in_words = |mesh: &str| {
        let text = format!("#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [\"x\", \"x\":(2)4]>");
        Attribute::Other(text)
    };
    assert_eq!(with_mesh(&|_| attr::MAIN).unwrap(), in_words("@main"));
    let mesh = |size: usize, ids: Option<(u8, Vec<u8>)>| {
        with_mesh(&|file| {
            let x = file.text("x");
            let axis = file.add(VHLO, &[varint(24), varint(x), varint(size)].concat());
            let axes = file.add_list([axis]);
            let ids = ids.clone().map_or(0, |(count, data)| {
                let s8 = file.add_type(&[super::code::S8]);
                let ty = file.add_type(&[&[20][..], &list([usize::from(count) << 1]), &varint(s8)].concat());
                file.add(VHLO, &[varint(15), varint(ty), varint(data.len()), data].concat()) << 1 | 1
            });
            file.add(VHLO, &[varint(25), varint(axes), varint(ids)].concat())
        })
    };
    assert_eq!(mesh(2 << 1, None).unwrap(), in_words("mesh<[\"x\"=2]>"));
    assert_eq!(mesh(2 << 1, Some((2, vec![1, 0]))).unwrap(), in_words("mesh<[\"x\"=2], device_ids=[1, 0]>"));
    for (result, words) in [
        (mesh(MINUS_ONE, None), "a size must not be negative, got -1"),
        (mesh(2 << 1, Some((2, vec![1, 0xff]))), "a device id must not be negative, got -1"),
        (mesh(2 << 1, Some((2, vec![1, 1]))), "must have each of its devices once"),
        (with_mesh(&|file| file.add(BUILTIN, &varint(7))), "expected a mesh"),
        (with_mesh(&|_| attr::EMPTY_LIST), "expected another kind of attribute in a mesh"),
    ] {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}
