-- People sign in once for all their workspaces, so sessions belong to the account. Tokens are kept as
-- their SHA-256: they are random, and nobody can sign in with what a dump holds.
create table sessions (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id) on delete cascade,
  token_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create unique index on sessions (token_hash);
create index on sessions (account_id);
create index on sessions (expires_at);
create trigger credentials_changed after delete on sessions
  for each statement execute function notify_credentials();

create table password_resets (
  token_hash text primary key,
  account_id text collate "C" not null references accounts (id) on delete cascade,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index on password_resets (account_id);
create index on password_resets (expires_at);

-- Attempts at something that can be guessed, by account and by address. In the database, so that an
-- attacker gains nothing from there being several processes.
create table sign_in_attempts (
  subject text primary key,
  attempts integer not null,
  last_at timestamptz(3) not null,
  blocked_until timestamptz(3)
);
create index on sign_in_attempts (last_at);
