//! Help texts: examples, the attacks, and what the exit code means.

pub(super) const EXAMPLES: &str = "\
Examples:
  murmur audit
  murmur audit --set nodes=5 --set privacy.noise_multiplier=1 --out audit
  murmur audit run.toml --attack distinguish --pair 3,0 --trials 20000
  murmur audit runs/digits --attack reconstruct
  murmur audit --attack distinguish --coalition 0,1
  murmur audit --break noise-halved; echo $?
  murmur audit ask \"SELECT count(*), mean(age) FROM swarm\" --column age:bounds=0..110

Exit codes: 0 no lower bound is above its upper bound, 1 one is, 2 error, or none of the attacks that were asked for applies.";

pub(super) const LONG: &str = "\
Attacks:
  distinguish  many runs with and without a change of one node's (or record's) data; likelihood ratio of what the watcher received, learnt on a third of
               the runs; Clopper-Pearson bounds on the others, at the configured δ and at 0.001, 0.01 and 0.1
  canaries     one run with as many canaries as the model has parameters, each there by a coin; binomial tail (Steinke, Nasr and Jagielski 2023)
  reconstruct  the linear map from contributions to the watcher's messages, measured: what is determined, and with which error under noise
  membership   was a record in the training data of the final model? By loss, and by likelihood ratio with shadow runs
  inversion    a record from its gradient, with and without noise
  received     everything that was delivered to anybody, logged or not, solved for as `reconstruct` does, against the figure of every pair; the worst is shown

  The messages are those that the simulator's nodes really received. A lower bound decides by itself, without assumptions about noise or mechanism (`reconstruct`
  takes the size of the noise from the release); `if Gaussian` beside it is tighter, assumes a Gaussian mechanism, and decides nothing.
  An audit that passes proves nothing: a better attack may exist. One that fails shows that account, mechanism or protocol is wrong, unless the dice were,
  with probability at most 1 - confidence for the whole audit.

Examples:
  murmur audit
  murmur audit --set nodes=5 --set privacy.noise_multiplier=1 --out audit
  murmur audit run.toml --attack distinguish --pair 3,0 --trials 20000
  murmur audit runs/digits --attack reconstruct
  murmur audit --attack distinguish --coalition 0,1
  murmur audit --break noise-halved; echo $?
  murmur audit ask \"SELECT count(*), mean(age) FROM swarm\" --column age:bounds=0..110

Exit codes: 0 no lower bound is above its upper bound, 1 one is, 2 error, or none of the attacks that were asked for applies.";
