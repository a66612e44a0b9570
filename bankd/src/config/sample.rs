//! The file that `bankd init` writes: every setting with its default, all commented out.

/// `bankd.toml` as new.
pub const SAMPLE: &str = r#"# Settings of bankd. What is commented out is the default. Every setting can also come
# from the environment, as BANKD_SECTION_KEY (BANKD_HTTP_LISTEN). After a change:
# `bankd config check`, then restart the daemon.

[http]
# Address and port for signed requests. Empty: none. Port 0 picks a free one.
#listen = "127.0.0.1:7113"
# Listen on bankd.sock in this directory; the kernel says who is calling.
#socket = true
# Largest body in bytes, 1024 to 1048576.
#body_limit = 1048576
# Requests under way at once, 1 to 65536; more are told to come back.
#concurrency = 1024
# Seconds that a request may take, 1 to 300.
#timeout_s = 30

[access]
# Callers of the socket are users; root and whoever ran `bankd init` are admin.
# Members of this system group are admin too. Empty: none.
#admin_group = ""
# These may speak as the scheduler: quote, create, reserve, charge, delete.
#scheduler_users = []
# These may read everything.
#auditor_users = []

[ledger]
# strict, fast, notional or track; machines and projects may have their own.
#mode = "strict"
# half_even, half_up or ceil.
#rounding = "half_even"
# Seconds that a lien outlives its wall duration, 0 to 86400.
#lien_grace_s = 600
# Commands in one commit at most, 1 to 256; only waiting ones share it.
#batch_max = 256

[nami]
# Make every quote of the scheduler a row, and answer COST:TID.
#print_tid = false
# The variable that carries the TID: the scheduler's NAMITransVarName.
#tid_variable = "BILLTID"
# Read documents that are not UTF-8 as Latin-1 instead of refusing them.
#latin1_fallback = false
# The machine of documents where neither they nor the caller name one.
#machine = ""
# What ChargeDuration counts: "incremental" is the time since the last charge.
#charge_duration = "incremental"

[fallback]
# Who looks for money elsewhere when an account is short: scheduler or bank.
#mode = "scheduler"

[file]
# FILE records: one line per charge. Relative paths lie in this directory. Empty: off.
#path = ""
# moab6 or maui.
#dialect = "moab6"
# false: one line when the job is over.
#interim = true
# Add QOS=, NODES= and AMOUNT= to each line.
#extended = false
# Written where a document names no account or no user.
#blank_account = "[NONE]"
#blank_user = "KITTY"
# batch: lines count as written when they are on the disk; never: when they are in the file.
#fsync = "batch"

[ggf]
# GGF usage records: one line per finished job. Empty: off.
#path = ""
# A record of its own for what is charged after that.
#adjustments = true
#fsync = "batch"

[log]
# error, warn, info, debug or trace; to standard error.
#level = "info"
# text or json.
#format = "text"

[auth]
# Seconds that a signature's time may differ from ours, 10 to 3600.
#window_s = 300
# Nonces remembered for each key, 1000 to 5000000.
#nonces_per_key = 200000
"#;
