//! The thread that marks places in the journal, so that the past is found fast (decision note 0057).
//!
//! It reads what was committed on a connection of its own, and gives the writer a waypoint at a time to
//! write down: a few rows for every two thousand entries. It decides nothing, and nothing depends on
//! how far it is but how long a look into the past takes. Start at [`start`].

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::background;
use crate::store::{self, Spacing, Surveyor};
use crate::writer::Writer;

/// Wakes the thread, and ends it when it is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Waker(SyncSender<()>);

impl Waker {
    /// Says that there may be something to mark. Never waits.
    pub(crate) fn wake(&self) {
        match self.0.try_send(()) {
            // It is at work, and looks again when it is done.
            Ok(()) | Err(TrySendError::Full(())) => {}
            Err(TrySendError::Disconnected(())) => tracing::debug!("nobody marks waypoints"),
        }
    }
}

/// Begins the thread; it ends when every [`Waker`] is gone.
///
/// # Errors
/// If there can be no thread.
pub(crate) fn start(database: &Path, writer: &Writer) -> std::io::Result<(Waker, JoinHandle<()>)> {
    let (waker, woken) = sync_channel(1);
    let (database, writer) = (database.to_path_buf(), writer.clone());
    let thread = background::spawn("survey", move || run(&database, &writer, &woken))?;
    Ok((Waker(waker), thread))
}

fn run(database: &Path, writer: &Writer, woken: &Receiver<()>) {
    // Kept from round to round: it knows what changed since the last sums.
    let mut survey = None;
    while woken.recv().is_ok() {
        match round(survey.take(), database, writer, woken) {
            Ok(goes_on) => survey = goes_on,
            Err(error) => tracing::warn!(%error, "waypoints are left for later"),
        }
    }
}

/// A surveyor with the connection that it reads on.
type Survey = (Connection, Surveyor);

/// Marks what can be marked. Gives nothing where the next round has to begin anew.
fn round(
    survey: Option<Survey>,
    database: &Path,
    writer: &Writer,
    woken: &Receiver<()>,
) -> Result<Option<Survey>, store::Error> {
    let (connection, mut surveyor) = if let Some(survey) = survey {
        survey
    } else {
        let connection = store::open_reader(database)?;
        let surveyor = Surveyor::new(&connection, Spacing::default())?;
        (connection, surveyor)
    };
    while let Some(waypoint) = surveyor.next(&connection)? {
        match writer.mark(waypoint) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                tracing::debug!(%error, "a waypoint is left for later");
                return Ok(None);
            }
        }
        if is_over(woken) {
            return Ok(None);
        }
    }
    Ok(Some((connection, surveyor)))
}

/// Whether the daemon is going down.
fn is_over(woken: &Receiver<()>) -> bool {
    woken.try_recv() == Err(TryRecvError::Disconnected)
}
