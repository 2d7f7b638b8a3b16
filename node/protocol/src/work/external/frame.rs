//! Frames of the trainer protocol: `u32` length of the header, the header as JSON, then raw little-endian `u32` and `f32` numbers as the header counts them.
//!
//! Pure: bytes in, bytes out. What reads from a trainer asks [`Said::parse`] about the header first, and takes no more numbers than were asked for.

use serde::Deserialize;
use serde_json::json;

use super::hello::{Hello, Kind};
use super::trouble::Trouble;

/// Bytes of the longest header that is read.
pub const LONGEST_HEADER: usize = 16 << 20;
/// Characters of a trainer's own words that are shown.
const LONGEST_MESSAGE: usize = 300;

/// One question.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// What for.
    pub kind: Kind,
    /// The round, from 0.
    pub round: u32,
    /// For whatever the trainer draws: the same question has the same seed.
    pub seed: u64,
    /// Which records, for all but `update`.
    pub records: &'a [u32],
    /// The model.
    pub params: &'a [f32],
    /// The factor of each record, for `sum` only.
    pub factors: &'a [f32],
}

impl Ask<'_> {
    /// Numbers of the answer.
    pub fn numbers(&self) -> usize {
        match self.kind {
            Kind::Update | Kind::Sum => self.params.len(),
            Kind::Rows => self.params.len() * self.records.len(),
            Kind::Norms => self.records.len(),
        }
    }

    /// The whole frame, in place of what was in `bytes`.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let reals = self.params.len() + self.factors.len();
        let header = json!({
            "ask": self.kind.name(), "round": self.round, "seed": self.seed, "u32": self.records.len(), "f32": reals,
        })
        .to_string();
        bytes.clear();
        bytes.reserve(4 + header.len() + 4 * (self.records.len() + reals));
        bytes.extend((header.len() as u32).to_le_bytes());
        bytes.extend(header.as_bytes());
        append(bytes, self.records, u32::to_le_bytes);
        append(bytes, self.params, f32::to_le_bytes);
        append(bytes, self.factors, f32::to_le_bytes);
    }

    /// Whether this header announces the answer to this question. So many bytes of numbers follow it.
    ///
    /// # Errors
    /// Another answer, another number of numbers, or the trainer's own error.
    pub fn check(&self, said: &Said) -> Result<usize, Trouble> {
        if said.say == "error" {
            let message = said.message.as_deref().unwrap_or("nothing");
            let plain = message.chars().filter(|letter| !letter.is_control()).take(LONGEST_MESSAGE);
            return Err(Trouble::Said { message: plain.collect() });
        }
        if said.say != self.kind.name() {
            let plain = said.say.chars().filter(|letter| !letter.is_control()).take(40);
            return Err(Trouble::Kind { asked: self.kind, said: plain.collect() });
        }
        if said.numbers != self.numbers() as u64 || said.words != 0 {
            return Err(Trouble::Length { asked: self.kind, needs: self.numbers(), has: said.numbers });
        }
        Ok(4 * self.numbers())
    }
}

/// Room first, then numbers: a loop that becomes a copy.
fn append<T: Copy>(bytes: &mut Vec<u8>, numbers: &[T], raw: impl Fn(T) -> [u8; 4]) {
    let start = bytes.len();
    bytes.resize(start + 4 * numbers.len(), 0);
    let (room, _) = bytes[start..].as_chunks_mut::<4>();
    room.iter_mut().zip(numbers).for_each(|(room, &number)| *room = raw(number));
}

/// The header of what a trainer says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Said {
    /// `hello`, the kind of an answer, or `error`.
    pub say: String,
    /// How many `u32` follow: none.
    #[serde(default, rename = "u32")]
    pub words: u64,
    /// How many `f32` follow.
    #[serde(default, rename = "f32")]
    pub numbers: u64,
    /// The loss before the step, for the node's own eyes.
    #[serde(default)]
    pub loss: Option<f64>,
    /// Of an error.
    #[serde(default)]
    pub message: Option<String>,
}

impl Said {
    /// Reads a header.
    ///
    /// # Errors
    /// No JSON object with `say`.
    pub fn parse(header: &[u8]) -> Result<Self, Trouble> {
        serde_json::from_slice(header).map_err(|error| Trouble::Frame { why: format!("its header: {error}") })
    }

    /// Reads the header of a hello.
    ///
    /// # Errors
    /// Something else, or a hello that makes no sense.
    pub fn parse_hello(header: &[u8]) -> Result<Hello, Trouble> {
        let said = Self::parse(header)?;
        if said.say != "hello" || said.numbers != 0 || said.words != 0 {
            return Err(Trouble::Hello {
                why: "it is none: `\"say\": \"hello\"` is the first frame, without numbers".into(),
            });
        }
        let hello: Hello =
            serde_json::from_slice(header).map_err(|error| Trouble::Hello { why: error.to_string() })?;
        hello.check().map(|()| hello)
    }
}

/// The length of a header.
///
/// # Errors
/// None at all, or more than is read.
pub fn header_length(bytes: [u8; 4]) -> Result<usize, Trouble> {
    match u32::from_le_bytes(bytes) as usize {
        length @ 2..=LONGEST_HEADER => Ok(length),
        length => Err(Trouble::Frame {
            why: format!("a header of {length} bytes; is something printed on stdout?"),
        }),
    }
}

/// What a trainer answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The numbers: as many as were asked for.
    pub numbers: Vec<f32>,
    /// Its loss before the step.
    pub loss: Option<f64>,
}

impl Answer {
    /// From a checked header and the bytes behind it.
    pub fn new(said: &Said, bytes: &[u8]) -> Self {
        let (numbers, _) = bytes.as_chunks::<4>();
        let numbers = numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        Self { numbers, loss: said.loss.filter(|loss| loss.is_finite()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ASK: Ask<'static> = Ask {
        kind: Kind::Rows,
        round: 3,
        seed: 9,
        records: &[1, 2],
        params: &[0.5, -1.0, 2.0],
        factors: &[],
    };

    #[test]
    fn a_question_has_the_bytes_that_the_page_of_the_protocol_says() {
        let mut bytes = vec![7];
        ASK.encode(&mut bytes);
        let length = header_length(bytes[..4].try_into().unwrap()).unwrap();
        let header: serde_json::Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        assert_eq!(header, json!({"ask": "rows", "round": 3, "seed": 9, "u32": 2, "f32": 3}));
        let numbers = &bytes[4 + length..];
        assert_eq!(numbers[..8], [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(numbers[8..12], [0, 0, 0, 63], "0.5 is 0x3f000000");
        assert_eq!(numbers.len(), 4 * 5);
    }

    #[test]
    fn only_the_answer_that_was_asked_for_is_taken() {
        let said = |text: &str| Said::parse(text.as_bytes()).unwrap();
        assert_eq!(ASK.check(&said(r#"{"say": "rows", "f32": 6}"#)), Ok(24));
        for wrong in [
            r#"{"say": "rows", "f32": 5}"#,
            r#"{"say": "rows", "f32": 18446744073709551615}"#,
            r#"{"say": "rows", "f32": 6, "u32": 1}"#,
            r#"{"say": "update", "f32": 6}"#,
            r#"{"say": "error", "message": "out of memory"}"#,
        ] {
            assert!(ASK.check(&said(wrong)).is_err(), "{wrong}");
        }
        assert!(header_length([0; 4]).is_err() && header_length(*b"Epoc").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Said::parse(&bytes);
            let _ = Said::parse_hello(&bytes);
        }
    }
}
