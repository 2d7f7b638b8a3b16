//! Everything that this crate computes, beside reference vectors: `./test vectors`, also with `MURMUR_VECTORS=DIR`.
#![expect(clippy::print_stdout, reason = "`./test vectors` sums what is printed")]

mod central;
mod graphs;
mod harness;
mod network;

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/vectors");
const SECTIONS: [&[harness::Section]; 2] = [central::SECTIONS, network::SECTIONS];

#[test]
fn what_is_computed_agrees_with_the_reference_vectors() {
    SECTIONS.iter().for_each(|sections| harness::agree(OWN, sections));
}

#[test]
fn a_changed_number_is_found() {
    SECTIONS.iter().for_each(|sections| harness::a_changed_number_is_found(OWN, sections));
}
