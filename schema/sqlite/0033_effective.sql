-- Transactions in order of time, for the lines of statements.
CREATE INDEX tx_effective ON tx (at_effective);
