//! Houses behind routers that translate addresses, and a street between them: network namespaces with nftables.
//!
//! The namespace of the machine itself gets no interface, address or route. Everything is removed when the street is dropped.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::lan::net::{ip, nft, try_ip};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// How a router names a connection to the outside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Router {
    /// By the port that it has inside: two such can be punched through.
    Cone,
    /// By another port for every destination: nobody outside can guess it.
    Symmetric,
}

/// Where somebody lives.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// On the street, with an address that everybody can call.
    Street,
    /// Behind the router of this number.
    Behind(usize),
}

/// A street with houses.
pub(crate) struct Street {
    name: String,
    spaces: Vec<String>,
}

impl Street {
    /// `None`, with a line that says so, where namespaces or nftables are missing.
    pub(crate) fn new(routers: &[Router], places: &[Place]) -> Option<Self> {
        let name = format!("mw{}x{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        if Command::new("nft").arg("--version").output().is_err() {
            eprintln!("skipped: no `nft` here (package nftables)");
            return None;
        }
        let mut street = Self { name, spaces: Vec::new() };
        let open = street.space("street");
        if let Err(why) = try_ip(&format!("netns add {open}")) {
            eprintln!("skipped: no network namespaces (needs root and iproute2): {why}");
            return None;
        }
        street.spaces.push(open.clone());
        ip(&format!("-n {open} link add br0 type bridge stp_state 0 forward_delay 0"));
        ip(&format!("-n {open} link set br0 up"));
        for (number, router) in routers.iter().enumerate() {
            let space = street.add(&format!("r{number}"));
            street.front_door(&space, &format!("r{number}"), 20 + number);
            translate(&space, *router);
        }
        for (number, place) in places.iter().enumerate() {
            let space = street.add(&format!("h{number}"));
            match place {
                Place::Street => street.front_door(&space, &format!("h{number}"), 100 + number),
                Place::Behind(router) => street.back_door(&space, number, *router),
            }
        }
        Some(street)
    }

    /// What makes a command run in a house.
    pub(crate) fn inside(&self, house: usize) -> Vec<String> {
        ["ip", "netns", "exec", &self.space(&format!("h{house}"))].map(str::to_owned).to_vec()
    }

    fn space(&self, what: &str) -> String {
        format!("{}-{what}", self.name)
    }

    fn add(&mut self, what: &str) -> String {
        let space = self.space(what);
        ip(&format!("netns add {space}"));
        ip(&format!("-n {space} link set lo up"));
        self.spaces.push(space.clone());
        space
    }

    /// A cable to the street.
    fn front_door(&self, space: &str, cable: &str, number: usize) {
        let street = self.space("street");
        ip(&format!("-n {street} link add {cable} type veth peer name wan netns {space}"));
        ip(&format!("-n {street} link set {cable} master br0 up"));
        ip(&format!("-n {space} addr add 203.0.113.{number}/24 dev wan"));
        ip(&format!("-n {space} link set wan up"));
    }

    /// A cable to a router.
    fn back_door(&self, space: &str, house: usize, router: usize) {
        let behind = self.space(&format!("r{router}"));
        let net = format!("10.{}.{house}", router + 1);
        ip(&format!("-n {behind} link add lan{house} type veth peer name eth0 netns {space}"));
        ip(&format!("-n {behind} addr add {net}.1/24 dev lan{house}"));
        ip(&format!("-n {behind} link set lan{house} up"));
        ip(&format!("-n {space} addr add {net}.2/24 dev eth0"));
        ip(&format!("-n {space} link set eth0 up"));
        ip(&format!("-n {space} route add default via {net}.1"));
    }
}

/// Who is inside may call; from outside only answers come in.
fn translate(space: &str, router: Router) {
    let how = if router == Router::Symmetric { "masquerade fully-random" } else { "masquerade" };
    let rules = format!(
        "table ip house {{
           chain out {{ type nat hook postrouting priority 100; oifname \"wan\" {how}; }}
           chain through {{ type filter hook forward priority 0; policy drop; ct state established,related accept; iifname \"lan*\" accept; }}
           chain to {{ type filter hook input priority 0; policy drop; ct state established,related accept; iifname \"lan*\" accept; iifname \"lo\" accept; }}
         }}"
    );
    ip(&format!("netns exec {space} sysctl -qw net.ipv4.ip_forward=1"));
    nft(space, &rules).expect("nft takes them");
}

impl Drop for Street {
    fn drop(&mut self) {
        for space in &self.spaces {
            // Some are missing where making them failed.
            let _ = try_ip(&format!("netns del {space}"));
        }
    }
}
