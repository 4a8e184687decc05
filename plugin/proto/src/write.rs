//! Writing messages.

/// A message that is being written, field by field.
#[derive(Clone, Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, number: u32, wire_type: u64) {
        self.varint(u64::from(number) << 3 | wire_type);
    }

    /// An integer or enum.
    pub fn int(&mut self, number: u32, value: i64) -> &mut Writer {
        self.tag(number, 0);
        self.varint(value as u64);
        self
    }

    /// A boolean.
    pub fn bool(&mut self, number: u32, value: bool) -> &mut Writer {
        self.int(number, value.into())
    }

    /// A float.
    pub fn float(&mut self, number: u32, value: f32) -> &mut Writer {
        self.tag(number, 5);
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
        self
    }

    /// Bytes or text.
    pub fn bytes(&mut self, number: u32, bytes: impl AsRef<[u8]>) -> &mut Writer {
        let bytes = bytes.as_ref();
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A message within this one.
    pub fn message(&mut self, number: u32, message: &Writer) -> &mut Writer {
        self.bytes(number, &message.0)
    }

    /// A message within this one, which `write` fills.
    pub fn nested(&mut self, number: u32, write: impl FnOnce(&mut Writer)) -> &mut Writer {
        let mut inner = Writer::default();
        write(&mut inner);
        self.message(number, &inner)
    }

    /// A list of integers, packed; nothing if it is empty.
    pub fn ints(&mut self, number: u32, values: impl IntoIterator<Item = i64>) -> &mut Writer {
        let mut packed = Writer::default();
        values.into_iter().for_each(|value| packed.varint(value as u64));
        if packed.0.is_empty() { self } else { self.message(number, &packed) }
    }

    /// A list of indices or sizes, packed.
    pub fn sizes(&mut self, number: u32, values: &[usize]) -> &mut Writer {
        self.ints(number, values.iter().map(|&value| value as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_protocol_buffers_have_them() {
        let mut inner = Writer::default();
        inner.int(1, 150).int(3, -1);
        let mut message = Writer::default();
        message.message(2, &inner).ints(4, [3, 270, 86942]).ints(7, []).bytes(5, "testing").bool(6, true);
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let mut expected = vec![0x12, 14, 0x08, 0x96, 0x01, 0x18];
        expected.extend(minus_one);
        expected.extend([0x22, 6, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05]);
        expected.extend([0x2a, 7]);
        expected.extend(b"testing");
        expected.extend([0x30, 1]);
        assert_eq!(message.finish(), expected);
    }
}
