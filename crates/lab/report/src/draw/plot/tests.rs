//! The parts of plots.

use super::*;

/// 100 pixels to each unit: 68 of margins across, 64 upright.
fn plot() -> Plot {
    let axis = |to| Axis::exact("v", 0.0, to, 4);
    Plot::new(268.0, 164.0, axis(2.0), axis(1.0))
}

#[test]
fn lines_are_interrupted_where_there_is_no_value() {
    let mut plot = plot();
    plot.line(
        "",
        &[
            (0.0, Some(0.0)),
            (1.0, Some(1.0)),
            (1.2, None),
            (2.0, Some(0.5)),
        ],
    );
    assert!(
        plot.marks.contains("d=\"M50 126L150 26M250 76H250\""),
        "{}",
        plot.marks
    );
}

#[test]
fn areas_are_stairs_down_to_the_floor() {
    let mut plot = plot();
    plot.area("", &[(0.0, 0.5), (1.0, 1.0), (1.5, 1.0)], 2.0);
    assert!(
        plot.marks.contains("d=\"M50 76H150V26H250V126H50\""),
        "{}",
        plot.marks
    );
}

#[test]
fn distributions_end_where_values_are_missing() {
    let mut plot = plot();
    // Two values of four: 25 % at 0.5, 50 % at 1.
    plot.distribution(&mut [1.0, 0.5], 4);
    assert!(
        plot.marks.contains("d=\"M50 126H100V101H150V76H250\""),
        "{}",
        plot.marks
    );
}

#[test]
fn intervals_are_drawn_from_end_to_end() {
    let mut plot = plot();
    // Lopsided: from 0.9 to 1.5 across, from 0.2 to 0.6 upright.
    let ends = [Some((0.9, 1.5)), Some((0.2, 0.6))];
    plot.marker(0, (1.0, 0.5), ends, true, "a <b>");
    assert!(
        plot.marks.contains("d=\"M140 76H200M150 106V66\""),
        "{}",
        plot.marks
    );
    assert!(plot.marks.contains("<title>a &lt;b&gt;</title>"));
}

#[test]
fn an_interval_beyond_the_axis_has_an_arrow_and_the_drawing_says_so() {
    let mut plot = plot();
    // Down to -1, where the axis ends at 0: a tip at the floor.
    plot.marker(0, (1.0, 0.5), [None, Some((-1.0, 0.6))], true, "");
    assert!(
        plot.marks
            .contains("d=\"M150 126V66M153.5 121L150 126L146.5 121\""),
        "{}",
        plot.marks
    );
    let drawing = plot.finish("a plot");
    assert!(drawing.cut && drawing.remarks().contains("An arrow"));
    assert_eq!(drawing.values[0].y_ends, Some((-1.0, 0.6)));
}

#[test]
fn a_value_without_an_interval_is_hollow() {
    let mut plot = plot();
    plot.marker(1, (1.0, 0.5), [None, None], false, "");
    assert!(plot.marks.contains("class=\"marker hollow\""));
    let drawing = plot.finish("a plot");
    assert!(drawing.hollow && drawing.remarks().contains("Hollow"));
}

#[test]
fn boxes_reach_from_quartile_to_quartile() {
    // 100 pixels to each unit from 18 on; one row of 40 pixels.
    let x = Axis::exact("v", 0.0, 2.0, 4);
    let mut plot = Plot::rows(236.0, 40.0, x, &["a".to_owned()]);
    let of = Spread {
        low: 0.1,
        lower: 0.5,
        median: 1.0,
        upper: 1.5,
        high: 1.9,
    };
    plot.spread(0.0, of);
    assert!(
        plot.marks
            .contains("x=\"68\" y=\"22\" width=\"100\" height=\"16\""),
        "{}",
        plot.marks
    );
    assert!(plot.marks.contains("class=\"median\" d=\"M118 22V38\""));
    assert!(
        plot.marks
            .contains("M68 30H28M28 26V34M168 30H208M208 26V34")
    );
    let ends = plot
        .finish("")
        .values
        .iter()
        .map(|value| value.x_ends)
        .collect::<Vec<_>>();
    assert_eq!(ends, [Some((0.5, 1.5)), Some((0.1, 1.9))]);
}

#[test]
fn a_series_has_its_group_its_key_and_its_values() {
    let mut plot = plot();
    let key = PlotKey {
        name: "b".to_owned(),
        classes: "c1".to_owned(),
        shape: None,
    };
    plot.span("a", 0.0, 1.0);
    plot.series(&key, "d0", |plot| {
        plot.line("", &[(0.0, Some(1.0)), (1.0, None)])
    });
    let order = [
        "class=\"a\"",
        "<g class=\"d0 c1\"><path class=\"line ",
        "</g>",
    ];
    let places = order.map(|part| plot.marks.find(part).unwrap());
    assert!(places.is_sorted(), "{}", plot.marks);
    let drawing = plot.finish("t");
    assert_eq!(drawing.keys, [key]);
    let text = "series,mark,part,x,x_low,x_high,y,y_low,y_high\nb,line,,0,,,1,,\nb,line,,1,,,,,\n";
    assert_eq!(drawing.csv().unwrap(), text);
}

#[test]
fn labels_do_not_cover_one_another() {
    let mut plot = plot();
    for at in [(0.5, 0.5), (0.6, 0.5)] {
        plot.marker(0, at, [None, None], true, "");
    }
    plot.label((0.5, 0.5), "ab");
    plot.label((0.6, 0.5), "cd");
    // The second marker is 10 pixels to the right of the first and in the way of its label;
    // on the left there is room.
    assert!(
        plot.marks.contains("x=\"77\" y=\"80\">ab"),
        "{}",
        plot.marks
    );
    assert!(plot.marks.contains("x=\"119\" y=\"80\">cd"));
}
