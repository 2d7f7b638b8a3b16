//! The swarm file: what every member of a run holds before it starts.
//!
//! It carries the configuration of the run, the digest of it, and a secret; whoever has the file may join, so it is written for its owner only.

use std::fs;
use std::path::{Path, PathBuf};

use learn::schema::Schema;
use libp2p::{Multiaddr, PeerId};
use protocol::Digest;
use protocol::Hint;
use protocol::agreement::Fingerprint;
use protocol::log::readable_name;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::identity::{Roster, write_owner_only};
use crate::renewals::{self, Renewals, Stored};
use crate::secret::Secret;

/// A parsed swarm file.
#[derive(Debug, Clone, PartialEq)]
pub struct SwarmFile {
    /// Name of the run.
    pub name: String,
    /// Number of members now.
    pub nodes: usize,
    /// The shared configuration, as TOML.
    pub config: String,
    /// What members know and nobody else.
    pub secret: Secret,
    /// The members now, where they are known beforehand: nobody else is let in.
    pub roster: Vec<Member>,
    /// What the columns of everybody's tables are, where that was agreed on.
    pub schema: Option<Schema>,
    /// Relays for members that cannot be called, each with its identity.
    pub relays: Vec<Multiaddr>,
    /// What was renewed since the run was founded.
    pub renewals: Renewals,
}

/// A member that is known beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its identity.
    pub peer: PeerId,
    /// Where it listens, where that is known.
    pub addresses: Vec<Multiaddr>,
    /// What it is called, where that was agreed on.
    pub name: Option<String>,
}

/// The file as it stands on disk.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    nodes: usize,
    secret: String,
    digest: Digest,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roster: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    relays: Vec<String>,
    config: toml::Table,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<toml::Table>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<toml::Table>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    renewal: Vec<Stored>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) peer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) addresses: Vec<String>,
}

/// What is wrong with a swarm file.
#[derive(Debug, thiserror::Error)]
pub enum SwarmFileError {
    /// It cannot be read or written.
    #[error("cannot {doing} the swarm file `{}`", path.display())]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no such file.
    #[error("`{}` is not a swarm file: line {line}", path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Why.
        source: Box<toml::de::Error>,
    },
    /// A value that cannot be.
    #[error("`{}`: {what}", path.display())]
    Value {
        /// Which file.
        path: PathBuf,
        /// What, and the value.
        what: String,
    },
    /// The configuration was changed after the file was made.
    #[error("the configuration in `{}` was changed by hand: its digest is {found}, the file says {stated}", path.display())]
    Edited {
        /// Which file.
        path: PathBuf,
        /// What it is.
        found: Digest,
        /// What it should be.
        stated: Digest,
    },
}

impl Hint for SwarmFileError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Io { doing: "write", .. } => {
                Some("an existing file is not replaced: choose another name with `--out`".into())
            }
            Self::Io { .. } | Self::Syntax { .. } => Some("`murmur swarm init` makes one".into()),
            Self::Value { .. } => None,
            Self::Edited { .. } => Some(
                "all members need the same file: make a new one with `murmur swarm init --set key=value`"
                    .into(),
            ),
        }
    }
}

/// The address of a relay: TCP, and at its end who the relay is.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse_relay(text: &str) -> Result<Multiaddr, String> {
    let example = "a relay is named as it prints it, such as `/dns4/relay.example/tcp/7000/p2p/12D3KooW…`";
    let address: Multiaddr = text.parse().map_err(|_| format!("`{text}` is no address: {example}"))?;
    let tcp = address.iter().any(|part| matches!(part, libp2p::multiaddr::Protocol::Tcp(_)));
    match crate::network::circuits::relay_of(&address) {
        Some(_) if tcp => Ok(address),
        // Over QUIC there is no private network, so that strangers would get to the relay.
        Some(_) => Err(format!("`{text}` is not over TCP: {example}")),
        None => Err(format!("`{text}` does not say who the relay is: {example}")),
    }
}

