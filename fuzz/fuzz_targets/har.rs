//! Any bytes are either read as a HAR file or refused in a few lines.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workload::har::{self, Options};

fuzz_target!(|text: &[u8]| {
    match har::read("fuzz.har", text, &Options::default()) {
        Ok(har) => {
            assert!(!har.pages.is_empty());
            for page in &har.pages {
                assert!(!page.requests().is_empty());
            }
        }
        Err(error) => assert!(error.to_string().lines().count() < 25),
    }
});
