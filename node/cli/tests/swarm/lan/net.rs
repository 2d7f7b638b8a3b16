//! A LAN of network namespaces: one per host, joined by a bridge, or by a switch of our own where cables are to be slow and lossy.
//!
//! The namespace of the machine itself gets no interface, address or route. Everything is removed when the LAN is dropped.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const SWITCH: &str = include_str!("switch.py");
const CAPTURE: &str = include_str!("capture.py");

/// Each LAN of this process has a name of its own.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Hosts that can reach each other and nobody else.
pub(crate) struct Lan {
    name: String,
    hosts: usize,
    helper: Option<Helper>,
}

impl Lan {
    /// Hosts on a bridge. `None`, with a line that says so, where namespaces cannot be made.
    pub(crate) fn bridged(hosts: usize) -> Option<Self> {
        let lan = Self::namespaces(hosts)?;
        let switch = lan.switch();
        // With snooping and nobody to query, mDNS would stop after a while.
        let bridge = "link add br0 type bridge mcast_snooping 0 stp_state 0 forward_delay 0";
        ip(&format!("-n {switch} {bridge}"));
        ip(&format!("-n {switch} link set br0 up"));
        for host in 0..hosts {
            let space = lan.space(host);
            ip(&format!("-n {switch} link add h{host} type veth peer name eth0 netns {space}"));
            ip(&format!("-n {switch} link set h{host} master br0 up"));
            lan.plug_in(host);
        }
        Some(lan)
    }

    /// Hosts whose frames take `delay` milliseconds and get lost with this probability in per cent: by netem, or by a switch in a process.
    pub(crate) fn rough(hosts: usize, delay: u32, loss: u32, folder: &Path) -> Option<Self> {
        let mut lan = Self::bridged(hosts)?;
        let netem = |space: &str| {
            let words =
                format!("netns exec {space} tc qdisc add dev eth0 root netem delay {delay}ms loss {loss}%");
            try_ip(&words).is_ok()
        };
        if (0..hosts).all(|host| netem(&lan.space(host))) {
            return Some(lan);
        }
        lan = Self::namespaces(hosts)?;
        let mut words = vec![delay.to_string(), loss.to_string()];
        words.extend((0..hosts).map(|host| lan.space(host)));
        lan.helper = Some(Helper::start(&[], SWITCH, &words, &folder.join("switch.py"))?);
        (0..hosts).for_each(|host| lan.plug_in(host));
        Some(lan)
    }