/// A relay is nobody that the run waits for, so no member can be one.
///
/// # Errors
/// Which member it is, in words.
pub fn no_member_is_a_relay(relays: &[Multiaddr], roster: &[Member]) -> Result<(), String> {
    let is_member = |relay: &&Multiaddr| {
        let peer = crate::network::circuits::relay_of(relay);
        roster.iter().any(|member| Some(member.peer) == peer)
    };
    match relays.iter().find(is_member) {
        Some(relay) => Err(format!(
            "the relay `{relay}` is a member: a relay needs an identity of its own (`murmur relay --state DIR`)"
        )),
        None => Ok(()),
    }
}

impl SwarmFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// As [`SwarmFileError`] says.
    pub fn load(path: &Path) -> Result<Self, SwarmFileError> {
        let io = |source| SwarmFileError::Io { doing: "read", path: path.into(), source };
        Self::parse(&Zeroizing::new(fs::read_to_string(path).map_err(io)?), path)
    }

    /// Reads and checks the text of a file; `path` is how errors call it.
    ///
    /// # Errors
    /// As [`SwarmFileError`] says, but for what a disk can do.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SwarmFileError> {
        let file: File = toml::from_str(text).map_err(|error| syntax(path, text, error))?;
        Self::check(file).map_err(|what| match what {
            Problem::Value(what) => SwarmFileError::Value { path: path.into(), what },
            Problem::Edited { found, stated } => SwarmFileError::Edited { path: path.into(), found, stated },
        })
    }

    fn check(file: File) -> Result<Self, Problem> {
        let secret = Zeroizing::new(file.secret);
        let config = canonical(&file.config);
        let schema = declared(file.schema, file.columns)?;
        let found = digest(&config, schema.as_ref());
        if found != file.digest {
            return Err(Problem::Edited { found, stated: file.digest });
        }
        let secret = Secret::from_hex(&secret)
            .ok_or_else(|| Problem::Value("`secret` must be 64 hexadecimal digits".into()))?;
        let roster: Vec<Member> =
            file.roster.into_iter().map(Member::parse).collect::<Result<_, _>>().map_err(Problem::Value)?;
        let distinct = Roster::new(roster.iter().map(|member| member.peer)).len();
        if !roster.is_empty() && distinct != file.nodes {
            let text = format!("`roster` names {distinct} members, `nodes = {}`", file.nodes);
            return Err(Problem::Value(text));
        }
        if file.nodes < 2 {
            return Err(Problem::Value(format!("a swarm has at least two nodes, `nodes = {}`", file.nodes)));
        }
        let relay = |text: String| parse_relay(&text).map_err(Problem::Value);
        let relays: Vec<Multiaddr> = file.relays.into_iter().map(relay).collect::<Result<_, _>>()?;
        let founding = format!("{} {found}", file.name);
        let renewals = renewals::parse(roster.clone(), file.renewal, &founding).map_err(Problem::Value)?;
        let (nodes, roster) = match renewals.is_empty() {
            true => (file.nodes, roster),
            false => (renewals.members().len(), renewals.members()),
        };
        no_member_is_a_relay(&relays, &roster).map_err(Problem::Value)?;
        Ok(Self { name: file.name, nodes, config, secret, roster, schema, relays, renewals })
    }

    /// Writes a new file for its owner only; an existing one is not replaced.
    ///
    /// # Errors
    /// A path that cannot be written to, or that exists.
    pub fn create(&self, path: &Path) -> Result<(), SwarmFileError> {
        let io = |source| SwarmFileError::Io { doing: "write", path: path.into(), source };
        let config: toml::Table =
            toml::from_str(&self.config).map_err(|error| syntax(path, &self.config, error))?;
        let mut schema = self.schema.as_ref().map(Schema::to_table).unwrap_or_default();
        let mut part = |name: &str| schema.remove(name).and_then(|part| part.as_table().cloned());
        let founders = if self.renewals.is_empty() { &self.roster } else { &self.renewals.founders };
        let digests = self.renewal_digests();
        let mut file = File {
            name: self.name.clone(),
            nodes: if founders.is_empty() { self.nodes } else { founders.len() },
            secret: self.secret.to_hex(),
            digest: digest(&canonical(&config), self.schema.as_ref()),
            roster: founders.iter().map(Member::entry).collect(),
            relays: self.relays.iter().map(Multiaddr::to_string).collect(),
            config,
            schema: part("schema"),
            columns: part("columns"),
            renewal: self
                .renewals
                .steps
                .iter()
                .zip(digests)
                .map(|(step, one)| step.stored(Some(one)))
                .collect(),
        };
        let text = toml::to_string_pretty(&file).map_err(|error| io(std::io::Error::other(error)))?;
        let text = Zeroizing::new(text);
        file.secret.zeroize();
        let who = if self.roster.is_empty() { "whoever holds it" } else { "only a member in its roster" };
        let head = format!("# A murmur swarm file: {who} may join. Keep it to the members.\n");
        write_owner_only(path, &Zeroizing::new(head + &text)).map_err(io)
    }

    /// Names each renewal, with all before it.
    pub fn renewal_digests(&self) -> Vec<Fingerprint> {
        let config: toml::Table = self.config.parse().unwrap_or_default();
        let founding = digest(&canonical(&config), self.schema.as_ref());
        self.renewals.digests(&format!("{} {founding}", self.name))
    }
}

