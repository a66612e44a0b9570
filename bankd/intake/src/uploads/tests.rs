use hyper::body::Bytes;

use super::position::Place;
use super::*;

fn part(number: Option<u64>, file: &str, at: u64, bytes: &'static str) -> Part {
    Part {
        file: file.to_owned(),
        number,
        at,
        bytes: Bytes::from_static(bytes.as_bytes()),
    }
}

fn elsewhere(file: &str, at: u64) -> Trouble {
    Trouble::Elsewhere {
        file: file.to_owned(),
        at,
    }
}

#[test]
fn a_part_belongs_where_the_import_is() {
    let mut place = Place::default();
    let one = |at, bytes| part(Some(1), "a", at, bytes);
    assert_eq!(place.fit(&one(3, "x")), Err(elsewhere("", 0)));
    assert_eq!(
        place.fit(&part(Some(2), "b", 0, "x")),
        Err(elsewhere("", 0))
    );
    assert_eq!(place.fit(&one(0, "0123")), Ok(Fit::Begin));
    place.go_on(&Fit::Begin, "a".to_owned(), Some(1), 4);
    // The same again, a part that was taken in half, a gap.
    assert_eq!(place.fit(&one(0, "0123")), Ok(Fit::Before(4)));
    assert_eq!(place.fit(&one(2, "2345")), Ok(Fit::On(2)));
    assert_eq!(place.fit(&one(4, "4567")), Ok(Fit::On(0)));
    assert_eq!(place.fit(&one(5, "5678")), Err(elsewhere("a", 4)));
    // One number is one file.
    assert_eq!(
        place.fit(&part(Some(1), "b", 0, "x")),
        Err(elsewhere("a", 4))
    );
    assert_eq!(
        place.fit(&part(Some(3), "c", 0, "x")),
        Err(elsewhere("a", 4))
    );
    assert_eq!(
        place.fit(&part(Some(2), "a", 1, "x")),
        Err(elsewhere("a", 4))
    );
    // The same file once more is another number.
    assert_eq!(place.fit(&part(Some(2), "a", 0, "x")), Ok(Fit::Begin));
    place.go_on(&Fit::Begin, "a".to_owned(), Some(2), 1);
    assert_eq!((place.at, place.bytes), (1, 5));
    assert_eq!(place.fit(&one(0, "0123")), Ok(Fit::Before(4)));
}

#[test]
fn who_does_not_count_files_names_them() {
    let mut place = Place::default();
    assert_eq!(place.fit(&part(None, "a", 0, "x")), Ok(Fit::Begin));
    place.go_on(&Fit::Begin, "a".to_owned(), None, 1);
    assert_eq!(place.fit(&part(None, "a", 0, "x")), Ok(Fit::Before(1)));
    assert_eq!(place.fit(&part(None, "a", 1, "y")), Ok(Fit::On(0)));
    assert_eq!(place.fit(&part(None, "b", 0, "z")), Ok(Fit::Begin));
    place.go_on(&Fit::Begin, "b".to_owned(), None, 1);
    assert_eq!((place.number, place.at, place.bytes), (2, 1, 2));
}

#[test]
fn the_formats_on_the_wire_are_those_that_are_read() {
    let read = bankd_ingest::FORMATS.iter().map(|f| (f.name, f.about));
    assert_eq!(read.collect::<Vec<_>>(), bank_api::v1::IMPORT_FORMATS);
}
