//! The commands: one file each, `run(args) -> Result<ExitCode>`.

mod ask;
mod audit;
mod completions;
mod data;
mod evaluate;
mod ledger;
mod man;
mod model;
pub(crate) mod node;
mod page;
mod predict;
mod privacy;
mod relay;
pub(crate) mod report;
mod sim;
mod swarm;
mod topology;
mod trainer;
mod verify;
pub(crate) mod warnings;

use crate::failure::Result;
use std::process::ExitCode;

/// What `murmur` can do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Describe a graph and how fast gossip mixes on it, draw it, or compare several
    Topology(topology::Args),
    /// Account for privacy: between the nodes of a network, or for one releasing party
    Privacy(privacy::Args),
    /// Simulate a swarm: learning, faults and what everybody learns about everybody else
    Sim(sim::Args),
    /// Attack a scenario as its own nodes could: lower bounds on ε beside the account's upper bound
    Audit(audit::Args),
    /// Ask the swarm: private statistics in a small SQL, with cost and error shown beforehand
    Ask(ask::Args),
    /// Show what is in a data set and how it would be divided
    Data(data::Args),
    /// Judge a model by records that it has not learnt from
    Evaluate(evaluate::Args),
    /// Say what a model predicts for new records
    Predict(predict::Args),
    /// Show a saved model, or write it for other programs
    Model(model::Args),
    /// Check that the members of a swarm decided on a model
    Verify(verify::Args),
    /// Take part in a run: one participant, over libp2p
    Node(node::Args),
    /// Run a swarm of processes on this machine, or prepare one for many machines
    Swarm(swarm::Args),
    /// Help members behind routers to reach each other
    Relay(relay::Args),
    /// Check a program that is to compute the gradients of a node
    Trainer(trainer::Args),
    /// Say what a run cost, pair by pair: a page to read, to print and to sign
    Report(report::Args),
    /// Show what was spent on each data set, over all runs
    Ledger(ledger::Args),
    /// Write manual pages into a folder
    Man(man::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Topology(args) => topology::run(args),
        Command::Privacy(args) => privacy::run(args),
        Command::Sim(args) => sim::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Ask(args) => ask::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Model(args) => model::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Node(args) => node::run(&args),
        Command::Swarm(args) => swarm::run(&args),
        Command::Relay(args) => relay::run(&args),
        Command::Trainer(args) => trainer::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Ledger(args) => ledger::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
