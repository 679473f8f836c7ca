#!/usr/bin/env python3
"""Draws the plots of this folder again with matplotlib, from their CSV files.

    pip install matplotlib
    python3 plot.py [--format pdf] [NAME ...]

Each NAME.csv has what is drawn: a row for each value, with the ends of its 95 % interval where it
has one. plots.json has titles, axes and colours.
"""

import argparse
import csv
import json
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).resolve().parent


def read(name):
    with open(HERE / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text, places):
    """A value, or the place of a name; None where there is none."""
    if text in places:
        return float(places.index(text))
    return float(text) if text else None


def parsed(row, plot):
    x, y = plot["x"]["places"], plot["y"]["places"]
    columns = {"x": x, "x_low": x, "x_high": x, "y": y, "y_low": y, "y_high": y}
    values = {column: number(row[column], places) for column, places in columns.items()}
    return {**row, **values}


def errors(rows, axis):
    """How far intervals reach to both sides; nothing where no row has one."""
    if all(row[f"{axis}_low"] is None for row in rows):
        return None

    def reach(row, end):
        at = row[f"{axis}_{end}"]
        return 0.0 if at is None else max(0.0, abs(row[axis] - at))

    return [[reach(row, end) for row in rows] for end in ("low", "high")]


def points(ax, rows, style, label, boxed):
    marker = style.get("marker") or "o"
    sure = any(row[end] is not None for row in rows for end in ("x_low", "y_low"))
    ax.errorbar(
        [row["x"] for row in rows],
        [row["y"] for row in rows],
        xerr=errors(rows, "x"),
        yerr=errors(rows, "y"),
        linestyle="none",
        marker="." if boxed else marker,
        markerfacecolor=None if sure or boxed else "none",
        color=style["color"],
        label=label,
        capsize=2,
    )


def box(ax, rows, whiskers, style):
    color = style["color"]
    for row, ends in zip(rows, whiskers):
        low, high, y = row["x_low"], row["x_high"], row["y"]
        ax.barh(y, high - low, left=low, height=0.4, color=color, alpha=0.25)
        ax.plot([row["x"]] * 2, [y - 0.2, y + 0.2], color=color, linewidth=2.4)
        ax.plot([low, ends["x_low"]], [y, y], color=color)
        ax.plot([high, ends["x_high"]], [y, y], color=color)


def line(ax, rows, style, label, mark):
    x = [row["x"] for row in rows]
    y = [float("nan") if row["y"] is None else row["y"] for row in rows]
    look = {"color": style["color"], "linestyle": style["dash"], "label": label}
    look["alpha"] = 0.45 if rows[0]["part"] == "largest" else 1.0
    if mark == "area":
        ax.fill_between(x, y, step="post", color=style["color"], label=label)
    elif mark == "line":
        ax.plot(x, y, **look)
    else:
        ax.step(x, y, where="post", **look)


def spans(ax, rows, label, color):
    bars = [(row["x_low"], row["x_high"] - row["x_low"]) for row in rows]
    for bar, row in zip(bars, rows):
        ax.broken_barh([bar], (row["y"] - 0.4, 0.8), color=color, label=label)
        label = None


def scale(ax, axis, of):
    getattr(ax, f"set_{axis}label")(of["label"])
    ticks = getattr(ax, f"set_{axis}ticks")
    if of["places"]:
        ticks(range(len(of["places"])), of["places"])
    if of["log"]:
        getattr(ax, f"set_{axis}scale")("log")
    getattr(ax, f"set_{axis}lim")(*of["ends"])


def draw(plot, form):
    rows = [parsed(row, plot) for row in read(plot["name"])]
    figure, ax = plt.subplots(figsize=[pixels / 90 for pixels in plot["size"]])
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    groups = {}
    for row in rows:
        groups.setdefault((row["series"], row["part"], row["mark"]), []).append(row)
    boxed = any(mark == "box" for _, _, mark in groups)
    parts = list(dict.fromkeys(part for _, part, _ in groups))
    for at, ((series, part, mark), of) in enumerate(groups.items()):
        style = {"color": None, "dash": "-", "marker": None} | plot["series"].get(series, {})
        style["color"] = style["color"] or cycle[at % len(cycle)]
        label = f"{series}, {part}" if part else series
        if mark == "point":
            points(ax, of, style, label, boxed)
        elif mark == "box":
            box(ax, of, groups[series, part, "whiskers"], style)
        elif mark == "span":
            own = style["color"] if series in plot["series"] else None
            place = parts.index(part)
            spans(ax, of, label, own if own and place == 0 else cycle[place % len(cycle)])
        elif mark != "whiskers":
            line(ax, of, style, label, mark)
    ax.set_title(plot["title"], fontsize="medium")
    scale(ax, "x", plot["x"])
    scale(ax, "y", plot["y"])
    if not plot["y"]["places"] and ax.get_legend_handles_labels()[1]:
        ax.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(HERE / f"{plot['name']}.{form}")
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all if none is named")
    parser.add_argument("--format", default="png", help="png, pdf, …: what matplotlib writes")
    args = parser.parse_args()
    plots = json.loads((HERE / "plots.json").read_text(encoding="utf-8"))
    for plot in plots:
        if not args.names or plot["name"] in args.names:
            draw(plot, args.format)


if __name__ == "__main__":
    main()
