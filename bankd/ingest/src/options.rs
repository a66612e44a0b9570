//! The options of readers: layout, delimiter, time zone, mapping file.

use chrono_tz::Tz;

/// Read options of a source. A format ignores options that it does not use.
#[derive(Clone, Debug)]
pub struct Options {
    /// The columns of a file without a header line, by name: `xdmod26`.
    pub layout: Option<String>,
    /// The columns of a file without a header line, one by one.
    pub columns: Vec<String>,
    /// Delimiter of columns, if it is not the format's own.
    pub delimiter: Option<String>,
    /// The zone of times that name none.
    pub zone: Tz,
    /// The text of a mapping file, for `csv`.
    pub mapping: Option<String>,
    /// Grid Engine's complex of GPUs counts for each slot, not for the job.
    pub gpus_per_slot: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            layout: None,
            columns: Vec::new(),
            delimiter: None,
            zone: Tz::UTC,
            mapping: None,
            gpus_per_slot: false,
        }
    }
}
