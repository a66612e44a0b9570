-- What fallback accounts covered of charges that money was short for: few among all entries.
CREATE INDEX entry_fallback ON entry (tx) WHERE kind = 'charge_fallback';
