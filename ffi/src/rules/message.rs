//! Texts that are put together while the compiler runs.

/// The longest text, in bytes; the rest of a longer one is left out.
const CAPACITY: usize = 1536;

/// A text.
#[derive(Clone, Copy)]
pub(super) struct Message {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Message {
    pub(super) const fn new() -> Message {
        Message { bytes: [0; CAPACITY], len: 0 }
    }

    /// With more text behind it.
    pub(super) const fn text(mut self, text: &str) -> Message {
        let mut i = 0;
        while i < text.len() && self.len < CAPACITY {
            self.bytes[self.len] = text.as_bytes()[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    /// With a name in backticks behind it, which is given in parts.
    pub(super) const fn quoted(self, parts: &[&str]) -> Message {
        let mut message = self.text("`");
        let mut i = 0;
        while i < parts.len() {
            message = message.text(parts[i]);
            i += 1;
        }
        message.text("`")
    }

    /// With a number behind it.
    pub(super) const fn number(self, number: usize) -> Message {
        let message = if number >= 10 { self.number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        message.text(valid(&digit))
    }

    /// Panics with the text.
    #[track_caller]
    pub(super) const fn panic(&self) -> ! {
        panic!("{}", valid(self.bytes.split_at(self.len).0))
    }
}

/// The text up to the first incomplete character.
const fn valid(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => match str::from_utf8(bytes.split_at(error.valid_up_to()).0) {
            Ok(text) => text,
            Err(_) => "",
        },
    }
}

/// The longest name that is compared with others.
const LONGEST: usize = 64;

/// How many edits a suggestion for a name may be away.
pub(super) const fn limit(name: &str) -> usize {
    let third = name.len() / 3;
    if third < 1 {
        1
    } else if third > 3 {
        3
    } else {
        third
    }
}

/// The number of bytes to change, insert or delete to turn a name into another, which is given in parts.
pub(super) const fn edits(name: &str, parts: &[&str; 2]) -> usize {
    let (a, first, second) = (name.as_bytes(), parts[0].as_bytes(), parts[1].as_bytes());
    let columns = first.len() + second.len();
    if a.len() > LONGEST || columns > LONGEST {
        return usize::MAX;
    }
    let mut row = [0; LONGEST + 1];
    let mut j = 0;
    while j <= columns {
        row[j] = j;
        j += 1;
    }
    let mut i = 0;
    while i < a.len() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut j = 0;
        while j < columns {
            let b = if j < first.len() { first[j] } else { second[j - first.len()] };
            let changed = diagonal + (a[i] != b) as usize;
            diagonal = row[j + 1];
            let shifted = 1 + if row[j] < diagonal { row[j] } else { diagonal };
            row[j + 1] = if changed < shifted { changed } else { shifted };
            j += 1;
        }
        i += 1;
    }
    row[columns]
}
