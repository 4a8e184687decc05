//! The wire format of protocol buffers: as much as a few messages need.

use crate::{Error, Result};

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// Reads the fields of a message in the order in which they come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

fn malformed() -> Error {
    Error::invalid_argument("malformed protocol buffer")
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// The next field and its number; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Field<'a>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|&number| number != 0).ok_or_else(malformed)?;
        let field = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes"))),
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| malformed())?;
                Field::Bytes(self.take(len)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes"))),
            _ => return Err(malformed()),
        };
        Ok(Some((number, field)))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.take(1)?[0];
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(malformed());
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed())
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'a> Field<'a> {
    /// An integer; also `bool` and enums. Negative ones are ten bytes long on the wire.
    pub(crate) fn int(self) -> Result<i64> {
        match self {
            Field::Varint(value) => Ok(value as i64),
            _ => Err(malformed()),
        }
    }

    pub(crate) fn bool(self) -> Result<bool> {
        Ok(self.int()? != 0)
    }

    pub(crate) fn double(self) -> Result<f64> {
        match self {
            Field::Fixed64(bits) => Ok(f64::from_bits(bits)),
            _ => Err(malformed()),
        }
    }

    pub(crate) fn float(self) -> Result<f32> {
        match self {
            Field::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(malformed()),
        }
    }

    pub(crate) fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Field::Bytes(bytes) => Ok(bytes),
            _ => Err(malformed()),
        }
    }

    pub(crate) fn message(self) -> Result<Reader<'a>> {
        self.bytes().map(Reader::new)
    }

    pub(crate) fn text(self) -> Result<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| malformed())
    }

    /// Adds one value, or all of a packed list.
    pub(crate) fn ints(self, out: &mut Vec<i64>) -> Result<()> {
        let Field::Bytes(bytes) = self else {
            out.push(self.int()?);
            return Ok(());
        };
        let mut reader = Reader::new(bytes);
        while !reader.0.is_empty() {
            out.push(reader.varint()? as i64);
        }
        Ok(())
    }
}

/// Writes the fields of a message.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn int(&mut self, number: u32, value: i64) {
        self.varint(u64::from(number) << 3);
        self.varint(value as u64);
    }

    pub(crate) fn float(&mut self, number: u32, value: f32) {
        self.varint(u64::from(number) << 3 | 5);
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.varint(u64::from(number) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn message(&mut self, number: u32, write: impl FnOnce(&mut Writer)) {
        let mut inner = Writer::default();
        write(&mut inner);
        self.bytes(number, &inner.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let mut writer = Writer::default();
        writer.int(1, -5);
        writer.int(200, 300);
        writer.float(3, 1.5);
        writer.message(4, |inner| inner.bytes(1, b"x"));
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.next().unwrap().unwrap().1.int().unwrap(), -5);
        assert_eq!(reader.next().unwrap(), Some((200, Field::Varint(300))));
        assert_eq!(reader.next().unwrap().unwrap().1.float().unwrap(), 1.5);
        let mut inner = reader.next().unwrap().unwrap().1.message().unwrap();
        assert_eq!(inner.next().unwrap().unwrap().1.text().unwrap(), "x");
        assert_eq!(reader.next().unwrap(), None);
    }

    #[test]
    fn truncated_bytes_are_errors() {
        for bytes in
            [&b"\x08"[..], b"\x08\xff", b"\x0a\x05ab", b"\x09\x01", b"\x0d\x01", b"\x0b", b"\x00\x01", &[0xff; 12]]
        {
            assert!(Reader::new(bytes).next().is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn lists_are_packed_or_not() {
        let mut out = Vec::new();
        Field::Bytes(&[1, 0x80, 2]).ints(&mut out).unwrap();
        Field::Varint(7).ints(&mut out).unwrap();
        assert_eq!(out, [1, 256, 7]);
        assert!(Field::Bytes(&[0x80]).ints(&mut out).is_err());
    }
}
