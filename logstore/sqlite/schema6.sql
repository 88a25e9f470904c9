-- What happened beside runs: see logstore.Fact. In the order of lists.
CREATE TABLE facts (
  kind     TEXT    NOT NULL,
  at       INTEGER NOT NULL,
  id       TEXT    NOT NULL,
  revision INTEGER NOT NULL, -- of several versions the one with the greatest is here
  grp      TEXT    NOT NULL,
  who      TEXT    NOT NULL,
  what     TEXT    NOT NULL,
  object   TEXT    NOT NULL,
  state    TEXT    NOT NULL,
  doc      TEXT    NOT NULL,
  PRIMARY KEY (kind, at, id)
) WITHOUT ROWID;
