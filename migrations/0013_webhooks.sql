create type webhook_format as enum ('current', 'legacy');
create type delivery_status as enum ('delivered', 'failed');

create table webhooks (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  url text not null,
  -- Receivers are told apart by it: what one of them can take at once is bounded.
  host text not null generated always as (lower(substring(url from '://([^/?#]+)'))) stored,
  events text[] not null,
  format webhook_format not null default 'current',
  active boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz(3),
  last_triggered timestamptz(3),
  stats_deliveries_total integer not null default 0,
  stats_deliveries_successful integer not null default 0,
  stats_deliveries_failed integer not null default 0,
  sealed_secret text not null,
  -- After a rotation both secrets sign until then.
  sealed_previous_secret text,
  previous_secret_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  primary key (workspace_id, id)
);
create index on webhooks (workspace_id, created_at, id);

-- One row per event and webhook. The table is the queue as well: due_at says when to try (next), and
-- is null when nothing is left to do.
create table deliveries (
  workspace_id text collate "C" not null,
  id text collate "C" not null,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  event text not null,
  -- Null until the first attempt.
  status delivery_status,
  response_code integer,
  error text,
  "timestamp" timestamptz(3),
  next_retry timestamptz(3),
  attempts jsonb not null default '[]',
  created_at timestamptz(3) not null,
  due_at timestamptz(3),
  -- Scheduled attempts made so far.
  step smallint not null default 0,
  -- Set while an attempt was brought forward by Retry-After: when the schedule goes on.
  resume_at timestamptz(3),
  -- Who works on it, and until when nobody else may. Neither is in an index, so that a claim costs
  -- no index entries; half a page is left free for it.
  claim text,
  leased_until timestamptz,
  primary key (workspace_id, id),
  constraint deliveries__webhook_id__exists foreign key (workspace_id, webhook_id)
    references webhooks (workspace_id, id) on delete cascade
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
create index on deliveries (workspace_id, webhook_id, created_at, id);
create index deliveries_waiting on deliveries (workspace_id, webhook_id, due_at) where due_at is not null;
-- For the retention. A range index costs a write next to nothing.
create index on deliveries using brin (created_at) with (autosummarize = on);

-- The last number given to an event of the workspace. Only the fan-out writes it.
create table event_sequences (
  workspace_id text collate "C" primary key references workspaces (id) on delete cascade,
  last bigint not null
);
create index on events using brin (created_at) with (autosummarize = on);

-- What the people of a workspace should know, for the dashboard.
create table notices (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  kind text not null,
  message text not null,
  resource_id text collate "C",
  created_at timestamptz(3) not null,
  read_at timestamptz(3),
  primary key (workspace_id, id)
);
create index on notices (workspace_id, created_at, id);