    fn namespaces(hosts: usize) -> Option<Self> {
        let name = format!("mm{}x{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let lan = Self { name, hosts, helper: None };
        if let Err(why) = try_ip(&format!("netns add {}", lan.switch())) {
            eprintln!("skipped: no network namespaces (needs root and iproute2): {why}");
            return None;
        }
        for host in 0..hosts {
            ip(&format!("netns add {}", lan.space(host)));
            ip(&format!("-n {} link set lo up", lan.space(host)));
        }
        Some(lan)
    }

    fn plug_in(&self, host: usize) {
        let space = self.space(host);
        ip(&format!("-n {space} addr add 10.77.0.{}/24 broadcast + dev eth0", host + 1));
        ip(&format!("-n {space} link set eth0 up"));
        // Multicast needs a route, and there is no default one.
        ip(&format!("-n {space} route add 224.0.0.0/4 dev eth0"));
    }

    fn switch(&self) -> String {
        format!("{}-sw", self.name)
    }

    pub(crate) fn space(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }

    /// What makes a command run on a host.
    pub(crate) fn inside(&self, host: usize) -> Vec<String> {
        ["ip", "netns", "exec", &self.space(host)].map(str::to_owned).to_vec()
    }

    /// Unplugs a host.
    pub(crate) fn cut(&self, host: usize) {
        ip(&format!("-n {} link set h{host} down", self.switch()));
    }

    /// Plugs it in again.
    pub(crate) fn heal(&self, host: usize) {
        ip(&format!("-n {} link set h{host} up", self.switch()));
    }

    /// Puts hosts on a switch of their own: they reach each other, and nobody else.
    pub(crate) fn split(&self, side: &[usize]) {
        let switch = self.switch();
        // It is there already after the first time.
        let _ = try_ip(&format!(
            "-n {switch} link add br1 type bridge mcast_snooping 0 stp_state 0 forward_delay 0"
        ));
        ip(&format!("-n {switch} link set br1 up"));
        side.iter().for_each(|host| ip(&format!("-n {switch} link set h{host} master br1")));
    }

    /// Puts them back.
    pub(crate) fn join(&self, side: &[usize]) {
        side.iter().for_each(|host| ip(&format!("-n {} link set h{host} master br0", self.switch())));
    }

    /// From now on a host loses so many per cent of the packets that come to it. `false`, with a line that says so, where that cannot be had.
    #[must_use]
    pub(crate) fn loses(&self, host: usize, percent: u32) -> bool {
        let rules = format!(
            "table inet lossy {{
               chain incoming {{
                 type filter hook prerouting priority -300;
                 iifname \"eth0\" udp dport != 5353 counter;
                 iifname \"eth0\" numgen random mod 100 < {percent} counter drop;
               }}
             }}"
        );
        if Command::new("nft").arg("--version").output().is_err() {
            eprintln!("skipped: no `nft` here (package nftables)");
            return false;
        }
        nft(&self.space(host), &rules).expect("nft takes them");
        true
    }

    /// How many packets it has lost so, and how many datagrams were sent to it that were not for finding each other.
    pub(crate) fn lost(&self, host: usize) -> (u64, u64) {
        let space = self.space(host);
        let words = ["netns", "exec", &space, "nft", "list", "table", "inet", "lossy"];
        let output = Command::new("ip").args(words).output().expect("ip is there");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let counts = text.split("counter packets ").skip(1).filter_map(|rest| rest.split(' ').next());
        let counts: Vec<u64> = counts.filter_map(|count| count.parse().ok()).collect();
        match counts[..] {
            [datagrams, lost] => (lost, datagrams),
            _ => panic!("no counters: {text}"),
        }
    }

    /// Writes down all frames from now on. `None`, with a line that says so, where that is not possible.
    pub(crate) fn capture(&self, folder: &Path) -> Option<Capture> {
        let file = folder.join("frames");
        let inside = ["ip", "netns", "exec", &self.switch()].map(str::to_owned);
        let words = [file.display().to_string()];
        let helper = Helper::start(&inside, CAPTURE, &words, &folder.join("capture.py"))?;
        Some(Capture { helper, file })
    }
}

impl Drop for Lan {
    fn drop(&mut self) {
        self.helper = None;
        for space in (0..self.hosts).map(|host| self.space(host)).chain([self.switch()]) {
            // Some are missing where making them failed.
            let _ = try_ip(&format!("netns del {space}"));
        }
    }
}

/// Frames that are being written down.
pub(crate) struct Capture {
    helper: Helper,
    file: PathBuf,
}

impl Capture {
    pub(crate) fn finish(self) -> Vec<u8> {
        drop(self.helper);
        std::fs::read(self.file).expect("frames")
    }
}

/// A Python program that ends when its stdin does.
struct Helper(Child);

impl Helper {
    fn start(prefix: &[String], program: &str, words: &[String], file: &Path) -> Option<Self> {
        std::fs::write(file, program).expect("a file");
        let all: Vec<&str> = prefix.iter().map(String::as_str).chain(["python3"]).collect();
        let started = Command::new(all[0])
            .args(&all[1..])
            .arg(file)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = match started {
            Ok(child) => Self(child),
            Err(error) => {
                eprintln!("skipped: no python3: {error}");
                return None;
            }
        };
        let mut line = String::new();
        let stdout = child.0.stdout.take().expect("it is piped");
        let said = BufReader::new(stdout).read_line(&mut line);
        if said.is_ok() && line.trim() == "ready" {
            return Some(child);
        }
        eprintln!("skipped: `{}` does not run here", file.display());
        None
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Rules for a namespace.
pub(crate) fn nft(space: &str, rules: &str) -> Result<(), String> {
    let mut nft = Command::new("ip")
        .args(["netns", "exec", space, "nft", "-f", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    // Where there is no `nft`, `ip` says so and ends.
    let _ = nft.stdin.take().expect("a pipe").write_all(rules.as_bytes());
    let ended = nft.wait().map_err(|error| error.to_string())?;
    if ended.success() { Ok(()) } else { Err(format!("nft ended with {ended}")) }
}

pub(crate) fn try_ip(words: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(words.split_whitespace()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

pub(crate) fn ip(words: &str) {
    if let Err(error) = try_ip(words) {
        panic!("ip {words}: {error}");
    }
}
