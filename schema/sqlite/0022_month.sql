-- Rollups of whole UTC months (docs/decisions/0089), so that a report of a year reads few rows. A month
-- has a row for each key that has anything in it, or none at all: then its days are read. Made behind the
-- commits, of days that stand; taken away with the change of one of its days. Months are counted from
-- January 1970; figures are two bytes that say which of the thirteen follow, and these as zigzag varints.
CREATE TABLE rollup_month (
    month   INTEGER NOT NULL,
    key     INTEGER NOT NULL REFERENCES rollup_key(id),
    figures BLOB    NOT NULL,
    PRIMARY KEY (month, key)
) STRICT, WITHOUT ROWID;
