//! The wire format of protocol buffers, written.

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

impl Message {
    /// An integer or enum. What is 0 is left out, as proto3 does.
    pub(super) fn int(&mut self, field: u32, value: i64) -> &mut Message {
        if value != 0 {
            varint(&mut self.0, u64::from(field) << 3);
            varint(&mut self.0, value as u64);
        }
        self
    }

    pub(super) fn bool(&mut self, field: u32, value: bool) -> &mut Message {
        self.int(field, value.into())
    }

    /// Bytes or text.
    pub(super) fn bytes(&mut self, field: u32, bytes: impl AsRef<[u8]>) -> &mut Message {
        let bytes = bytes.as_ref();
        varint(&mut self.0, u64::from(field) << 3 | 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn message(&mut self, field: u32, message: &Message) -> &mut Message {
        self.bytes(field, &message.0)
    }

    /// A repeated integer, packed.
    pub(super) fn ints(&mut self, field: u32, values: impl IntoIterator<Item = i64>) -> &mut Message {
        let mut packed = Vec::new();
        values.into_iter().for_each(|value| varint(&mut packed, value as u64));
        if packed.is_empty() { self } else { self.bytes(field, packed) }
    }

    /// A repeated integer of indices or sizes, packed.
    pub(super) fn sizes(&mut self, field: u32, values: &[usize]) -> &mut Message {
        self.ints(field, values.iter().map(|&value| value as i64))
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_protocol_buffers_have_them() {
        let mut inner = Message::default();
        inner.int(1, 150).int(2, 0).int(3, -1);
        let mut message = Message::default();
        message.message(2, &inner).ints(4, [3, 270, 86942]).bytes(5, "testing").bool(6, true);
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
