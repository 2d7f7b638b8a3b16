//! ONNX: a graph from unscaled features to probabilities and label, or to a value. Field numbers are those of `onnx.proto3`.

use super::layers::{End, ExportError, Layer, Network};
use super::protobuf::Message;
use crate::model::Activation;
use crate::saved::Saved;

/// Version of the file format and of the operators: both are read by every onnxruntime since 2021.
const IR_VERSION: i64 = 8;
const OPSET: i64 = 13;
/// `TensorProto.DataType`.
const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// The model as the bytes of an `.onnx` file. Input `features` (records × features, in the order of the metadata entry `features`), outputs
/// `probabilities` and `label`, or `value`.
///
/// # Errors
/// A kind of model without dense layers.
pub fn onnx(saved: &Saved) -> Result<Vec<u8>, ExportError> {
    let network = Network::of(saved)?;
    let mut graph = Graph::default();
    let mut last = graph.scaled(&network);
    for (at, layer) in network.layers.iter().enumerate() {
        last = graph.dense(at, layer, &last);
        if at + 1 < network.layers.len() {
            let op = if network.activation == Activation::Tanh { "Tanh" } else { "Relu" };
            last = graph.node(op, &[&last], &format!("hidden{at}"), &[]);
        }
    }
    let outputs = graph.end(network.end, &last, network.layers.last().map_or(1, Layer::outputs));
    let input = value_info("features", FLOAT, &[None, Some(saved.about.inputs)]);
    let graph = Message::default()
        .each(&graph.nodes, |graph, node| graph.message(1, node))
        .text(2, "murmur")
        .each(&graph.constants, |graph, tensor| graph.message(5, tensor))
        .message(11, &input)
        .each(&outputs, |graph, output| graph.message(12, output));
    let facts = saved.about.entries();
    let model = Message::default()
        .int(1, IR_VERSION)
        .text(2, "murmur")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, &graph)
        .message(8, &Message::default().text(1, "").int(2, OPSET))
        .each(facts, |model, (key, value)| {
            model.message(14, &Message::default().text(1, &key).text(2, &value))
        });
    Ok(model.finish())
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
}

impl Graph {
    /// Adds an operator with attributes that are whole numbers; returns the name of its result.
    fn node(&mut self, op: &str, inputs: &[&str], output: &str, attributes: &[(&str, i64)]) -> String {
        let attribute =
            |&(name, value): &(&str, i64)| Message::default().text(1, name).int(3, value).int(20, 2);
        let node = Message::default()
            .each(inputs, |node, input| node.text(1, input))
            .text(2, output)
            .text(3, output)
            .text(4, op)
            .each(attributes, |node, pair| node.message(5, &attribute(pair)));
        self.nodes.push(node);
        output.to_owned()
    }

    fn constant(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = Message::default()
            .each(shape, |tensor, &size| tensor.int(1, size as i64))
            .int(2, FLOAT)
            .text(8, name)
            .bytes(9, &raw);
        self.constants.push(tensor);
        name.to_owned()
    }

    /// (x − low)/(high − low), between 0 and 1: the same operations in the same order as in training.
    fn scaled(&mut self, network: &Network<'_>) -> String {
        let Some(bounds) = &network.bounds else { return "features".into() };
        let lows: Vec<f32> = bounds.iter().map(|(low, _)| *low).collect();
        let widths: Vec<f32> = bounds.iter().map(|(low, high)| high - low).collect();
        let low = self.constant("low", &[lows.len()], &lows);
        let width = self.constant("width", &[widths.len()], &widths);
        let (zero, one) = (self.constant("zero", &[], &[0.0]), self.constant("one", &[], &[1.0]));
        let moved = self.node("Sub", &["features", &low], "moved", &[]);
        let divided = self.node("Div", &[&moved, &width], "divided", &[]);
        self.node("Clip", &[&divided, &zero, &one], "scaled", &[])
    }

    fn dense(&mut self, at: usize, layer: &Layer<'_>, input: &str) -> String {
        let weight = self.constant(&format!("weight{at}"), &[layer.outputs(), layer.inputs], layer.weight);
        let bias = self.constant(&format!("bias{at}"), &[layer.outputs()], layer.bias);
        self.node("Gemm", &[input, &weight, &bias], &format!("dense{at}"), &[("transB", 1)])
    }

    /// Outputs of the graph, with their types.
    fn end(&mut self, end: End, last: &str, width: usize) -> Vec<Message> {
        let classes = match end {
            End::Value(low, high) => {
                let (width, low) = (
                    self.constant("target_width", &[], &[high - low]),
                    self.constant("target_low", &[], &[low]),
                );
                let wide = self.node("Mul", &[last, &width], "wide", &[]);
                self.node("Add", &[&wide, &low], "value", &[]);
                return vec![value_info("value", FLOAT, &[None, Some(1)])];
            }
            End::Sigmoid => {
                let positive = self.node("Sigmoid", &[last], "positive", &[]);
                let whole = self.constant("whole", &[], &[1.0]);
                let negative = self.node("Sub", &[&whole, &positive], "negative", &[]);
                self.node("Concat", &[&negative, &positive], "probabilities", &[("axis", 1)]);
                2
            }
            End::Softmax => {
                self.node("Softmax", &[last], "probabilities", &[("axis", 1)]);
                width
            }
        };
        self.node("ArgMax", &["probabilities"], "label", &[("axis", 1), ("keepdims", 0)]);
        vec![value_info("probabilities", FLOAT, &[None, Some(classes)]), value_info("label", INT64, &[None])]
    }
}

/// A name with the type of a tensor; a size of `None` is the number of records.
fn value_info(name: &str, element: i64, shape: &[Option<usize>]) -> Message {
    let dimension = |size: &Option<usize>| match size {
        Some(size) => Message::default().int(1, *size as i64),
        None => Message::default().text(2, "records"),
    };
    let shape = Message::default().each(shape, |message, size| message.message(1, &dimension(size)));
    let tensor = Message::default().int(1, element).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}
