//! A page that a program serves of itself: one document with its style and script inside, the policy by which it loads
//! nothing else, and the headers that go with it.
//!
//! Not for: the protocol by which a browser asks for it (`line`, `router`); what it shows.

#![deny(missing_docs)]

use ring::rand::SecureRandom as _;

/// What stands around every page.
const FRAME: &str = include_str!("../parts/frame.html");
/// What all pages look like.
const STYLE: &str = include_str!("../parts/base.css");
/// What all scripts begin with.
const SCRIPT: &str = include_str!("../parts/base.js");

/// The headers of all that a page's server answers: it is not kept, not taken for another type, not for other origins,
/// and other origins are not told its address.
pub const HEADERS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// The parts of a page.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Its name, as text of HTML.
    pub title: &'a str,
    /// HTML below its name.
    pub body: &'a str,
    /// Elements that its script reads and nobody sees; may be empty.
    pub data: &'a str,
    /// What is its own of the style.
    pub style: &'a str,
    /// What is its own of the script.
    pub script: &'a str,
    /// What it may connect to beside its own server, as `connect-src` has it; may be empty.
    pub connects: &'a str,
}

/// A page for one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The document, of the type `text/html; charset=utf-8`.
    pub text: String,
    /// The value of the header `content-security-policy`.
    pub policy: String,
}

impl Page {
    /// A page with a nonce of its own; none if the system has no random numbers.
    pub fn made(parts: &Parts) -> Option<Self> {
        let mut random = [0; 16];
        ring::rand::SystemRandom::new().fill(&mut random).ok()?;
        Some(Page::with(parts, &hex(&random)))
    }

    fn with(parts: &Parts, nonce: &str) -> Self {
        // The script last, whose braces are no marks.
        let text = FRAME
            .replace("{nonce}", nonce)
            .replace("{title}", parts.title)
            .replace("{style}", &[STYLE, parts.style].concat())
            .replace("{body}", parts.body)
            .replace("{data}", parts.data)
            .replace("{script}", &[SCRIPT, parts.script].concat());
        Page {
            text,
            policy: policy(nonce, parts.connects),
        }
    }
}

/// The first word of a part by which a page would load, keep or run what is not its own: its tests find none.
pub fn strays(part: &str) -> Option<&'static str> {
    const WORDS: [&str; 8] = [
        "src=",
        "@import",
        "url(",
        "innerHTML",
        "outerHTML",
        "eval(",
        "localStorage",
        ".cookie",
    ];
    WORDS.into_iter().find(|word| part.contains(word))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the page may do: its own script and style, its own server, nothing else (CSP level 3).
fn policy(nonce: &str, connects: &str) -> String {
    let connects = ["'self'", connects].join(" ");
    let connects = connects.trim_end();
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src {connects}; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: Parts = Parts {
        title: "A page",
        body: "<p>All of it.</p>\n",
        data: "",
        style: "b { color: red; }\n",
        script: "show();\n",
        connects: "",
    };

    #[test]
    fn the_marks_are_filled_and_the_policy_names_the_nonce() {
        let page = Page::with(&PARTS, "abc");
        assert_eq!(page.text.matches("nonce=\"abc\"").count(), 2);
        assert!(page.text.contains(STYLE) && page.text.contains("color: red"));
        assert!(
            page.text.contains(SCRIPT)
                && page
                    .text
                    .ends_with("show();\n</script>\n</body>\n</html>\n")
        );
        assert_eq!(page.text.matches("A page<").count(), 2);
        assert!(page.text.contains("<p>All of it.</p>\n</main>"));
        for mark in [
            "{nonce}", "{title}", "{style}", "{script}", "{data}", "{body}",
        ] {
            assert!(FRAME.contains(mark) && !page.text.contains(mark), "{mark}");
        }
        let begins = "default-src 'none'; script-src 'nonce-abc'; style-src 'nonce-abc'; connect-src 'self'; ";
        assert!(page.policy.starts_with(begins), "{}", page.policy);
    }

    #[test]
    fn what_all_pages_have_loads_nothing() {
        assert_eq!([FRAME, STYLE, SCRIPT].map(strays), [None; 3]);
        assert_eq!(strays("<img src=x>"), Some("src="));
    }

    #[test]
    fn a_page_may_connect_elsewhere_if_that_is_said() {
        let page = Page::with(
            &Parts {
                connects: "https://h:1",
                ..PARTS
            },
            "abc",
        );
        assert!(
            page.policy.contains("connect-src 'self' https://h:1; "),
            "{}",
            page.policy
        );
    }

    #[test]
    fn no_two_pages_have_one_nonce() {
        let [one, other] = [(); 2].map(|()| Page::made(&PARTS).unwrap());
        assert_ne!(one, other);
        let policy = &one.policy;
        let nonce = policy
            .split('\'')
            .find_map(|part| part.strip_prefix("nonce-"));
        let nonce = nonce.unwrap();
        assert!(
            nonce.len() == 32 && nonce.chars().all(|c| c.is_ascii_hexdigit()),
            "{policy}"
        );
    }
}
