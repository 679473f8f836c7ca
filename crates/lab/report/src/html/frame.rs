//! The frame of the content: the page, and the sections in it.

use crate::draw::{GROUND, STYLE as PLOTS, palette};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// The style sheet of all pages: colours for light ground and dark, plots, and their surroundings.
fn common() -> String {
    let (light, dark) = (palette::rules(false), palette::rules(true));
    format!(
        "{GROUND}{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}\n{PLOTS}{STYLE}"
    )
}

/// A whole page around `content`, with `style` in addition to the common one.
pub fn framed(title: &str, style: &str, content: &Markup) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (title) " – analects" }
                style { (PreEscaped(common())) (PreEscaped(style)) }
            }
            body { main { (content) } }
        }
    };
    harmless(&page.into_string()) + "\n"
}

/// A section with its heading, or nothing if it has no content.
pub fn section(id: &str, heading: &str, content: &Markup) -> Markup {
    html! {
        @if !content.0.is_empty() {
            section id=(id) { h2 { (heading) } (content) }
        }
    }
}

/// `text` without characters that steer a terminal or the direction of writing: names come from
/// files that anyone may have written, and maud escapes markup only.
fn harmless(text: &str) -> String {
    let steers = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    };
    text.replace(steers, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_harmless_text() {
        let name = "<script>'a'&\"b\"</script> a\0b\u{1b}[31m\u{202e}c";
        let page = framed(name, "", &html! { p title=(name) { (name) } });
        let text =
            "&lt;script&gt;'a'&amp;&quot;b&quot;&lt;/script&gt; a\u{fffd}b\u{fffd}[31m\u{fffd}c";
        assert_eq!(page.matches(text).count(), 3, "{page}");
        assert_eq!(harmless("Käse →\n\t190 ms"), "Käse →\n\t190 ms");
    }

    #[test]
    fn a_section_without_content_is_none() {
        assert_eq!(section("a", "A", &html! {}).into_string(), "");
        let section = section("a", "A & B", &html! { p {} }).into_string();
        assert_eq!(
            section,
            "<section id=\"a\"><h2>A &amp; B</h2><p></p></section>"
        );
    }
}
