-- What people want to know of users and machines beside what the rules need.

ALTER TABLE user ADD COLUMN phone TEXT NOT NULL DEFAULT '';
ALTER TABLE user ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE machine ADD COLUMN architecture TEXT NOT NULL DEFAULT '';
ALTER TABLE machine ADD COLUMN operating_system TEXT NOT NULL DEFAULT '';
