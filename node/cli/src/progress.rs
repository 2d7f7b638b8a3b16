//! A progress bar on stderr for long work; silent where stderr is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that counts to `total`.
pub(crate) fn bar(total: u64, what: &'static str) -> ProgressBar {
    // The bar appears only where somebody watches; indicatif hides it when stderr is not a terminal.
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} ({eta} left)")
        .expect("the template is a constant");
    bar.set_style(style);
    bar.set_message(what);
    bar
}
