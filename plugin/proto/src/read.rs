//! Reading messages.

/// The bytes are no message, or a field is of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed protocol buffer")]
pub struct Malformed;

type Result<T> = std::result::Result<T, Malformed>;

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// An integer.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Bytes, text, a message or a packed list.
    Bytes(&'a [u8]),
    /// Four bytes.
    Fixed32(u32),
}

/// Reads the fields of a message in the order in which they come.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The fields of the message in these bytes.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// The next field and its number; `None` at the end.
    pub fn field(&mut self) -> Result<Option<(u32, Field<'a>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|&number| number != 0).ok_or(Malformed)?;
        let field = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes"))),
            2 => {
                let len = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
                Field::Bytes(self.take(len)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes"))),
            _ => return Err(Malformed),
        };
        Ok(Some((number, field)))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.take(1)?[0];
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Malformed);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'a> Field<'a> {
    /// An integer; also `bool` and enums. Negative ones are ten bytes long on the wire.
    pub fn int(self) -> Result<i64> {
        match self {
            Field::Varint(value) => Ok(value as i64),
            _ => Err(Malformed),
        }
    }

    /// A boolean.
    pub fn bool(self) -> Result<bool> {
        Ok(self.int()? != 0)
    }

    /// A double.
    pub fn double(self) -> Result<f64> {
        match self {
            Field::Fixed64(bits) => Ok(f64::from_bits(bits)),
            _ => Err(Malformed),
        }
    }

    /// A float.
    pub fn float(self) -> Result<f32> {
        match self {
            Field::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(Malformed),
        }
    }

    /// Bytes.
    pub fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Field::Bytes(bytes) => Ok(bytes),
            _ => Err(Malformed),
        }
    }

    /// The fields of a message.
    pub fn message(self) -> Result<Reader<'a>> {
        self.bytes().map(Reader::new)
    }

    /// Text.
    pub fn text(self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    /// Adds one value, or all of a packed list.
    pub fn ints(self, out: &mut Vec<i64>) -> Result<()> {
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

/// A message whose fields are looked up by number, in any order. What is not there has the value that proto3 gives it:
/// zero, or empty. Of several values the last one holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message<'a>(&'a [u8]);

impl<'a> Message<'a> {
    /// The message in these bytes.
    pub fn new(bytes: &'a [u8]) -> Message<'a> {
        Message(bytes)
    }

    /// The fields in the order in which they come.
    pub fn fields(self) -> Reader<'a> {
        Reader(self.0)
    }

    /// Calls `read` with each field of this number.
    fn each(self, number: u32, mut read: impl FnMut(Field<'a>) -> Result<()>) -> Result<()> {
        let mut fields = self.fields();
        while let Some((at, field)) = fields.field()? {
            if at == number {
                read(field)?;
            }
        }
        Ok(())
    }

    fn last<T>(self, number: u32, read: impl Fn(Field<'a>) -> Result<T>) -> Result<Option<T>> {
        let mut last = None;
        self.each(number, |field| {
            last = Some(read(field)?);
            Ok(())
        })?;
        Ok(last)
    }

    /// An integer or enum.
    pub fn int(self, number: u32) -> Result<i64> {
        Ok(self.last(number, Field::int)?.unwrap_or_default())
    }

    /// A boolean.
    pub fn bool(self, number: u32) -> Result<bool> {
        Ok(self.int(number)? != 0)
    }

    /// A float.
    pub fn float(self, number: u32) -> Result<f32> {
        Ok(self.last(number, Field::float)?.unwrap_or_default())
    }

    /// Bytes.
    pub fn bytes(self, number: u32) -> Result<&'a [u8]> {
        Ok(self.last(number, Field::bytes)?.unwrap_or_default())
    }

    /// Text.
    pub fn text(self, number: u32) -> Result<&'a str> {
        Ok(self.last(number, Field::text)?.unwrap_or_default())
    }

    /// A message within this one.
    pub fn message(self, number: u32) -> Result<Option<Message<'a>>> {
        self.last(number, |field| field.bytes().map(Message))
    }

    /// A list of messages.
    pub fn messages(self, number: u32) -> Result<Vec<Message<'a>>> {
        let mut all = Vec::new();
        self.each(number, |field| {
            all.push(Message(field.bytes()?));
            Ok(())
        })?;
        Ok(all)
    }

    /// A list of integers, packed or not.
    pub fn ints(self, number: u32) -> Result<Vec<i64>> {
        let mut all = Vec::new();
        self.each(number, |field| field.ints(&mut all))?;
        Ok(all)
    }

    /// The bytes of a list of floats of `width` bytes (4 or 8), packed or not, little-endian.
    pub fn fixed(self, number: u32, width: usize) -> Result<Vec<u8>> {
        let mut all = Vec::new();
        self.each(number, |field| {
            match field {
                Field::Fixed32(bits) if width == 4 => all.extend_from_slice(&bits.to_le_bytes()),
                Field::Fixed64(bits) if width == 8 => all.extend_from_slice(&bits.to_le_bytes()),
                Field::Bytes(bytes) if bytes.len() % width == 0 => all.extend_from_slice(bytes),
                _ => return Err(Malformed),
            }
            Ok(())
        })?;
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::Writer;

    #[test]
    fn what_is_written_reads_back() {
        let mut writer = Writer::default();
        writer.int(1, -5);
        writer.int(200, 300);
        writer.float(3, 1.5);
        writer.nested(4, |inner| _ = inner.bytes(1, b"x"));
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.field().unwrap().unwrap().1.int().unwrap(), -5);
        assert_eq!(reader.field().unwrap(), Some((200, Field::Varint(300))));
        assert_eq!(reader.field().unwrap().unwrap().1.float().unwrap(), 1.5);
        let mut inner = reader.field().unwrap().unwrap().1.message().unwrap();
        assert_eq!(inner.field().unwrap().unwrap().1.text().unwrap(), "x");
        assert_eq!(reader.field().unwrap(), None);
    }

    #[test]
    fn truncated_bytes_are_errors() {
        for bytes in
            [&b"\x08"[..], b"\x08\xff", b"\x0a\x05ab", b"\x09\x01", b"\x0d\x01", b"\x0b", b"\x00\x01", &[0xff; 12]]
        {
            assert!(Reader::new(bytes).field().is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn fields_are_found_by_number() {
        let mut writer = Writer::default();
        writer.int(1, 5).bytes(2, "a").int(1, 6).ints(3, [1, -2]).int(3, 3).nested(4, |inner| _ = inner.bool(1, true));
        writer.nested(4, |inner| _ = inner.float(2, 1.5)).float(5, 2.5).bytes(5, 0.5f32.to_le_bytes());
        let bytes = writer.finish();
        let message = Message::new(&bytes);
        assert_eq!((message.int(1), message.text(2), message.ints(3)), (Ok(6), Ok("a"), Ok(vec![1, -2, 3])));
        let inner = message.messages(4).unwrap();
        assert_eq!((inner[0].bool(1), inner[1].bool(1), inner[1].float(2)), (Ok(true), Ok(false), Ok(1.5)));
        assert_eq!(message.fixed(5, 4).unwrap(), [2.5f32.to_le_bytes(), 0.5f32.to_le_bytes()].concat());
        assert_eq!((message.int(9), message.bytes(9), message.float(9)), (Ok(0), Ok(&[][..]), Ok(0.0)));
        assert!(message.message(9).unwrap().is_none() && message.ints(9).unwrap().is_empty());
        assert_eq!(
            (message.bytes(1), message.int(2), message.fixed(5, 8)),
            (Err(Malformed), Err(Malformed), Err(Malformed))
        );
        assert!(Message::new(&bytes[..bytes.len() - 1]).int(1).is_err());
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
