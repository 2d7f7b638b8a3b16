"""Line charts as SVG, readable on light and dark ground. Python's standard library only.

A figure is a list of panels; all panels share one legend. Colours say what is looked at, dashes and markers say how it was computed,
so that a chart can be read without colours too.
"""
import html
import math

WIDTH, HEIGHT = 430, 320
LEFT, RIGHT, TOP, BOTTOM = 72, 14, 34, 46
LEGEND_ROW = 20
# Mid tones that stand out from white and from near-black; the order keeps neighbours apart for colour-blind readers.
COLOURS = ["#3f7fe8", "#d9662b", "#2a9d74", "#b65bb8", "#a88a12", "#8a8f99"]
DASHES = {"solid": "", "dashed": "7 4", "dotted": "2 4"}
STYLE = (".bg{fill:#fff}.ink{fill:#1c2430}.axis{stroke:#3b4a63;fill:none}.grid{stroke:#d8dee8}"
         "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px}"
         "@media (prefers-color-scheme:dark){.bg{fill:#12161d}.ink{fill:#e6ebf3}.axis{stroke:#a9b8d0}.grid{stroke:#2b3442}}")


class Series:
    """Points (x, y) of one curve; `colour` is a number, `dash` and `marker` a name."""

    def __init__(self, name, points, colour=0, dash="solid", marker="dot"):
        self.name, self.colour, self.dash, self.marker = name, COLOURS[colour % len(COLOURS)], dash, marker
        self.points = [(float(x), float(y)) for x, y in points if y is not None and math.isfinite(y)]


class Panel:
    """One pair of axes. What lies outside `y_range`, or at or below zero on a logarithmic axis, is left out."""

    def __init__(self, title, x_label, y_label, series, log_x=False, log_y=True, y_range=None):
        self.title, self.x_label, self.y_label, self.log_x, self.log_y = title, x_label, y_label, log_x, log_y
        self.series = series
        for one in series:
            one.points = [(x, y) for x, y in one.points if (y > 0 or not log_y) and (x > 0 or not log_x)]
        points = [point for one in series for point in one.points]
        if not points:
            raise ValueError(f"the panel `{title}` has no points to draw")
        self.x_range = padded([x for x, _ in points], log_x)
        self.y_range = y_range or padded([y for _, y in points], log_y)

    def draw(self, left, top):
        place_x = scale(self.x_range, self.log_x, left + LEFT, left + WIDTH - RIGHT)
        place_y = scale(self.y_range, self.log_y, top + HEIGHT - BOTTOM, top + TOP)
        out = [text(left + LEFT, top + 20, self.title, bold=True)]
        for value in ticks(self.y_range, self.log_y):
            y = place_y(value)
            out.append(f'<path class="grid" d="M{left + LEFT} {y:.1f}H{left + WIDTH - RIGHT}"/>')
            out.append(text(left + LEFT - 6, y + 4, label(value), anchor="end"))
        for value in ticks(self.x_range, self.log_x):
            x = place_x(value)
            out.append(f'<path class="axis" d="M{x:.1f} {top + HEIGHT - BOTTOM}v4"/>')
            out.append(text(x, top + HEIGHT - BOTTOM + 18, label(value), anchor="middle"))
        out.append(f'<path class="axis" d="M{left + LEFT} {top + TOP}V{top + HEIGHT - BOTTOM}H{left + WIDTH - RIGHT}"/>')
        out.append(text(left + (LEFT + WIDTH - RIGHT) / 2, top + HEIGHT - 8, self.x_label, anchor="middle"))
        middle = top + (TOP + HEIGHT - BOTTOM) / 2
        out.append(text(left + 14, middle, self.y_label, anchor="middle", turn=True))
        for one in self.series:
            shown = [(x, y) for x, y in one.points if self.y_range[0] <= y <= self.y_range[1]]
            out.append(curve(one, [(place_x(x), place_y(y)) for x, y in shown]))
        return out


def figure(title, description, panels, columns=2):
    """The whole picture as text. `description` is read out by screen readers."""
    legend = {}
    for panel in panels:
        for one in panel.series:
            legend.setdefault(one.name, one)
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    per_row = max(1, columns * WIDTH // 290)
    width = columns * WIDTH
    top = 30 + LEGEND_ROW * -(-len(legend) // per_row)
    height = top + rows * HEIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
           f"<title>{html.escape(title)}</title>", f"<desc>{html.escape(description)}</desc>", f"<style>{STYLE}</style>",
           f'<rect class="bg" width="{width}" height="{height}"/>', text(14, 20, title, bold=True)]
    for number, one in enumerate(legend.values()):
        x, y = 14 + 290 * (number % per_row), 38 + LEGEND_ROW * (number // per_row)
        out.append(curve(one, [(x, y), (x + 30, y)]))
        out.append(text(x + 38, y + 4, one.name))
    for number, panel in enumerate(panels):
        out += panel.draw(WIDTH * (number % columns), top + HEIGHT * (number // columns))
    return "\n".join(out + ["</svg>", ""])


def curve(one, places):
    if not places:
        return ""
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dash = f' stroke-dasharray="{DASHES[one.dash]}"' if DASHES[one.dash] else ""
    line = f'<path d="{path}" fill="none" stroke="{one.colour}" stroke-width="2"{dash}/>'
    # More than some thirty markers would hide the line.
    return line + "".join(marker(one, x, y) for x, y in places[::-(-len(places) // 30) or 1])


def marker(one, x, y):
    if one.marker == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{one.colour}"/>'
    if one.marker == "cross":
        return f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{one.colour}" stroke-width="2"/>'
    if one.marker == "none":
        return ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{one.colour}"/>'


def text(x, y, words, anchor="start", bold=False, turn=False):
    weight = ' font-weight="600"' if bold else ""
    turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
    return f'<text class="ink" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}{turned}>{html.escape(words)}</text>'


def padded(values, logarithmic):
    low, high = min(values), max(values)
    if logarithmic:
        return (low / 1.5, high * 1.5)
    room = 0.05 * (high - low) or 0.5
    return (low - room, high + room)


def scale(span, logarithmic, start, end):
    measure = math.log if logarithmic else float
    low, high = measure(span[0]), measure(span[1])
    return lambda value: start + (measure(value) - low) / (high - low) * (end - start)


def ticks(span, logarithmic):
    low, high = span
    if logarithmic:
        first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
        step = max(1, -(-(last - first) // 6))
        if last - first >= 2:
            return [10.0 ** power for power in range(first, last + 1, step)]
        finer = [factor * 10.0 ** power for power in range(first - 1, last + 1) for factor in (1, 2, 5)]
        return [value for value in finer if low <= value <= high]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def label(value):
    if value == 0:
        return "0"
    if abs(value) >= 1e5 or abs(value) < 1e-3:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
