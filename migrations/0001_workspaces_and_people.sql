-- Every tenant table begins its primary key with workspace_id, and references between tenant tables
-- carry it along: a row can't point into another workspace, and the schema shards by workspace.
-- Constraints that a caller can break are named table__field__exists and table__field__unique.
-- Times have milliseconds, as the API shows them, so that a cursor made from an answer is exact.

create type environment as enum ('production', 'sandbox');
create type plan as enum ('starter', 'professional', 'enterprise');
create type agent_role as enum ('owner', 'admin', 'agent', 'viewer');
create type agent_status as enum ('invited', 'active', 'inactive');

create table workspaces (
  id text collate "C" primary key,
  name text not null,
  plan plan not null,
  api_access boolean not null default true,
  environment environment not null,
  -- The production workspace that a sandbox belongs to.
  production_id text collate "C" references workspaces (id) on delete cascade,
  currency text not null default 'USD' check (currency ~ '^[A-Z]{3}$'),
  custom_limits jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  constraint sandboxes_belong_to_production check ((environment = 'sandbox') = (production_id is not null))
);
create unique index one_sandbox_each on workspaces (production_id);

-- A person, across workspaces.
create table accounts (
  id text collate "C" primary key,
  email text not null,
  name text not null,
  password_hash text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index accounts__email__unique on accounts (lower(email));

create table teams (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  name text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  primary key (workspace_id, id)
);

-- An agent is a person's membership in a workspace.
create table agents (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  account_id text collate "C" references accounts (id),
  email text not null,
  name text not null,
  role agent_role not null default 'agent',
  status agent_status not null default 'invited',
  profile_phone text,
  profile_photo text,
  profile_bio text,
  profile_languages text[],
  profile_license_number text,
  team_id text collate "C",
  commission_tier text,
  commission_rate numeric(7, 6),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  last_active timestamptz(3),
  invitation_sent_at timestamptz(3),
  version integer not null default 1,
  primary key (workspace_id, id),
  constraint agents__team_id__exists foreign key (workspace_id, team_id) references teams (workspace_id, id)
);
create unique index agents__email__unique on agents (workspace_id, lower(email));
create index on agents (workspace_id, created_at, id);
create index on agents (account_id);
create index on agents (workspace_id, team_id);

create table api_keys (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  name text not null,
  token_hash text not null,
  last_four text not null,
  scopes text[] not null,
  bootstrap boolean not null default false,
  created_by text collate "C",
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (workspace_id, id),
  constraint api_keys__created_by__exists foreign key (workspace_id, created_by) references agents (workspace_id, id)
);
create unique index on api_keys (token_hash);

-- Tells every process to forget what it remembers of credentials, whoever made the change and how.
create function notify_credentials() returns trigger language plpgsql as $$
begin
  perform pg_notify('plotbase_credentials', '');
  return null;
end
$$;
create trigger credentials_changed after update of scopes, expires_at, revoked_at or delete on api_keys
  for each statement execute function notify_credentials();
create trigger credentials_changed after update of plan, api_access, currency, custom_limits, name or delete on workspaces
  for each statement execute function notify_credentials();
create trigger credentials_changed after update of role, status, team_id, account_id or delete on agents
  for each statement execute function notify_credentials();
