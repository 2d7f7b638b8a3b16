//! The example with a model of its own learns, privately and not.

#[path = "../../examples/your-own-model/main.rs"]
#[allow(dead_code, missing_docs, reason = "the example is a program of its own")]
mod example;

#[test]
fn the_example_with_a_model_of_its_own_runs() {
    example::main().unwrap();
}
