-- Transactions that count at another time than that of their record, in order of time, for the lines of
-- statements. All others are in order of time by their number.
CREATE INDEX tx_effective ON tx (at_effective) WHERE at_effective <> at_recorded;
