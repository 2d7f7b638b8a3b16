//! `docs/CONFIG.md` is made from the table of keys.

use std::path::Path;

/// `MURMUR_UPDATE=1 cargo test --package murmuration-protocol --test config_page` writes the page.
#[test]
fn the_page_of_keys_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFIG.md");
    let made = protocol::config::page();
    if std::env::var_os("MURMUR_UPDATE").is_some() {
        std::fs::write(&path, &made).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = made.lines().zip(page.lines()).find(|(made, page)| made != page);
    assert!(
        made == page,
        "docs/CONFIG.md is stale (first difference: {differs:?}); make it again with\n\
         MURMUR_UPDATE=1 cargo test --package murmuration-protocol --test config_page"
    );
}

#[test]
fn the_page_has_a_row_for_every_key_with_its_default() {
    let page = protocol::config::page();
    for key in protocol::config::keys() {
        let name = key.name.rsplit('.').next().unwrap_or_default();
        assert!(page.contains(&format!("| `{name}` | {}", key.meaning.replace('|', "\\|"))), "{}", key.name);
    }
    assert!(page.contains("| `delta` | δ | above 0 and below 1 | `0.00001` |"), "{page}");
    assert!(
        page.contains("| `hidden` | mlp: widths of the hidden layers | list of widths | `[32]` |"),
        "{page}"
    );
}
