//! A bounds-checked reader of the encodings that MLIR bytecode is made of.

use smallvec::SmallVec;

use crate::Error;

/// A list that is mostly short.
pub(super) type Short<T> = SmallVec<[T; 4]>;

/// A place in a slice of the input.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    data: &'a [u8],
    position: usize,
    /// Where `data` starts in the input, for errors.
    base: usize,
}

impl<'a> Cursor<'a> {
    /// Reads `data`, which starts at byte `base` of the input.
    pub(super) fn new(data: &'a [u8], base: usize) -> Cursor<'a> {
        Cursor { data, position: 0, base }
    }

    /// The offset in the input.
    pub(super) fn offset(&self) -> usize {
        self.base + self.position
    }

    /// The number of bytes left.
    pub(super) fn remaining(&self) -> usize {
        self.data.len() - self.position
    }

    /// Whether everything is read.
    pub(super) fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// An error about what was just read.
    #[cold]
    pub(super) fn error(&self, message: impl std::fmt::Display) -> Error {
        Error::invalid(format!("malformed bytecode at byte {}: {message}", self.offset()))
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        let byte = *self.data.get(self.position).ok_or_else(|| self.error("unexpected end"))?;
        self.position += 1;
        Ok(byte)
    }

    /// The next `count` bytes.
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Error> {
        if count > self.remaining() {
            return Err(self.error(format_args!("expected {count} bytes, got {}", self.remaining())));
        }
        let bytes = &self.data[self.position..][..count];
        self.position += count;
        Ok(bytes)
    }

    /// A cursor over the next `count` bytes.
    pub(super) fn slice(&mut self, count: usize) -> Result<Cursor<'a>, Error> {
        let base = self.offset();
        Ok(Cursor::new(self.bytes(count)?, base))
    }

    /// A variable-length integer: the trailing zero bits of the first byte say how many bytes follow.
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, Error> {
        match self.data.get(self.position) {
            Some(&byte) if byte & 1 == 1 => {
                self.position += 1;
                Ok(u64::from(byte >> 1))
            }
            _ => self.long_varint(),
        }
    }

    /// A variable-length integer of more than one byte.
    fn long_varint(&mut self) -> Result<u64, Error> {
        let first = self.byte()?;
        let following = first.trailing_zeros() as usize;
        let mut word = [0; 8];
        word[..following].copy_from_slice(self.bytes(following)?);
        let high = u64::from_le_bytes(word);
        // Eight following bytes are the whole value; otherwise the first byte holds its low bits.
        Ok(if following == 8 { high } else { high << (7 - following) | u64::from(first) >> (following + 1) })
    }

    /// A variable-length signed integer, zigzag-encoded.
    pub(super) fn signed(&mut self) -> Result<i64, Error> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A variable-length integer with a flag in its lowest bit.
    pub(super) fn flagged(&mut self) -> Result<(u64, bool), Error> {
        let value = self.varint()?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// A size, which must fit the machine's word.
    pub(super) fn size(&mut self) -> Result<usize, Error> {
        let value = self.varint()?;
        usize::try_from(value).map_err(|_| self.error(format_args!("size {value} is too large")))
    }

    /// The number of items that follow, each of at least one byte, so that memory may be reserved for them.
    pub(super) fn count(&mut self) -> Result<usize, Error> {
        let count = self.size()?;
        self.check_count(count)?;
        Ok(count)
    }

    /// Checks that so many items of at least one byte can follow.
    pub(super) fn check_count(&self, count: usize) -> Result<(), Error> {
        if count > self.remaining() {
            return Err(self.error(format_args!("expected {count} items, got {} bytes", self.remaining())));
        }
        Ok(())
    }

    /// An index into a table of `len` entries called `what`.
    pub(super) fn index(&mut self, len: usize, what: &str) -> Result<usize, Error> {
        let index = self.varint()?;
        self.checked_index(index, len, what)
    }

    /// Checks an index into a table of `len` entries called `what`.
    pub(super) fn checked_index(&self, index: u64, len: usize, what: &str) -> Result<usize, Error> {
        match usize::try_from(index) {
            Ok(index) if index < len => Ok(index),
            _ => Err(self.error(format_args!("{what} {index} must be less than {len}"))),
        }
    }

    /// A list: its length, then its items.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let count = self.count()?;
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A list that is mostly short.
    pub(super) fn short_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Short<T>, Error> {
        let count = self.count()?;
        (0..count).map(|_| item(self)).collect()
    }

    /// A blob: its length, then its bytes.
    pub(super) fn blob(&mut self) -> Result<&'a [u8], Error> {
        let size = self.size()?;
        self.bytes(size)
    }

    /// Bytes up to a zero, which is skipped.
    pub(super) fn null_terminated(&mut self) -> Result<&'a [u8], Error> {
        let rest = &self.data[self.position..];
        let length = rest.iter().position(|&byte| byte == 0).ok_or_else(|| self.error("unterminated string"))?;
        self.position += length + 1;
        Ok(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn varints_of_every_length() {
        for (bytes, value) in [
            (&[0x01][..], 0),
            (&[0xff], 127),
            (&[0x02, 0x02], 128),
            (&[0x04, 0x00, 0x02], 0x4000),
            (&[0x00, 1, 2, 3, 4, 5, 6, 7, 8], 0x0807_0605_0403_0201),
            (&[0x80, 0, 0, 0, 0, 0, 0, 0x80], 0x80_0000_0000_0000),
        ] {
            let mut cursor = Cursor::new(bytes, 0);
            assert_eq!(cursor.varint().unwrap(), value, "{bytes:x?}");
            assert!(cursor.is_empty());
        }
    }

    #[test]
    fn signed_integers_are_zigzag() {
        let mut cursor = Cursor::new(&[0x01, 0x03, 0x05, 0x07], 0);
        assert_eq!([0; 4].map(|_| cursor.signed().unwrap()), [0, -1, 1, -2]);
        assert!(cursor.signed().is_err());
    }

    #[test]
    fn claims_beyond_the_input_are_errors() {
        let mut cursor = Cursor::new(&[0x0b, 1, 2], 7);
        let error = cursor.list(Cursor::byte).unwrap_err();
        assert_eq!(error.to_string(), "malformed bytecode at byte 8: expected 5 items, got 2 bytes");
        assert!(Cursor::new(&[0x08, 1], 0).varint().is_err());
        assert!(Cursor::new(b"abc", 0).null_terminated().is_err());
    }
}
