//! Whether scheduled reports can be made, and put where they belong.

use bankd_config::data_dir::DataDir;
use bankd_config::{DeliverWord, Notices, path_in};
use bankd_notices::{deliver, schedule};

use super::{Found, State};

const NAME: &str = "reports";

/// The definitions as a whole, and each folder that they go to.
pub(super) fn scheduled(data: &DataDir, settings: &Notices) -> Vec<Found> {
    let count = settings.scheduled_report.len();
    if count == 0 {
        return Vec::new();
    }
    let mut found = vec![match schedule::check::all(settings, &data.config()) {
        Ok(()) => Found::ok(NAME, format!("{count} scheduled, each can be asked for")),
        Err(error) => {
            let todo = "correct it: the daemon does not start with it";
            Found::of(NAME, State::Fail, error, todo)
        }
    }];
    let folders = settings
        .targets_in_use()
        .filter(|target| target.by == DeliverWord::Folder);
    for target in folders {
        let Some(path) = path_in(data.path(), &target.folder) else {
            continue;
        };
        let (name, shown) = (&target.name, path.display());
        found.push(match deliver::is_writable(&path) {
            Ok(()) => Found::ok(NAME, format!("{name}: {shown}")),
            Err(error) => Found::of(
                NAME,
                State::Fail,
                format!("{name}: {shown}: {error}"),
                "make the folder, for the user that runs the daemon: reports wait until then",
            ),
        });
    }
    found
}
