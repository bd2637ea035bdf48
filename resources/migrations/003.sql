-- Format 3: a database has an identity, by which the ledger beside it knows it.

CREATE TABLE identity (
  uid TEXT NOT NULL -- 32 hexadecimal digits, the same in copies of the file
) STRICT;
INSERT INTO identity (uid) VALUES (lower(hex(randomblob(16))));
