-- pg_trgm finds a part of a word by index; btree_gin lets the workspace stand beside it in the same one.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

create type lead_source as enum ('website', 'referral', 'portal', 'social', 'walk_in', 'api', 'manual');
create type lead_stage as enum ('new', 'contacted', 'qualified', 'viewing', 'negotiation', 'won', 'lost');
create type loss_reason as enum ('price_too_high', 'location_not_suitable', 'bought_elsewhere', 'no_longer_interested', 'unresponsive', 'financing_failed', 'other');
create type activity_type as enum ('created', 'stage_change', 'note', 'assignment', 'updated', 'won', 'lost');

create table leads (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  name text not null,
  email text not null,
  phone text,
  source lead_source not null,
  stage lead_stage not null default 'new',
  score integer not null,
  assigned_agent text collate "C",
  interested_properties text[] not null default '{}',
  budget_min numeric(15, 2),
  budget_max numeric(15, 2),
  budget_currency text,
  timeline text,
  notes text,
  tags text[] not null default '{}',
  loss_reason loss_reason,
  last_contacted timestamptz(3),
  next_follow_up timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  -- When time alone next lowers the score; null once it cannot fall any further.
  score_falls_at timestamptz(3),
  search_text text not null generated always as (lower(name || chr(10) || email || chr(10) || coalesce(phone, ''))) stored,
  primary key (workspace_id, id),
  constraint leads__assigned_agent__exists foreign key (workspace_id, assigned_agent)
    references agents (workspace_id, id)
);
create index on leads (workspace_id, created_at, id);
create index on leads (workspace_id, updated_at, id);
create index on leads (workspace_id, stage, created_at, id);
create index on leads (workspace_id, score, id);
create index on leads (workspace_id, assigned_agent, created_at, id) where assigned_agent is not null;
-- Counts an agent's active leads without touching the table.
create index on leads (workspace_id, assigned_agent, stage) where assigned_agent is not null;
create index on leads using gin (workspace_id, search_text gin_trgm_ops);
create index on leads using gin (workspace_id, tags);
create index on leads using gin (workspace_id, interested_properties);
create index leads_with_falling_score on leads (score_falls_at) where score_falls_at is not null;

-- What happened to a lead: written with the change it tells of, never changed afterwards. People are
-- named without a reference: it is a log, and a reference would lock their row at every entry.
create table lead_activity (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  lead_id text collate "C" not null,
  type activity_type not null,
  description text not null,
  "user" text collate "C",
  "timestamp" timestamptz(3) not null,
  "from" text,
  "to" text,
  reason text,
  notes text,
  changes json,
  -- For the figures of agents: whose lead it was then, and whether it was an exchange with the lead.
  agent_id text collate "C",
  contact boolean not null default false,
  primary key (workspace_id, id),
  constraint lead_activity__lead_id__exists foreign key (workspace_id, lead_id)
    references leads (workspace_id, id) on delete cascade
);
create index on lead_activity (workspace_id, lead_id, "timestamp", id);
create index on lead_activity (workspace_id, agent_id, "timestamp") include (type, "to", lead_id)
  where agent_id is not null and type in ('assignment', 'stage_change');

create table lead_notes (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  lead_id text collate "C" not null,
  content text not null,
  type text not null,
  "user" text collate "C",
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  constraint lead_notes__lead_id__exists foreign key (workspace_id, lead_id)
    references leads (workspace_id, id) on delete cascade
);
create index on lead_notes (workspace_id, lead_id, created_at, id);
