//! A small writer of SVG documents: elements, attributes, escaped text, a style sheet for light and dark.
//!
//! Numbers are written with two decimals and without trailing zeros, never as NaN or infinity, so that the same
//! picture is the same bytes everywhere.

use std::fmt::Write;

/// A document with a size, a title for screen readers, a style sheet and a tree of elements.
///
/// ```
/// use topology::svg::{Element, Svg};
/// let mut picture = Svg::new(100.0, 50.0).title("A dot").style(".dot{fill:#25c}");
/// picture.add(Element::new("circle").number("cx", 50.0).number("cy", 25.0).number("r", 4.0).attribute("class", "dot"));
/// assert!(picture.render().contains(r#"<circle cx="50" cy="25" r="4" class="dot"/>"#));
/// ```
#[derive(Debug, Clone)]
pub struct Svg {
    width: f64,
    height: f64,
    title: String,
    description: String,
    style: String,
    elements: Vec<Element>,
}

impl Svg {
    /// An empty document of this size in pixels; it scales with the page it stands in.
    pub fn new(width: f64, height: f64) -> Self {
        let (title, description, style) = (String::new(), String::new(), String::new());
        Self { width, height, title, description, style, elements: Vec::new() }
    }

    /// What the picture is called, for screen readers and tooltips.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// What the picture shows, for those who cannot see it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Adds rules to the style sheet.
    #[must_use]
    pub fn style(mut self, rules: &str) -> Self {
        self.style.push_str(rules);
        self
    }

    /// Adds an element on top of those before.
    pub fn add(&mut self, element: Element) {
        self.elements.push(element);
    }

    /// The document as text.
    pub fn render(&self) -> String {
        let (width, height) = (number(self.width), number(self.height));
        let mut root = Element::new("svg")
            .attribute("xmlns", "http://www.w3.org/2000/svg")
            .attribute("viewBox", format!("0 0 {width} {height}"))
            .attribute("width", width)
            .attribute("height", height)
            .attribute("role", "img");
        for (name, text) in [("title", &self.title), ("desc", &self.description)] {
            if !text.is_empty() {
                root = root.child(Element::new(name).text(text));
            }
        }
        if !self.style.is_empty() {
            root = root.child(Element::new("style").text(&self.style));
        }
        let mut text = String::new();
        root.children
            .iter()
            .chain(&self.elements)
            .fold(Opening::new(&root, &mut text), Opening::child)
            .close();
        text.push('\n');
        text
    }
}

/// An element with attributes, children and text.
#[derive(Debug, Clone)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Self>,
    text: String,
}

impl Element {
    /// An element without attributes.
    pub fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), children: Vec::new(), text: String::new() }
    }

    /// A group that gives its class to what is in it.
    pub fn group(class: &str) -> Self {
        Self::new("g").attribute("class", class)
    }

    /// A line of text at a point.
    pub fn label(x: f64, y: f64, text: &str) -> Self {
        Self::new("text").number("x", x).number("y", y).text(text)
    }

    /// Sets an attribute.
    #[must_use]
    pub fn attribute(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// Sets an attribute that is a number.
    #[must_use]
    pub fn number(self, name: &'static str, value: f64) -> Self {
        self.attribute(name, number(value))
    }

    /// Adds a child.
    #[must_use]
    pub fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    /// Adds a child to an element that is already in place.
    pub fn push(&mut self, child: Self) {
        self.children.push(child);
    }

    /// Sets the text that comes before the children.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.text = text.to_owned();
        self
    }

    fn write(&self, out: &mut String) {
        self.children.iter().fold(Opening::new(self, out), Opening::child).close();
    }
}

/// An element whose start tag is written.
struct Opening<'a> {
    name: &'static str,
    has_content: bool,
    has_children: bool,
    out: &'a mut String,
}

impl<'a> Opening<'a> {
    fn new(element: &Element, out: &'a mut String) -> Self {
        out.push('<');
        out.push_str(element.name);
        for (name, value) in &element.attributes {
            write!(out, " {name}=\"{}\"", escaped(value)).expect("a string takes everything");
        }
        let has_content = !element.text.is_empty();
        if has_content {
            out.push('>');
            out.push_str(&escaped(&element.text));
        }
        Self { name: element.name, has_content, has_children: false, out }
    }

    fn child(mut self, child: &Element) -> Self {
        if !self.has_content {
            self.out.push('>');
            self.has_content = true;
        }
        self.has_children = true;
        self.out.push('\n');
        child.write(self.out);
        self
    }

    fn close(self) {
        if !self.has_content {
            self.out.push_str("/>");
            return;
        }
        if self.has_children {
            self.out.push('\n');
        }
        write!(self.out, "</{}>", self.name).expect("a string takes everything");
    }
}

/// A number as SVG reads it: two decimals at most; what is not finite becomes 0.
pub fn number(value: f64) -> String {
    let finite = if value.is_finite() { value } else { 0.0 };
    let text = format!("{finite:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text with the characters that mean something to XML replaced, and those that it forbids left out.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_always_finite() {
        let pairs =
            [(1.0, "1"), (0.5, "0.5"), (-0.001, "0"), (2.346, "2.35"), (f64::NAN, "0"), (100.0, "100")];
        for (value, text) in pairs {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn text_cannot_break_out_of_its_element() {
        let mut svg = Svg::new(10.0, 10.0).title("<script>&");
        svg.add(Element::label(0.0, 0.0, "a\"<b>\u{0}"));
        let text = svg.render();
        assert!(text.contains("<title>&lt;script&gt;&amp;</title>"), "{text}");
        assert!(text.contains(r#"<text x="0" y="0">a&quot;&lt;b&gt;</text>"#), "{text}");
    }

    #[test]
    fn elements_nest() {
        let mut svg = Svg::new(1.0, 1.0);
        svg.add(Element::group("a").child(Element::new("path")).child(Element::new("path")));
        assert!(svg.render().contains("<g class=\"a\">\n<path/>\n<path/>\n</g>\n</svg>"), "{}", svg.render());
    }
}
