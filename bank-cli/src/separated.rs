//! Separated values as other programs write them: the first line names the columns, and shows whether
//! `;`, `,` or a tabulator is between them.

/// Reads them; where the first line has as many of one as of another, `usual` is between columns.
pub(crate) fn reader(bytes: &[u8], usual: u8) -> csv::Reader<&[u8]> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let head = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let count = |byte: u8| head.split(|b| *b == byte).count();
    let delimiter = [b';', b',', b'\t']
        .into_iter()
        .max_by_key(|byte| (count(*byte), *byte == usual));
    csv::ReaderBuilder::new()
        .delimiter(delimiter.unwrap_or(b','))
        .flexible(true)
        // With CRLF for one end the lines would be counted one behind the other.
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(bytes)
}
