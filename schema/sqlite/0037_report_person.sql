-- Reports with a page for each person (decision note 0173): a run is of a definition, a period and a person.
-- The rows are copied, because the order of the runs of a period now counts the pages too.

PRAGMA defer_foreign_keys = ON;

CREATE TEMP TABLE report_run_before AS SELECT * FROM report_run;
DROP TABLE report_run;

-- What is made of a definition for a period: once by the timer (turn 0), and as often as somebody asks. A
-- definition with pages for people has a row for each page, and one without a person, the summary, when all
-- pages of the turn are made.
CREATE TABLE report_run (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule TEXT    NOT NULL REFERENCES schedule(name),
    -- The period by its name, such as 2026-10, and its ends.
    period   TEXT    NOT NULL,
    from_at  INTEGER NOT NULL,
    until_at INTEGER NOT NULL,
    turn     INTEGER NOT NULL,
    -- wanted: somebody asked for it, and it is not made yet. failed: the page of a person cannot be made.
    state    TEXT    NOT NULL CHECK (state IN ('wanted', 'made', 'failed')),
    -- Who asked; empty for the timer.
    asked_by TEXT    NOT NULL,
    made_at  INTEGER,
    -- The name of the file and what kind of text it is: html, csv, json or text.
    file     TEXT    NOT NULL,
    form     TEXT    NOT NULL,
    -- Who gets it by mail, with commas between; empty for the staff of the target.
    told     TEXT    NOT NULL,
    -- A line about it: of definitions that deliver nothing the last one that was printed, of a page why it is
    -- not sent, of a summary how many pages there are.
    says     TEXT    NOT NULL,
    -- The text itself; NULL where nobody needs it, and once nobody does any more.
    body     BLOB,
    size     INTEGER NOT NULL,
    seal     INTEGER NOT NULL DEFAULT 0,
    -- The login name whose page it is; empty for a report or a summary.
    person   TEXT    NOT NULL DEFAULT '',
    -- The text of a mail; NULL where the report is an attachment. It goes with the body.
    plain    BLOB,
    UNIQUE (schedule, period, turn, person)
) STRICT;
INSERT INTO report_run (id, schedule, period, from_at, until_at, turn, state, asked_by, made_at, file, form,
        told, says, body, size, seal)
    SELECT id, schedule, period, from_at, until_at, turn, state, asked_by, made_at, file, form, told, says,
        body, size, seal FROM temp.report_run_before;
DROP TABLE temp.report_run_before;
CREATE INDEX report_run_wanted ON report_run (id) WHERE state = 'wanted';
CREATE INDEX report_run_person ON report_run (schedule, id) WHERE person = '';
