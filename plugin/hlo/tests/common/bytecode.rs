//! Bytecode made by hand: artifacts of one function, and what no writer writes.
#![allow(dead_code, reason = "each program of tests uses a part")]

/// The number of the newest bytecode version.
pub(crate) const NEWEST: u8 = 6;

pub(crate) fn varint(value: usize) -> Vec<u8> {
    let bits = (usize::BITS - value.leading_zeros()).max(1) as usize;
    let length = bits.div_ceil(7);
    assert!(length < 9, "not needed here");
    let word = (value << 1 | 1) << (length - 1);
    word.to_le_bytes()[..length].to_vec()
}

pub(crate) fn list(items: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let items: Vec<Vec<u8>> = items.into_iter().map(varint).collect();
    [varint(items.len()), items.concat()].concat()
}

pub(crate) fn section(number: u8, data: &[u8]) -> Vec<u8> {
    [&[number][..], &varint(data.len()), data].concat()
}

/// A file that is being made.
pub(crate) struct File {
    /// The bytecode version.
    pub(crate) version: u8,
    /// Attributes, each after the number of its dialect.
    pub(crate) attributes: Vec<Vec<u8>>,
    /// Types, as attributes.
    pub(crate) types: Vec<Vec<u8>>,
    strings: Vec<Vec<u8>>,
    dialects: Vec<usize>,
    /// Dialects and names of ops, and whether the writer knew them.
    ops: Vec<(usize, usize, bool)>,
    properties: Vec<Vec<u8>>,
}

/// Op names that every file has, by number.
pub(crate) mod op {
    pub(crate) const MODULE: usize = 0;
    pub(crate) const FUNC: usize = 1;
    pub(crate) const RETURN: usize = 2;
    pub(crate) const AFTER_ALL: usize = 3;
    pub(crate) const CASE: usize = 4;
    pub(crate) const BROADCAST: usize = 5;
    pub(crate) const CUSTOM_CALL: usize = 6;
    pub(crate) const ALL_GATHER: usize = 7;
}

/// The names of ops of VHLO, in the order of their numbers.
const OPS: &[&str] =
    &["func_v1", "return_v1", "after_all_v1", "case_v1", "broadcast_in_dim_v1", "custom_call_v1", "all_gather_v2"];

/// What an op's header has, beside its name and location.
pub(crate) mod has {
    pub(crate) const ATTRIBUTES: u8 = 0x01;
    pub(crate) const RESULTS: u8 = 0x02;
    pub(crate) const OPERANDS: u8 = 0x04;
    pub(crate) const SUCCESSORS: u8 = 0x08;
    pub(crate) const REGIONS: u8 = 0x10;
    pub(crate) const USE_LISTS: u8 = 0x20;
    pub(crate) const PROPERTIES: u8 = 0x40;
}

/// Types that every file has.
pub(crate) mod ty {
    pub(crate) const TOKEN: usize = 0;
    pub(crate) const S32: usize = 1;
    pub(crate) const SCALAR: usize = 2;
}

/// Attributes that every file has.
pub(crate) mod attr {
    pub(crate) const MAIN: usize = 0;
    pub(crate) const UNKNOWN_LOCATION: usize = 1;
    pub(crate) const EMPTY_LIST: usize = 2;
}

/// The dialects that every file has.
pub(crate) const VHLO: usize = 0;
pub(crate) const BUILTIN: usize = 1;

impl File {
    pub(crate) fn new() -> File {
        let mut file = File {
            version: NEWEST,
            attributes: Vec::new(),
            types: Vec::new(),
            strings: Vec::new(),
            dialects: Vec::new(),
            ops: Vec::new(),
            properties: Vec::new(),
        };
        file.dialect("vhlo");
        file.dialect("builtin");
        file.op(BUILTIN, "module");
        OPS.iter().for_each(|name| _ = file.op(VHLO, name));
        file.add_type(&[22]);
        file.add_type(&[13]);
        file.add_type(&[&[20][..], &list([]), &varint(ty::S32)].concat());
        file.text("main");
        file.add(BUILTIN, &varint(15));
        file.add(VHLO, &[varint(1), list([])].concat());
        file
    }

    /// Adds a string.
    pub(crate) fn string(&mut self, string: impl AsRef<[u8]>) -> usize {
        self.strings.push(string.as_ref().to_vec());
        self.strings.len() - 1
    }

    /// Adds a dialect.
    pub(crate) fn dialect(&mut self, name: &str) -> usize {
        let name = self.string(name);
        self.dialects.push(name);
        self.dialects.len() - 1
    }

    /// Adds the name of an op.
    pub(crate) fn op(&mut self, dialect: usize, name: impl AsRef<[u8]>) -> usize {
        let name = self.string(name);
        self.ops.push((dialect, name, true));
        self.ops.len() - 1
    }

    /// Adds the name of an op that the writer does not know: its properties are a dictionary.
    pub(crate) fn unregistered_op(&mut self, dialect: usize, name: &str) -> usize {
        let number = self.op(dialect, name);
        self.ops[number].2 = false;
        number
    }

    /// Adds an attribute of a dialect.
    pub(crate) fn add(&mut self, dialect: usize, data: &[u8]) -> usize {
        self.attributes.push([varint(dialect), data.to_vec()].concat());
        self.attributes.len() - 1
    }

    /// Adds a string attribute.
    pub(crate) fn text(&mut self, text: impl AsRef<[u8]>) -> usize {
        let string = self.string(text);
        self.add(VHLO, &[varint(14), varint(string)].concat())
    }

