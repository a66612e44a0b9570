//! `SQLite` has the session extension if it is compiled with it: the flags are in `.cargo/config.toml`, which Cargo
//! reads below the directory of the workspace only. A build elsewhere records no changes.

#[expect(
    clippy::disallowed_methods,
    reason = "it is the environment of the build, not a setting"
)]
fn main() {
    println!("cargo::rerun-if-env-changed=LIBSQLITE3_FLAGS");
    let flags = std::env::var("LIBSQLITE3_FLAGS").unwrap_or_default();
    if flags.contains("-DSQLITE_ENABLE_SESSION") && flags.contains("-DSQLITE_ENABLE_PREUPDATE_HOOK")
    {
        println!("cargo::rustc-cfg=session");
    }
}
