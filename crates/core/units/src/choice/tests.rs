use super::*;
use proptest::prelude::*;

fn choice(text: &str) -> Choice {
    text.parse().unwrap()
}

fn refused(text: &str) -> String {
    text.parse::<Choice>().unwrap_err().to_string()
}

#[test]
fn a_name_settings_and_children() {
    let it = choice(" 2lps ( fq_codel , target = 5ms ) , threshold=6MB ");
    assert_eq!(it.name, "2lps");
    assert_eq!(it.get("threshold"), Some("6MB"));
    assert_eq!(it.children.len(), 1);
    assert_eq!(it.children[0].name, "fq_codel");
    assert_eq!(it.get("fq_codel.target"), Some("5ms"));
    assert_eq!(it.to_string(), "2lps(fq_codel,target=5ms),threshold=6MB");
}

#[test]
fn a_semicolon_ends_the_settings_of_the_child_before() {
    let it = choice("pair(codel,target=5ms;pair(pie;red,ecn=no),a=1),b=2");
    assert_eq!(it.children.len(), 2);
    assert_eq!(it.children[0].settings, [("target".into(), "5ms".into())]);
    assert_eq!(it.children[1].settings, [("a".into(), "1".into())]);
    assert_eq!(it.children[1].children[1].to_string(), "red,ecn=no");
    assert_eq!(it.settings, [("b".into(), "2".into())]);
}

#[test]
fn errors_say_what_was_found_where_and_what_to_write() {
    for (text, expected) in [
        ("", "a name is missing; write NAME"),
        (",a=1", "a name is missing; write NAME"),
        (
            "a,b",
            "\"b\" is no setting (character 3); write NAME,key=value",
        ),
        ("a,", "\"\" is no setting (character 3)"),
        (
            "a,b=1,b=2",
            "\"b\" is set twice (character 7); write it once",
        ),
        ("a(", "a name is missing (character 3)"),
        ("a()", "a name is missing (character 3)"),
        ("a(b;;c)", "a name is missing (character 5)"),
        ("a(b", "a parenthesis is not closed (character 2); write )"),
        ("a(b(c)", "a parenthesis is not closed (character 2)"),
        (
            "a(b)c",
            "\"c\" after a parenthesis (character 5); write a comma",
        ),
        ("a(b)(c)", "'(' belongs to nothing (character 5)"),
        ("a)", "')' belongs to nothing (character 2)"),
        ("a;b", "';' belongs to nothing (character 2)"),
        ("a,b=(1)", "'(' belongs to nothing (character 5)"),
        ("\u{fc}(b,x)", "\"x\" is no setting (character 5)"),
    ] {
        assert!(
            refused(text).starts_with(expected),
            "{text}: {}",
            refused(text)
        );
    }
}

#[test]
fn depth_and_length_are_bounded() {
    assert!("a(b(c(d)))".parse::<Choice>().is_ok());
    let deep = refused("a(b(c(d(e))))");
    assert!(deep.starts_with("too many levels of parentheses (character 8); write at most 4"));
    refused(&"a(".repeat(900));
    let long = refused(&"a".repeat(2001));
    assert!(long.contains("2001 bytes") && long.len() < 100, "{long}");
}

#[test]
fn a_setting_is_replaced_also_within() {
    let mut it = choice("2lps(codel,target=5ms;pie),a=1");
    for (key, value) in [("a", "2"), ("codel.target", "1ms"), ("pie.ecn", "yes")] {
        it.set(key, value).unwrap();
    }
    let error = it.set("red.ecn", "yes").unwrap_err().to_string();
    assert_eq!(
        error,
        "2lps: there is no child \"red\"; there are: codel, pie"
    );
    assert_eq!(it.to_string(), "2lps(codel,target=1ms;pie,ecn=yes),a=2");
}

#[test]
fn commas_in_parentheses_do_not_split() {
    let pieces: Vec<&str> = split("2lps(codel,target=1ms),pfifo,a)b,c").collect();
    assert_eq!(pieces, ["2lps(codel,target=1ms)", "pfifo", "a)b", "c"]);
}

#[test]
fn slots_are_filled_with_defaults_and_no_more_is_taken() {
    const SLOTS: &[Slot] = &[
        Slot {
            name: "FIRST",
            default: "pie",
            help: "",
        },
        Slot {
            name: "SECOND",
            default: "codel,target=1ms",
            help: "",
        },
    ];
    let names = |text: &str| {
        let children = filled(&choice(text), SLOTS, 3).unwrap();
        children.iter().map(Choice::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names("pair"), ["pie", "codel,target=1ms"]);
    assert_eq!(names("pair(red)"), ["red", "codel,target=1ms"]);
    let error = filled(&choice("pair(a;b;c)"), SLOTS, 1)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "pair contains 2, not 3; write pair(FIRST;SECOND)");
    let error = filled(&choice("pair"), SLOTS, 4).unwrap_err().to_string();
    assert_eq!(
        error,
        "pair on level 4 would contain another; use at most 4 levels"
    );
    let error = filled(&choice("pie(a)"), &[], 4).unwrap_err().to_string();
    assert_eq!(error, "pie contains no other; write pie");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_what_is_printed_reads_the_same(
        text in "[ab ,;()=]{0,40}"
    ) {
        if let Ok(it) = text.parse::<Choice>() {
            prop_assert_eq!(choice(&it.to_string()), it);
        }
    }
}
