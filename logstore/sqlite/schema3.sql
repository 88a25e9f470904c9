-- Log lines have files of their own, to which they were moved before this.
DROP TABLE log_chunks;
