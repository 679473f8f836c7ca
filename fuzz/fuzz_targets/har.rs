//! Any bytes are either read as a HAR file, of which every entry is a request or left out, or refused
//! in a few lines.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workload::har::{self, LeftOut, Options};

fuzz_target!(|text: &[u8]| {
    match har::read("fuzz.har", text, &Options::default()) {
        Ok(har) => {
            let requests: usize = har.pages.iter().map(|page| page.requests().len()).sum();
            assert!(requests > 0);
            let left_out = &har.left_out;
            assert_eq!(requests + left_out.count(), left_out.of);
            assert!(left_out.entries.len() <= LeftOut::NAMED);
            let shown = left_out.to_string() + &left_out.faults().unwrap_or_default();
            assert!(!shown.contains(char::is_control) && shown.len() < 5_000);
        }
        Err(error) => assert!(error.to_string().lines().count() < 25),
    }
});
