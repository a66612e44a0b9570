//! Words of enumerations.

/// Gives an enumeration the methods `word` and `parse` by the table of its words, which has every variant. The
/// last argument is the word of a variant that the table lacks.
#[macro_export]
macro_rules! words {
    ($type:ident, $table:ident, $usual:literal) => {
        impl $type {
            /// Its word.
            pub fn word(self) -> &'static str {
                let row = $table.iter().find(|(own, _)| *own == self);
                row.map_or($usual, |(_, word)| *word)
            }

            /// From its word.
            pub fn parse(word: &str) -> Option<Self> {
                let row = $table.iter().find(|(_, own)| *own == word);
                row.map(|(own, _)| *own)
            }
        }
    };
}