enum Problem {
    Value(String),
    Edited { found: Digest, stated: Digest },
}

/// An error without the line that it is about, which may be the one with the secret: errors are shown and kept.
fn syntax(path: &Path, text: &str, mut error: toml::de::Error) -> SwarmFileError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    error.set_input(None);
    SwarmFileError::Syntax { path: path.into(), line, source: Box::new(error) }
}

/// The text that the digest is about: independent of comments, spaces and the order of keys.
fn canonical(config: &toml::Table) -> String {
    toml::to_string(config).expect("a parsed table has a text")
}

/// Of all that members agree on: the configuration, and the schema where there is one.
fn digest(config: &str, schema: Option<&Schema>) -> Digest {
    Digest::of_text(&format!("{config}{}", schema.map(Schema::to_toml).unwrap_or_default()))
}

fn declared(schema: Option<toml::Table>, columns: Option<toml::Table>) -> Result<Option<Schema>, Problem> {
    if schema.is_none() && columns.is_none() {
        return Ok(None);
    }
    let parts = [("schema", schema), ("columns", columns)];
    let table: toml::Table =
        parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?.into()))).collect();
    let schema = Schema::from_toml(&canonical(&table), "the swarm file");
    schema.map(Some).map_err(|error| Problem::Value(error.to_string()))
}

impl Member {
    pub(crate) fn parse(entry: Entry) -> Result<Self, String> {
        let bad = |what: &str| format!("`{what}` in the roster cannot be read");
        let peer = entry.peer.parse().map_err(|_| bad(&entry.peer))?;
        let addresses = entry
            .addresses
            .iter()
            .map(|address| address.parse().map_err(|_| bad(address)))
            .collect::<Result<_, _>>()?;
        let name = entry.name.as_deref().map(|name| readable_name(name).ok_or_else(|| bad(name)));
        Ok(Self { peer, addresses, name: name.transpose()? })
    }

