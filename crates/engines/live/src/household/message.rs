//! What pacers of a household tell each other: demands, and what was heard of others.

use units::Rate;

/// A household has at most so many pacers besides this one: a message with all of them fits into one packet.
pub(super) const PEERS: usize = 32;
/// The longest message, in bytes.
pub(super) const LONGEST: usize = HEAD + PEERS * ENTRY + TAG;

/// The first bytes of each message of this version.
const VERSION: [u8; 8] = *b"pacers 1";
const HEAD: usize = VERSION.len() + 3 * WORD;
const ENTRY: usize = 2 * WORD;
const WORD: usize = 8;
const TAG: usize = blake3::OUT_LEN;

/// A household's key.
#[derive(Clone)]
pub(super) struct HouseholdKey([u8; blake3::KEY_LEN]);

impl HouseholdKey {
    /// The key that a secret of any length stands for.
    pub(super) fn of(secret: &[u8]) -> Self {
        HouseholdKey(blake3::derive_key("analects pacers of a household", secret))
    }

    fn tag(&self, body: &[u8]) -> blake3::Hash {
        blake3::keyed_hash(&self.0, body)
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HouseholdMessage {
    /// The sender: a number that it drew when it began.
    pub(super) sender: u64,
    /// How many messages it has sent, this one included.
    pub(super) number: u64,
    /// What it would take if it could.
    pub(super) demand: Rate,
    /// The newest number that it has heard of others, which shows each of them that this message is no old one.
    pub(super) heard: Vec<(u64, u64)>,
}

impl HouseholdMessage {
    /// The bytes to send. Of what was heard, the first [`PEERS`].
    pub(super) fn encode(&self, key: &HouseholdKey) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        let heard = self.heard.iter().take(PEERS);
        let words = [self.sender, self.number, self.demand.as_bits()];
        for word in words
            .into_iter()
            .chain(heard.flat_map(|(peer, number)| [*peer, *number]))
        {
            bytes.extend(word.to_be_bytes());
        }
        let tag = key.tag(&bytes);
        bytes.extend(tag.as_bytes());
        bytes
    }

    /// The message, if it was made with this key.
    pub(super) fn decode(bytes: &[u8], key: &HouseholdKey) -> Option<Self> {
        if bytes.len() > LONGEST {
            return None;
        }
        let (body, tag) = bytes.split_last_chunk::<TAG>()?;
        // In constant time.
        if key.tag(body) != *tag {
            return None;
        }
        let (words, []) = body.strip_prefix(&VERSION)?.as_chunks::<WORD>() else {
            return None;
        };
        let words: Vec<u64> = words.iter().map(|word| u64::from_be_bytes(*word)).collect();
        let (&[sender, number, demand], heard) = words.split_first_chunk::<3>()?;
        let (heard, []) = heard.as_chunks::<2>() else {
            return None;
        };
        Some(HouseholdMessage {
            sender,
            number,
            demand: Rate::from_bits(demand),
            heard: heard
                .iter()
                .map(|[peer, number]| (*peer, *number))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(heard: usize) -> HouseholdMessage {
        HouseholdMessage {
            sender: 7,
            number: 1,
            demand: Rate::from_bits(5_000_000),
            heard: (0..heard as u64).map(|peer| (peer, 100 + peer)).collect(),
        }
    }

    #[test]
    fn it_comes_as_it_was_sent() {
        let key = HouseholdKey::of(b"a secret");
        for heard in [0, 1, PEERS] {
            let bytes = message(heard).encode(&key);
            assert_eq!(HouseholdMessage::decode(&bytes, &key), Some(message(heard)));
            assert!(bytes.len() <= LONGEST);
        }
        let bytes = message(PEERS + 1).encode(&key);
        assert_eq!(HouseholdMessage::decode(&bytes, &key), Some(message(PEERS)));
    }

    #[test]
    fn what_was_changed_or_cut_is_none() {
        let key = HouseholdKey::of(b"a secret");
        let bytes = message(2).encode(&key);
        assert_eq!(
            HouseholdMessage::decode(&bytes, &HouseholdKey::of(b"another")),
            None
        );
        for place in 0..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 1;
            assert_eq!(HouseholdMessage::decode(&other, &key), None, "byte {place}");
            assert_eq!(HouseholdMessage::decode(&bytes[..place], &key), None);
        }
    }

    /// With the key, but of another form.
    #[test]
    fn what_has_another_form_is_none() {
        let key = HouseholdKey::of(b"a secret");
        let tagged = |body: &[u8]| [body, key.tag(body).as_bytes()].concat();
        let bytes = message(2).encode(&key);
        let body = &bytes[..bytes.len() - TAG];
        assert!(HouseholdMessage::decode(&tagged(body), &key).is_some());
        for body in [
            &body[..body.len() - 1],
            &body[..body.len() - WORD],
            &body[..8],
            b"",
            b"pacers 2",
        ] {
            assert_eq!(
                HouseholdMessage::decode(&tagged(body), &key),
                None,
                "{body:?}"
            );
        }
        let long = [body, &[0; PEERS * ENTRY][..]].concat();
        assert_eq!(HouseholdMessage::decode(&tagged(&long), &key), None);
    }
}
