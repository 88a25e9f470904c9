-- Tells one log store from another.
CREATE TABLE identity (id TEXT NOT NULL);
INSERT INTO identity VALUES (lower(hex(randomblob(16))));
