//! As much of protobuf's encoding as ONNX needs: numbered fields with varints, floats, bytes and messages.

/// A message under construction.
#[derive(Debug, Default, Clone)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.key(field, 0);
        self.varint(value as u64);
        self
    }

    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    pub(super) fn each<T>(self, values: impl IntoIterator<Item = T>, add: impl Fn(Self, T) -> Self) -> Self {
        values.into_iter().fold(self, add)
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_encoding_guide() {
        // protobuf.dev/programming-guides/encoding: field 1 = 150, field 2 = "testing", field 3 = {field 1 = 150}.
        assert_eq!(Message::default().int(1, 150).finish(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").finish(), *b"\x12\x07testing");
        let inner = Message::default().int(1, 150);
        assert_eq!(Message::default().message(3, &inner).finish(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        // Negative numbers take ten bytes.
        assert_eq!(Message::default().int(1, -2).finish().len(), 11);
    }
}
