//! Plots as files: each as SVG and CSV, and a script that draws all of them again with matplotlib.

use crate::draw::axis::Axis;
use crate::draw::marker::SHAPES;
use crate::draw::values::PlotKey;
use crate::draw::{Drawing, palette};
use crate::tables::plain;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Draws the plots named in [`PLOTS`].
const SCRIPT: &str = include_str!("plot.py");
const SCRIPT_NAME: &str = "plot.py";
/// Names of the plots, and the data that the script needs in addition to their values.
const PLOTS: &str = "plots.json";
/// Markers of matplotlib in the order of ours, and its dashes.
const MARKERS: [&str; SHAPES] = ["o", "s", "^", "D", "v", "_", "P", "X"];
const DASHES: [&str; 4] = ["-", "--", ":", "-."];

/// The data of a plot that the script needs in addition to its values.
#[derive(Serialize)]
struct PlotData<'a> {
    name: &'a str,
    title: &'a str,
    size: [f64; 2],
    x: Scale<'a>,
    y: Scale<'a>,
    series: BTreeMap<&'a str, Style>,
}

#[derive(Serialize)]
struct Scale<'a> {
    label: &'a str,
    log: bool,
    ends: (f64, f64),
    places: &'a [String],
}

#[derive(Serialize)]
struct Style {
    color: Option<String>,
    dash: &'static str,
    marker: Option<&'static str>,
}

/// The fields read from an earlier file.
#[derive(Deserialize)]
struct EarlierFields {
    name: String,
}

impl<'a> Scale<'a> {
    fn of(axis: &'a Axis) -> Self {
        Scale {
            label: &axis.label,
            log: axis.is_log(),
            ends: axis.ends(),
            places: axis.names(),
        }
    }
}

impl Style {
    fn of(key: &PlotKey) -> Self {
        let number = |class: char| {
            let mut classes = key.classes.split(' ');
            classes.find_map(|of| of.strip_prefix(class)?.parse::<usize>().ok())
        };
        Style {
            color: number('c').map(palette::on_light),
            dash: DASHES[number('s').unwrap_or(0) % DASHES.len()],
            marker: key.shape.map(|shape| MARKERS[shape % SHAPES]),
        }
    }
}

/// Writes into `folder`: for each drawing `NAME.svg` and `NAME.csv`, with only plain characters in
/// NAME; `plot.py`, and `plots.json` for it. Files of an earlier call are removed first.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, drawings: &[(String, Drawing)]) -> io::Result<()> {
    forget(folder)?;
    std::fs::create_dir_all(folder)?;
    let names = names(drawings.iter().map(|(name, _)| name.as_str()));
    let mut plots = Vec::new();
    for (name, (_, drawing)) in names.iter().zip(drawings) {
        std::fs::write(folder.join(format!("{name}.svg")), drawing.svg())?;
        std::fs::write(folder.join(format!("{name}.csv")), drawing.csv()?)?;
        let keys = drawing.keys.iter();
        plots.push(PlotData {
            name,
            title: &drawing.title,
            size: [drawing.size.0, drawing.size.1],
            x: Scale::of(&drawing.x),
            y: Scale::of(&drawing.y),
            series: keys.map(|key| (&*key.name, Style::of(key))).collect(),
        });
    }
    let plots = serde_json::to_string_pretty(&plots)? + "\n";
    std::fs::write(folder.join(PLOTS), plots)?;
    std::fs::write(folder.join(SCRIPT_NAME), SCRIPT)
}

/// Removes the files of an earlier call, and nothing else.
///
/// # Errors
/// If a file cannot be removed.
pub fn forget(folder: &Path) -> io::Result<()> {
    let Ok(text) = std::fs::read_to_string(folder.join(PLOTS)) else {
        return Ok(());
    };
    // A foreign file names none of our files.
    let plots: Vec<EarlierFields> = serde_json::from_str(&text).unwrap_or_default();
    // Names are plain, so that none leads out of the folder.
    let names = plots.iter().map(|plot| plain(&plot.name));
    let files = names.flat_map(|name| [format!("{name}.svg"), format!("{name}.csv")]);
    for file in files.chain([PLOTS, SCRIPT_NAME].map(str::to_owned)) {
        match std::fs::remove_file(folder.join(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // Other files in it stay.
    _ = std::fs::remove_dir(folder);
    Ok(())
}

/// Names of files: plain, and none twice.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let one = |name: &str| {
        let first = plain(name);
        let numbered = (2..).map(|number| format!("{first}-{number}"));
        let mut names = std::iter::once(first.clone()).chain(numbered);
        names
            .find(|name| known.insert(name.clone()))
            .unwrap_or(first)
    };
    names.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::plot::Plot as Drawn;

    fn drawing() -> Drawing {
        let axis = |to| Axis::exact("v", 0.0, to, 4);
        let key = PlotKey {
            name: "a,b".to_owned(),
            classes: "c1 s2".to_owned(),
            shape: Some(1),
        };
        let mut plot = Drawn::new(200.0, 100.0, axis(2.0), axis(1.0));
        plot.series(&key, "", |plot| {
            plot.marker(1, (1.0, 0.5), [None, Some((0.25, 0.75))], true, "");
        });
        plot.finish("a <title>")
    }

    #[test]
    fn names_are_plain_and_none_is_there_twice() {
        let names = names(["flows-a,b", "flows-a(b", "../x"].into_iter());
        assert_eq!(names, ["flows-a-b", "flows-a-b-2", "---x"]);
    }

    #[test]
    fn each_plot_is_a_picture_with_its_values_and_earlier_ones_go() {
        let folder = std::env::temp_dir().join(format!("plots-{}", std::process::id()));
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        write(&folder, &[("one".to_owned(), drawing())]).unwrap();
        std::fs::write(folder.join("mine.svg"), "kept").unwrap();
        let csv = "series,mark,part,x,x_low,x_high,y,y_low,y_high\n\
                   \"a,b\",point,,1,,,0.5,0.25,0.75\n";
        assert_eq!(read("one.csv").unwrap(), csv);
        let svg = read("one.svg").unwrap();
        assert!(
            svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""),
            "{svg}"
        );
        assert!(svg.contains("<title>a &lt;title&gt;</title>"));
        assert!(
            svg.contains(">a,b</text>") && !svg.contains("var("),
            "{svg}"
        );
        let plots: serde_json::Value = serde_json::from_str(&read(PLOTS).unwrap()).unwrap();
        let style = &plots[0]["series"]["a,b"];
        assert_eq!(style["color"], "#d55e00");
        assert_eq!(
            (&style["dash"], &style["marker"]),
            (&":".into(), &"s".into())
        );
        write(&folder, &[("two".to_owned(), drawing())]).unwrap();
        assert!(read("one.csv").is_err() && read("one.svg").is_err());
        assert!(read("two.svg").is_ok() && read("mine.svg").is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
