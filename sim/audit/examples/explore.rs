fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut set = Vec::new(); let mut sab=None; let mut trials=audit::TRIALS; let mut attacks=vec![]; let mut seed=1;
    for a in &args {
        if let Some(x)=a.strip_prefix("break=") { sab=audit::Sabotage::ALL.iter().find(|s| s.0==x).map(|s| s.1); }
        else if let Some(x)=a.strip_prefix("trials=") { trials=x.parse().unwrap(); }
        else if let Some(x)=a.strip_prefix("aseed=") { seed=x.parse().unwrap(); }
        else if let Some(x)=a.strip_prefix("attack=") { attacks.extend(audit::Attack::ALL.iter().find(|s| s.0==x).map(|s| s.1)); }
        else { set.push(a.as_str()); }
    }
    let setup = protocol::Setup::new(audit::built_in(&set).unwrap()).unwrap();
    let mut request = audit::Request::new(setup);
    request.sabotage=sab; request.trials=trials; request.seed=seed;
    if !attacks.is_empty() { request.attacks=attacks; }
    let t=std::time::Instant::now();
    let report = audit::run(&request, &|_| ()).unwrap();
    eprintln!("{:?}", t.elapsed());
    eprintln!("{}", audit::report::markdown(&report));
}
