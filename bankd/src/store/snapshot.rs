//! A copy of a bank's database as of one moment, without touching the bank.

use super::{Error, open_reader};
use std::path::Path;

/// Copies the database at `from` to `to`, which must not be there. The bank may be served meanwhile:
/// it is read in one transaction, and nothing of it is written.
///
/// # Errors
/// If `from` cannot be read, or `to` cannot be made.
pub fn snapshot(from: &Path, to: &Path) -> Result<(), Error> {
    let connection = open_reader(from)?;
    // The copy is another database: what must not change is the bank.
    connection.pragma_update(None, "query_only", false)?;
    connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::DataDir;
    use crate::init::{Choices, init};
    use bank_core::amount::Precision;

    #[test]
    fn the_copy_verifies_and_the_bank_is_as_before() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDir::new(&folder.path().join("data"));
        let choices = Choices {
            precision: Precision::DEFAULT,
            unit: "credits".to_owned(),
            test: true,
        };
        init(&data, &choices).unwrap();
        let before = std::fs::read(data.database()).unwrap();
        let copy = folder.path().join("copy.db");
        snapshot(&data.database(), &copy).unwrap();
        assert!(
            crate::store::verify::run(&copy)
                .unwrap()
                .findings
                .is_empty()
        );
        assert_eq!(std::fs::read(data.database()).unwrap(), before);
        assert!(
            snapshot(&data.database(), &copy).is_err(),
            "never over a file"
        );
        let none = folder.path().join("none.db");
        assert!(snapshot(&none, &folder.path().join("x.db")).is_err());
    }
}
