//! The fields of each shared sample document (`samples.txt`, one line per object).

use bankd_testing::shared;

use super::shown;
use crate::{ReadOptions, read};

#[test]
fn shared_samples() {
    let Some(folder) = shared("spec/nami-samples") else {
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "xml"));
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let number = name.split('-').next().unwrap();
        match read(&std::fs::read(&path).unwrap(), &ReadOptions::default()) {
            Ok(documents) => {
                for document in documents {
                    found.push(format!("{number} {}", shown(&document)));
                }
            }
            Err(e) => found.push(format!("{number} {e}")),
        }
    }
    let expected: Vec<_> = include_str!("samples.txt").lines().collect();
    assert_eq!(found, expected);
}
