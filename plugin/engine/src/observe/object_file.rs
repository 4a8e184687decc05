//! Machine code as an ELF object file, so that `objdump -d` shows it with the operations that it comes from.
//!
//! The sections are those that a disassembler needs: the code, and labels, which are local symbols without a type.

use crate::plan::Code;

/// The size of a file header, a section header and a symbol.
const FILE_HEADER: usize = 64;
const SECTION_HEADER: usize = 64;
const SYMBOL: usize = 24;

/// The alignment of code, whose constants are vectors.
const ALIGNMENT: usize = 64;

/// The instruction between codes, which stops the program.
const PADDING: u8 = 0xcc;

/// The names of the sections, and where each begins among them.
const NAMES: &[u8] = b"\0.text\0.symtab\0.strtab\0.shstrtab\0";
const TEXT_NAME: u32 = 1;
const SYMBOLS_NAME: u32 = 7;
const STRINGS_NAME: u32 = 15;
const NAMES_NAME: u32 = 23;

/// The index of the section with the code, and of the one with the names of symbols.
const TEXT: u16 = 1;
const STRINGS: u32 = 3;

/// The kinds of sections, and the flags of one that is in memory and executable.
const PROGRAM: u32 = 1;
const SYMBOL_TABLE: u32 = 2;
const STRING_TABLE: u32 = 3;
const EXECUTABLE: u64 = 2 | 4;

/// A section: its place in the file, and what its header says besides.
struct Section {
    name: u32,
    kind: u32,
    flags: u64,
    offset: usize,
    size: usize,
    link: u32,
    info: u32,
    alignment: usize,
    entry: usize,
}

/// The object file of codes. Labels are symbols in the order of their addresses, parts before the operations in them.
pub(super) fn object_file(codes: &[Code<'_>]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut symbols = vec![0; SYMBOL];
    let mut strings = vec![0];
    for code in codes {
        text.resize(text.len().next_multiple_of(ALIGNMENT), PADDING);
        let mut labels: Vec<_> = code.parts.iter().chain(code.listing.marks).collect();
        labels.sort_by_key(|label| label.offset);
        for label in labels {
            symbols.extend((strings.len() as u32).to_le_bytes());
            // A local symbol without a type, of default visibility.
            symbols.extend([0, 0]);
            symbols.extend(TEXT.to_le_bytes());
            symbols.extend(((text.len() + label.offset) as u64).to_le_bytes());
            symbols.extend(0_u64.to_le_bytes());
            strings.extend(label.name.bytes().map(|byte| if byte == 0 { b'_' } else { byte }));
            strings.push(0);
        }
        text.extend(code.listing.bytes);
    }
    let count = (symbols.len() / SYMBOL) as u32;
    let mut file = vec![0; FILE_HEADER];
    let mut add = |contents: &[u8], alignment: usize| {
        file.resize(file.len().next_multiple_of(alignment), 0);
        file.extend(contents);
        (file.len() - contents.len(), contents.len())
    };
    let section = |name, kind, (offset, size), alignment| Section {
        name,
        kind,
        flags: 0,
        offset,
        size,
        link: 0,
        info: 0,
        alignment,
        entry: 0,
    };
    let sections = [
        section(0, 0, (0, 0), 0),
        Section { flags: EXECUTABLE, ..section(TEXT_NAME, PROGRAM, add(&text, ALIGNMENT), ALIGNMENT) },
        // All symbols are local: the first that is not would come after them.
        Section {
            link: STRINGS,
            info: count,
            entry: SYMBOL,
            ..section(SYMBOLS_NAME, SYMBOL_TABLE, add(&symbols, 8), 8)
        },
        section(STRINGS_NAME, STRING_TABLE, add(&strings, 1), 1),
        section(NAMES_NAME, STRING_TABLE, add(NAMES, 1), 1),
    ];
    file.resize(file.len().next_multiple_of(8), 0);
    let headers = file.len();
    file[..FILE_HEADER].copy_from_slice(&file_header(headers, sections.len()));
    sections.iter().for_each(|section| file.extend(section.header()));
    file
}

/// The header of an object file for x86-64 whose section headers begin at `headers`. The last section has the names.
fn file_header(headers: usize, sections: usize) -> Vec<u8> {
    const RELOCATABLE: u16 = 1;
    const X86_64: u16 = 62;
    // 64 bits, little-endian, version 1.
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    header.extend([RELOCATABLE, X86_64].map(u16::to_le_bytes).as_flattened());
    header.extend(1_u32.to_le_bytes());
    // Neither an entry nor program headers.
    header.extend([0, 0, headers as u64].map(u64::to_le_bytes).as_flattened());
    header.extend(0_u32.to_le_bytes());
    let sizes = [FILE_HEADER, 0, 0, SECTION_HEADER, sections, sections - 1];
    header.extend(sizes.map(|size| (size as u16).to_le_bytes()).as_flattened());
    header
}

impl Section {
    fn header(&self) -> Vec<u8> {
        let mut header = Vec::with_capacity(SECTION_HEADER);
        header.extend([self.name, self.kind].map(u32::to_le_bytes).as_flattened());
        header.extend([self.flags, 0, self.offset as u64, self.size as u64].map(u64::to_le_bytes).as_flattened());
        header.extend([self.link, self.info].map(u32::to_le_bytes).as_flattened());
        header.extend([self.alignment as u64, self.entry as u64].map(u64::to_le_bytes).as_flattened());
        header
    }
}