    /// Adds a list.
    pub(crate) fn add_list(&mut self, items: impl IntoIterator<Item = usize>) -> usize {
        self.add(VHLO, &[varint(1), list(items)].concat())
    }

    /// Adds a dictionary.
    pub(crate) fn add_dictionary(&mut self, entries: &[(usize, usize)]) -> usize {
        let ids: Vec<u8> = entries.iter().flat_map(|&(name, value)| [varint(name), varint(value)].concat()).collect();
        self.add(VHLO, &[varint(6), varint(entries.len()), ids].concat())
    }

    /// Adds a type of VHLO. The codes here are below 64, so a byte of a varint.
    pub(crate) fn add_type(&mut self, data: &[u8]) -> usize {
        self.add_type_of(VHLO, &[&varint(usize::from(data[0]))[..], &data[1..]].concat())
    }

    /// Adds a type of a dialect.
    pub(crate) fn add_type_of(&mut self, dialect: usize, data: &[u8]) -> usize {
        self.types.push([varint(dialect), data.to_vec()].concat());
        self.types.len() - 1
    }

    pub(crate) fn add_properties(&mut self, ids: impl IntoIterator<Item = usize>) -> usize {
        self.properties.push(ids.into_iter().flat_map(varint).collect());
        self.properties.len() - 1
    }

    /// The file whose function `main` has these parameters, attributes of parameters, and `ops` ops before the return.
    pub(crate) fn finish(
        mut self,
        parameters: &[usize],
        arg_attrs: usize,
        values: usize,
        ops: usize,
        body: &[u8],
    ) -> Vec<u8> {
        let body = [body, &op_header(op::RETURN, 0, attr::UNKNOWN_LOCATION)].concat();
        let func = self.func(parameters, arg_attrs, values, ops + 1, &body);
        self.module(&func)
    }

    /// The function `main` with these parameters and attributes of parameters, whose region announces so many values
    /// and ops.
    pub(crate) fn func(
        &mut self,
        parameters: &[usize],
        arg_attrs: usize,
        values: usize,
        ops: usize,
        body: &[u8],
    ) -> Vec<u8> {
        let function = self.add_type(&[&[8][..], &list(parameters.iter().copied()), &list([])].concat());
        let function = self.add(VHLO, &[varint(17), varint(function)].concat());
        let none = attr::EMPTY_LIST;
        let properties = self.add_properties([arg_attrs, function, none, attr::MAIN, attr::MAIN]);
        let has_arguments = !parameters.is_empty();
        let mut region = [varint(1), varint(values), varint(ops << 1 | usize::from(has_arguments))].concat();
        if has_arguments {
            region.extend(list(parameters.iter().map(|ty| ty << 1)));
            region.push(0);
        }
        region.extend(body);
        let mut func = op_header(op::FUNC, has::PROPERTIES | has::REGIONS, attr::UNKNOWN_LOCATION);
        func.extend([varint(properties), varint(1 << 1 | 1)].concat());
        func.extend(section(4, &region));
        func
    }

    /// The file whose module has this one member.
    pub(crate) fn module(&self, member: &[u8]) -> Vec<u8> {
        container(self.version, &self.sections(&in_module(member)))
    }

    /// The sections of the file, with these ops.
    pub(crate) fn sections(&self, ir: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let lengths = self.strings.iter().rev().flat_map(|string| varint(string.len() + 1));
        let mut strings: Vec<u8> = varint(self.strings.len()).into_iter().chain(lengths).collect();
        self.strings.iter().for_each(|string| strings.extend([string, &[0][..]].concat()));
        let mut dialects = list(self.dialects.iter().map(|name| name << 1));
        dialects.extend(varint(self.ops.len()));
        for &(dialect, name, registered) in &self.ops {
            // From version 5 on with whether the writer knew the op.
            let name = if self.version < 5 { name } else { name << 1 | usize::from(registered) };
            dialects.extend([varint(dialect), list([name])].concat());
        }
        let mut offsets = [varint(self.attributes.len()), varint(self.types.len())].concat();
        let mut entries = Vec::new();
        for entry in self.attributes.iter().chain(&self.types) {
            // The first byte is the dialect.
            offsets.extend([&entry[..1], &varint(1), &varint((entry.len() - 1) << 1 | 1)].concat());
            entries.extend(&entry[1..]);
        }
        let mut properties = varint(self.properties.len());
        self.properties.iter().for_each(|data| properties.extend([&varint(data.len())[..], data].concat()));
        vec![(0, strings), (1, dialects), (2, entries), (3, offsets), (4, ir.to_vec()), (8, properties)]
    }
}

/// The IR section of a module that has this one member.
pub(crate) fn in_module(member: &[u8]) -> Vec<u8> {
    let region = [&varint(1)[..], &varint(0), &varint(1 << 1), member].concat();
    let header = op_header(op::MODULE, has::REGIONS, attr::UNKNOWN_LOCATION);
    [varint(1 << 1), header, varint(1 << 1 | 1), section(4, &region)].concat()
}

/// A file of a version and of these sections.
pub(crate) fn container(version: u8, sections: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let sections = sections.iter().flat_map(|(number, data)| section(*number, data));
    [b"ML\xefR", &varint(version.into())[..], b"made up\0", &sections.collect::<Vec<u8>>()].concat()
}

pub(crate) fn op_header(name: usize, mask: u8, location: usize) -> Vec<u8> {
    [&varint(name)[..], &[mask], &varint(location)].concat()
}
