//! `murmur swarm export`: what an existing engine needs to run the same swarm over many machines.

mod compose;
mod kubernetes;
mod slurm;
mod systemd;

use crate::failure::{Failure, Result};
use crate::output;
use protocol::config::{Config, Layer};
use runtime::swarm_file::SwarmFile;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur swarm export --swarm demo.toml --format compose --out compose.yaml
  murmur swarm export --swarm demo.toml --format systemd --hosts hosts.txt --data /srv/records.csv:label=y --out units
  murmur swarm export --swarm demo.toml --format slurm | sbatch

Each node takes its own share of the run's data set unless `--data` names a file that every machine has under the
same name; containers are shown that file, read-only. Host names stand one to a line, one for each node. systemd
needs them; Slurm and Kubernetes then use these machines and no others; a compose file names them for
`docker stack deploy`, while `docker compose` runs all on one.";

/// The port on which exported nodes listen.
const PORT: u16 = 7000;
/// The port of their page, where an engine asks how they are.
const HTTP: u16 = 7070;
/// The user of the image.
const USER: u32 = 65532;

/// Arguments of `murmur swarm export`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The swarm file
    #[arg(long, value_name = "FILE")]
    swarm: PathBuf,
    /// For which engine
    #[arg(long, value_enum)]
    format: Format,
    /// A file with one host name per line
    #[arg(long, value_name = "FILE")]
    hosts: Option<PathBuf>,
    /// The data of every node [default: its share of the run's own data set]
    #[arg(long, value_name = "SOURCE")]
    data: Option<String>,
    /// Container image
    #[arg(long, default_value = "murmur:latest")]
    image: String,
    /// Write to this file instead of stdout; for systemd a folder, with a folder for each host
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A compose file
    Compose,
    /// A secret, a service, a claim for the nodes' states and an indexed job
    Kubernetes,
    /// One unit per host
    Systemd,
    /// A batch script
    Slurm,
}

/// What the formats need.
struct Deployment<'a> {
    name: String,
    nodes: usize,
    hosts: Vec<String>,
    data: Option<&'a str>,
    /// The file or folder with the data, where a container must be shown it.
    mount: Option<String>,
    image: &'a str,
    swarm: &'a Path,
    text: String,
    /// What visitors of the nodes' pages must bring, where an engine needs one.
    token: String,
}

impl Deployment<'_> {
    /// The flags that say which data node `index` has; `index` may be a variable of the engine.
    fn data_flags(&self, index: &str) -> Vec<String> {
        match self.data {
            Some(source) => vec!["--data".into(), source.into()],
            None => vec!["--shard".into(), format!("{index}/{}", self.nodes)],
        }
    }

    fn peer_flags<'a>(&self, hosts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let flag = |host: &'a str| ["--peer".to_owned(), format!("/dns/{host}/tcp/{PORT}")];
        hosts.into_iter().flat_map(flag).collect()
    }
}

/// Writes the text for an engine.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let file = SwarmFile::load(&args.swarm)?;
    let hosts = args.hosts.as_deref().map(|path| hosts(path, file.nodes)).transpose()?;
    let plan = Deployment {
        name: label(&file.name),
        nodes: file.nodes,
        hosts: hosts.unwrap_or_default(),
        data: args.data.as_deref(),
        mount: mount(args, &file)?,
        image: &args.image,
        swarm: &args.swarm,
        text: std::fs::read_to_string(&args.swarm)?,
        token: token(&file),
    };
    let text = match (args.format, &args.out) {
        (Format::Compose, _) => compose::text(&plan),
        (Format::Kubernetes, _) => kubernetes::text(&plan),
        (Format::Slurm, _) => slurm::text(&plan),
        (Format::Systemd, None) => {
            systemd::units(&plan)?.into_iter().map(|(_, unit)| unit).collect::<Vec<_>>().join("\n")
        }
        (Format::Systemd, Some(folder)) => {
            for (file, unit) in systemd::units(&plan)? {
                let path = folder.join(file);
                path.parent().map(std::fs::create_dir_all).transpose()?;
                output::write(Some(&path), unit.as_bytes())?;
            }
            return Ok(ExitCode::SUCCESS);
        }
    };
    output::write(args.out.as_deref(), text.as_bytes())?;
    if let (Format::Kubernetes, Some(file)) = (args.format, &args.out) {
        // The secret of the swarm is in it.
        runtime::identity::close_to_others(file);
    }
    Ok(ExitCode::SUCCESS)
}

/// A token of the swarm: as secret as the swarm file, and the same in every export of it.
fn token(file: &SwarmFile) -> String {
    protocol::Digest::of_text(&format!("token of the pages of {}", file.secret.to_hex())).to_string()
}

/// Where the data lie that a container would not see by itself.
fn mount(args: &Args, file: &SwarmFile) -> Result<Option<String>> {
    if !matches!(args.format, Format::Compose | Format::Kubernetes) {
        return Ok(None);
    }
    let own = || -> Result<String> {
        let layer = Layer::from_toml(&file.config, "the swarm file")?;
        Ok(Config::from_layers([layer])?.data.to_string())
    };
    let source = args.data.clone().map_or_else(own, Ok)?;
    let path = source.split(':').find(|part| part.starts_with('/')).map(str::to_owned);
    let first = source.split(':').next().unwrap_or_default();
    if path.is_none() && first.contains(['.', '/']) {
        return Err(Failure::new(format!("a container does not see `{first}`"))
            .hint("name the file by its whole path, as in `--data /srv/records.csv:label=y`: it is then shown to the containers, from each host"));
    }
    Ok(path)
}

/// One host name per node: letters, digits, dots and dashes, so that none can break out of what it is written into.
fn hosts(path: &Path, nodes: usize) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::from(error).context(format!("cannot read `{}`", path.display())))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut hosts: Vec<String> = Vec::new();
    for host in lines {
        let fine = host.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-".contains(letter));
        if !fine {
            return Err(Failure::new(format!("`{host}` in `{}` is no host name", path.display()))
                .hint("letters, digits, dots and dashes, one name to a line"));
        }
        if hosts.iter().any(|other| other.eq_ignore_ascii_case(host)) {
            // Both would have the same port, the same unit and the same state.
            return Err(Failure::new(format!("host `{host}` stands twice in `{}`", path.display()))
                .hint("each host runs one node; several on one machine: `murmur swarm`, or a compose file without `--hosts`"));
        }
        hosts.push(host.to_owned());
    }
    if hosts.len() != nodes {
        let text = format!("{} hosts in `{}` for a swarm of {nodes} nodes", hosts.len(), path.display());
        return Err(Failure::new(text).hint("name one host per node, one to a line"));
    }
    Ok(hosts)
}

/// A name that every engine takes.
fn label(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let label: String = name.chars().map(letter).take(40).collect();
    let label = label.trim_matches('-');
    if label.is_empty() { "swarm".into() } else { label.into() }
}

/// A word for YAML: always quoted, as JSON, which YAML contains.
fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

fn quoted_list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

/// A word for a shell.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.:=,_-+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
