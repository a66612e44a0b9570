-- The transaction of a chunk that recorded the refusal of strict enforcement for a use without an instance. An amended or
-- assigned use has a later `tx`, and its refusal stays where the journal has it. NULL for all other uses.
ALTER TABLE usage_identity ADD COLUMN refused_tx INTEGER;
-- Refused uses by that transaction, instead of by the transaction of their latest record.
DROP INDEX usage_identity_refusal;
CREATE INDEX usage_identity_refused ON usage_identity (refused_tx) WHERE refused_tx IS NOT NULL;