    fn entry(&self) -> Entry {
        Entry {
            peer: self.peer.to_base58(),
            name: self.name.clone(),
            addresses: self.addresses.iter().map(Multiaddr::to_string).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> SwarmFile {
        let addresses = vec!["/dns4/a.example/tcp/7000".parse().unwrap()];
        let member =
            |_| Member { peer: PeerId::random(), addresses: addresses.clone(), name: Some("Zürich".into()) };
        SwarmFile {
            name: "digits".into(),
            nodes: 3,
            config: "rounds = 20\n\n[privacy]\nepsilon = 4.0\n".into(),
            secret: Secret::generate().unwrap(),
            roster: (0..3).map(member).collect(),
            schema: None,
            relays: Vec::new(),
            renewals: Renewals::default(),
        }
    }

    fn clinic() -> Schema {
        Schema::from_toml(
            "[schema]\nlabel = \"y\"\n[columns.x]\nbounds = [0, 1]\n[columns.y]\nvalues = [0, 1]",
            "test",
        )
        .unwrap()
    }

    #[test]
    fn a_relay_is_named_with_its_identity_over_tcp_and_is_no_member() {
        let folder = tempfile::tempdir().unwrap();
        let relay = |peer: PeerId| parse_relay(&format!("/dns4/relay.example/tcp/7000/p2p/{peer}")).unwrap();
        let with = SwarmFile { relays: vec![relay(PeerId::random())], ..sample() };
        with.create(&folder.path().join("a")).unwrap();
        assert_eq!(SwarmFile::load(&folder.path().join("a")).unwrap().relays, with.relays);
        let member = SwarmFile { relays: vec![relay(with.roster[1].peer)], ..with };
        member.create(&folder.path().join("b")).unwrap();
        let text = SwarmFile::load(&folder.path().join("b")).unwrap_err().to_string();
        assert!(text.contains("is a member") && text.contains("an identity of its own"), "{text}");
        let peer = PeerId::random();
        for (text, why) in [
            ("relay.example:7000".to_owned(), "is no address"),
            ("/ip4/10.0.0.1/tcp/7000".into(), "does not say who the relay is"),
            (format!("/ip4/10.0.0.1/udp/7000/quic-v1/p2p/{peer}"), "is not over TCP"),
        ] {
            assert!(parse_relay(&text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn a_swarm_file_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let with_schema = SwarmFile { schema: Some(clinic()), ..sample() };
        for (name, file) in
            [("a", sample()), ("b", SwarmFile { roster: Vec::new(), ..sample() }), ("c", with_schema)]
        {
            let path = folder.path().join(name);
            file.create(&path).unwrap();
            assert_eq!(SwarmFile::load(&path).unwrap(), file);
            assert!(matches!(file.create(&path).unwrap_err(), SwarmFileError::Io { doing: "write", .. }));
        }
    }

    #[test]
    fn a_file_says_who_may_join() {
        let folder = tempfile::tempdir().unwrap();
        for (roster, says) in
            [(sample().roster, "only a member in its roster may"), (vec![], "whoever holds it may")]
        {
            let path = folder.path().join(roster.len().to_string());
            SwarmFile { roster, ..sample() }.create(&path).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.lines().next().unwrap().contains(says), "{text}");
        }
    }

    #[test]
    fn an_error_does_not_show_the_secret() {
        let secret = Secret::generate().unwrap().to_hex();
        // A quote that is not closed, a word too many, a second secret.
        for line in [
            format!("secret = \"{secret}"),
            format!("secret = \"{secret}\" x"),
            format!("secret = \"{secret}\"\nsecret = \"{secret}\""),
            format!("secret = [\"{secret}\"]"),
        ] {
            let refused =
                SwarmFile::parse(&format!("nodes = 3\n{line}\n"), Path::new("swarm.toml")).unwrap_err();
            let SwarmFileError::Syntax { source, .. } = &refused else { panic!("{refused}") };
            let text = format!("{refused} {source} {source:?} {refused:?}");
            assert!(!text.contains(&secret[..8]), "{text}");
            assert!(text.contains("line 2") || text.contains("line 3"), "{text}");
        }
    }

    #[test]
    fn a_changed_configuration_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, edited) = (folder.path().join("a"), folder.path().join("b"));
        sample().create(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&edited, text.replace("epsilon = 4.0", "epsilon = 8.0")).unwrap();
        let refused = SwarmFile::load(&edited).unwrap_err();
        assert!(matches!(refused, SwarmFileError::Edited { .. }), "{refused}");
        fs::write(&edited, text.replace("epsilon = 4.0", "epsilon = 4.0 # as agreed")).unwrap();
        SwarmFile::load(&edited).unwrap();
        SwarmFile { schema: Some(clinic()), ..sample() }.create(&folder.path().join("c")).unwrap();
        let declared = fs::read_to_string(folder.path().join("c")).unwrap();
        assert!(declared.contains("[columns.x]"), "{declared}");
        fs::write(&edited, declared.replace("1.0,\n]", "2.0,\n]").replace("[0.0, 1.0]", "[0.0, 2.0]"))
            .unwrap();
        let refused = SwarmFile::load(&edited).unwrap_err();
        assert!(matches!(refused, SwarmFileError::Edited { .. }), "bounds were changed: {refused}");
        fs::write(&edited, text.replace("nodes = 3", "nodes = 4")).unwrap();
        let refused = SwarmFile::load(&edited).unwrap_err();
        assert!(refused.to_string().contains("names 3 members"), "{refused}");
    }
}
