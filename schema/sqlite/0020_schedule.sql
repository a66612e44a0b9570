-- Reports that the daemon makes by itself, once for each period: how far each definition is, and what
-- was made (decision note 0081).

-- A definition of the settings, by its name. One that is not in them any more is kept with what it made.
CREATE TABLE schedule (
    name     TEXT    PRIMARY KEY,
    active   INTEGER NOT NULL CHECK (active IN (0, 1)),
    -- How long its periods are, and of which zone.
    every    TEXT    NOT NULL,
    tz       TEXT    NOT NULL,
    -- Up to when its periods are made or passed over: µs since 1970.
    done_to  INTEGER NOT NULL,
    -- Periods that were passed over after a long downtime, ever, and the last one.
    skipped  INTEGER NOT NULL DEFAULT 0,
    skipped_last TEXT NOT NULL DEFAULT '',
    -- Failures since it went well, when it was tried last, and why that failed.
    failures INTEGER NOT NULL DEFAULT 0,
    tried_at INTEGER,
    error    TEXT    NOT NULL DEFAULT '',
    seal     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What is made of a definition for a period: once by the timer (turn 0), and as often as somebody asks.
CREATE TABLE report_run (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule TEXT    NOT NULL REFERENCES schedule(name),
    -- The period by its name, such as 2026-10, and its ends.
    period   TEXT    NOT NULL,
    from_at  INTEGER NOT NULL,
    until_at INTEGER NOT NULL,
    turn     INTEGER NOT NULL,
    -- wanted: somebody asked for it, and it is not made yet.
    state    TEXT    NOT NULL CHECK (state IN ('wanted', 'made')),
    -- Who asked; empty for the timer.
    asked_by TEXT    NOT NULL,
    made_at  INTEGER,
    -- The name of the file and what kind of text it is: html, csv, json or text.
    file     TEXT    NOT NULL,
    form     TEXT    NOT NULL,
    -- Who gets it by mail, with commas between; empty for the staff of the target.
    told     TEXT    NOT NULL,
    -- The first line of what was printed, of definitions that deliver nothing.
    says     TEXT    NOT NULL,
    -- The text itself; NULL where nobody needs it, and once nobody does any more.
    body     BLOB,
    size     INTEGER NOT NULL,
    seal     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (schedule, period, turn)
) STRICT;
CREATE INDEX report_run_wanted ON report_run (id) WHERE state = 'wanted';

-- A notice tells of an event, of the events of a digest, or brings what was made.
ALTER TABLE notice ADD COLUMN report INTEGER REFERENCES report_run(id);
CREATE INDEX notice_report ON notice (report) WHERE report IS NOT NULL;
