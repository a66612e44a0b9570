-- Refused uses by the transaction that recorded the refusal, instead of by the transaction of their latest record.
DROP INDEX IF EXISTS usage_identity_refusal;
CREATE INDEX IF NOT EXISTS usage_identity_refused ON usage_identity (refused_tx) WHERE refused_tx IS NOT NULL;
