-- Records of kinds that the site added, and its own fields of records that have a table
-- (docs/decisions/0164). The state is a JSON object of the values by field.
CREATE TABLE kind_record (
    kind    TEXT    NOT NULL,
    -- The number or the name.
    key     TEXT    NOT NULL,
    state   TEXT    NOT NULL CHECK (json_valid(state)),
    deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
