-- Other names are read by user (docs/decisions/0168).
CREATE INDEX user_alias_user ON user_alias (user);
