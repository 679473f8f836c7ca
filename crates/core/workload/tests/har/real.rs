//! Recordings of real pages, where `ANALECTS_DATA` names a folder that has some.

use std::path::Path;
use workload::har::{self, Options};

#[test]
fn real_recordings_load() {
    let Ok(data) = std::env::var("ANALECTS_DATA") else {
        println!("ANALECTS_DATA is not set: there are no real recordings to read");
        return;
    };
    let folder = Path::new(&data).join("pages");
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "har") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read(&path).unwrap();
        let har = har::read(&name, &text, &Options::default()).unwrap();
        let requests: usize = har.pages.iter().map(|page| page.requests().len()).sum();
        assert_eq!(requests + har.left_out.count(), har.left_out.of, "{name}");
        assert_eq!(har.left_out.faults(), None, "{name}");
        for page in &har.pages {
            let think = page.requests().iter().map(|r| r.think).max().unwrap();
            println!(
                "{name} {}: {} requests to {} origins, {}, longest think {think}",
                page.name(),
                page.requests().len(),
                page.origins().len(),
                page.total_response()
            );
            assert!(page.total_response().get() > 1_000, "{name}");
            assert!(page.requests().iter().all(|r| r.request.get() > 0));
        }
        files += 1;
    }
    assert!(files > 0, "{} has no .har file", folder.display());
}
