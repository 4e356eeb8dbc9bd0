-- The outbox: an event is written by the statement that makes the change. Its place in the
-- workspace's sequence is given later, where only committed events are seen.
create table events (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  event text not null,
  resource_id text collate "C" not null,
  data json not null,
  created_at timestamptz(3) not null,
  sequence bigint,
  primary key (workspace_id, id)
);
create unique index on events (workspace_id, sequence) where sequence is not null;
create index on events (workspace_id, created_at, id);
create index on events (workspace_id, resource_id);
-- What still waits to be numbered and sent, oldest first.
create index events_waiting on events (created_at, id) where sequence is null;

create table idempotency_keys (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  key text collate "C" not null,
  fingerprint text not null,
  answer json not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (workspace_id, key)
);
create index on idempotency_keys (expires_at);
