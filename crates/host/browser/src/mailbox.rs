//! Messages that browsers leave for each other: an offer, an answer, "it flows", "it is over".

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The most names.
const MOST: usize = 64;

/// The messages by name.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    messages: Mutex<BTreeMap<String, Vec<u8>>>,
    changed: Condvar,
}

impl Mailbox {
    /// Leaves a message; false if there are too many.
    pub(crate) fn put(&self, name: &str, message: Vec<u8>) -> bool {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() == MOST && !messages.contains_key(name) {
            return false;
        }
        messages.insert(name.to_owned(), message);
        self.changed.notify_all();
        true
    }

    /// The message, waited for until it is there; none after `longest`.
    pub(crate) fn get(&self, name: &str, longest: Duration) -> Option<Vec<u8>> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = |messages: &mut BTreeMap<String, Vec<u8>>| !messages.contains_key(name);
        let waited = self.changed.wait_timeout_while(messages, longest, missing);
        let (messages, _) = waited.unwrap_or_else(PoisonError::into_inner);
        messages.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_waited_for() {
        let mailbox = Mailbox::default();
        assert_eq!(mailbox.get("offer", Duration::from_millis(1)), None);
        std::thread::scope(|scope| {
            let got = scope.spawn(|| mailbox.get("offer", Duration::from_secs(20)));
            assert!(mailbox.put("offer", b"sdp".to_vec()));
            assert_eq!(got.join().unwrap(), Some(b"sdp".to_vec()));
        });
    }

    #[test]
    fn names_are_bounded() {
        let mailbox = Mailbox::default();
        let put = |number: usize| mailbox.put(&number.to_string(), Vec::new());
        assert!((0..MOST).all(put));
        assert!(!put(MOST) && put(0));
    }
}
