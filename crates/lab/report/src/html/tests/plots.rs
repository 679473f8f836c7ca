//! The plots of the page.

use super::{drawn, page, well_formed};

/// The text between `from` and the next `to`, at each place where `from` stands.
fn each<'a>(page: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let parts = page.split(from).skip(1);
    parts
        .map(|part| part.split(to).next().unwrap_or_default())
        .collect()
}

#[test]
fn every_plot_can_be_read_without_seeing_it() {
    let page = page(&["confucius", "fifo"], 6);
    let plots = each(&page, "<figure", "</figure>");
    assert!(plots.len() > 10, "{}", plots.len());
    for figure in plots {
        let drawings = each(figure, "role=\"img\"", "</svg>");
        assert!(!drawings.is_empty(), "{figure}");
        for drawing in drawings {
            assert!(drawing.starts_with("><title>"), "{}", &drawing[..80]);
            assert!(drawing.contains("</title><desc>"), "{}", &drawing[..200]);
            let empty = drawing.contains("There is nothing in it.");
            assert_eq!(figure.contains("<details class=\"values\">"), !empty);
        }
    }
    // The trade-off has both disciplines, with intervals or without, in its table.
    let tradeoff = each(&page, "id=\"tradeoff\"", "</section>")[0];
    let table = each(tradeoff, "<tbody>", "</tbody>")[0];
    assert_eq!(table.matches("<th scope=\"row\">").count(), 2, "{table}");
}

#[test]
fn a_phone_gets_plots_of_its_own_width() {
    let page = page(&["confucius", "fifo"], 2);
    let width = |drawing: &&str| -> f64 {
        let view = each(drawing, "viewBox=\"0 0 ", " ")[0];
        view.parse().unwrap()
    };
    let (wide, narrow) = (
        each(&page, "<svg class=\"big\"", "</svg>"),
        each(&page, "<svg class=\"small\"", "</svg>"),
    );
    assert!(!wide.is_empty());
    assert_eq!(wide.len(), narrow.len());
    let others = each(&page, "<svg viewBox=", "</svg>");
    let others = others.iter().map(|part| format!("viewBox={part}"));
    let others: Vec<String> = others.collect();
    let fit = narrow
        .iter()
        .copied()
        .chain(others.iter().map(String::as_str));
    assert!(fit.clone().count() > narrow.len());
    for drawing in fit {
        assert!(width(&drawing) <= 420.0, "{}", &drawing[..80]);
    }
    // Words are not broken unnecessarily.
    assert!(!page.contains("overflow-wrap:anywhere"));
}

#[test]
fn a_discipline_looks_the_same_on_every_page() {
    let look = |page: &str, name: &str| {
        let swatches = each(page, "<svg class=\"swatch ", "</b>");
        let of = swatches
            .iter()
            .find(|part| part.ends_with(&format!("</svg>{name}")));
        of.and_then(|part| part.split('"').next())
            .map(str::to_owned)
    };
    let first = look(&page(&["cake", "confucius"], 1), "cake");
    assert!(first.is_some());
    let others = ["pie", "confucius,k=2", "codel", "cake"];
    assert_eq!(look(&page(&others, 1), "cake"), first);
}

#[test]
fn repeated_runs_are_boxes_with_a_point_each() {
    let few = page(&["confucius", "fifo"], 3);
    assert!(few.contains("id=\"runs\"") && !few.contains("class=\"box\""));
    assert!(!page(&["confucius", "fifo"], 1).contains("id=\"runs\""));
    let pages = drawn(&["confucius", "fifo"], 6);
    assert_eq!(well_formed(&pages.html), Ok(()));
    let boxes = pages.drawings.iter().find(|of| of.0 == "runs-plt").unwrap();
    // 3000 - 1.9 * 800 + seed * 40 for the seeds 0 to 5: median 1580, quartiles 1530 and 1630.
    let csv = boxes.1.csv().unwrap();
    assert!(csv.contains("fifo,box,,1580,1530,1630,fifo,,\n"), "{csv}");
    assert!(
        csv.contains("fifo,whiskers,,1580,1480,1680,fifo,,\n"),
        "{csv}"
    );
    assert_eq!(csv.matches("fifo,point,").count(), 6);
}

#[test]
fn what_is_drawn_is_there_as_values_with_their_intervals() {
    let pages = drawn(&["confucius", "fifo"], 6);
    let names: Vec<&str> = pages.drawings.iter().map(|of| of.0.as_str()).collect();
    for name in [
        "tradeoff",
        "frames-call",
        "stalls-call",
        "flows-fifo",
        "classes-confucius",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let place = names.iter().position(|name| *name == "tradeoff").unwrap();
    let tradeoff = &pages.drawings[place].1;
    let point = tradeoff
        .values
        .iter()
        .find(|value| value.series == "fifo")
        .unwrap();
    assert_eq!(point.x, Some(1.58));
    let (low, high) = point.x_ends.expect("an interval");
    assert!(low < 1.58 && high > 1.58);
    let page = &pages.html;
    assert!(
        page.contains(&format!("1.58 ({low:.2} to {high:.2})")),
        "{low} {high}"
    );
}
