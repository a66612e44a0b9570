-- Accounts below accounts, lists of any property, organisations, and the machines of projects.

ALTER TABLE account ADD COLUMN parent INTEGER REFERENCES account(id);
ALTER TABLE account ADD COLUMN share INTEGER NOT NULL DEFAULT 0 CHECK (share BETWEEN 0 AND 100);
ALTER TABLE account ADD COLUMN overflow TEXT NOT NULL DEFAULT 'no'
    CHECK (overflow IN ('no', 'yes', 'any'));
ALTER TABLE account ADD COLUMN discrete INTEGER NOT NULL DEFAULT 0;

ALTER TABLE project ADD COLUMN organization TEXT NOT NULL DEFAULT '';
ALTER TABLE user ADD COLUMN organization TEXT NOT NULL DEFAULT '';

CREATE TABLE project_machine (
    project INTEGER NOT NULL REFERENCES project(id),
    machine INTEGER NOT NULL REFERENCES machine(id),
    PRIMARY KEY (project, machine)
) STRICT, WITHOUT ROWID;

-- The same rows, for any dimension: the name of a property beside the seven that have a meaning.
ALTER TABLE account_constraint RENAME TO account_constraint_1;
CREATE TABLE account_constraint (
    account   INTEGER NOT NULL REFERENCES account(id),
    n         INTEGER NOT NULL,
    dimension TEXT    NOT NULL CHECK (dimension <> ''),
    value     TEXT    NOT NULL,
    allow     INTEGER NOT NULL,
    subtree   INTEGER NOT NULL,
    PRIMARY KEY (account, n)
) STRICT, WITHOUT ROWID;
INSERT INTO account_constraint SELECT account, n, dimension, value, allow, subtree
    FROM account_constraint_1;
DROP TABLE account_constraint_1;
