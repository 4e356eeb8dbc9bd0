create type import_resource as enum ('properties', 'units', 'leads', 'agents', 'teams', 'deals');
create type import_format as enum ('csv', 'xml');
create type import_status as enum ('queued', 'running', 'completed', 'failed', 'cancelled', 'reverted');
create type duplicate_rule as enum ('create', 'skip', 'update');

-- A file as it was sent, in pieces of equal size, until it has been worked off.
create table import_files (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  created_at timestamptz(3) not null,
  primary key (workspace_id, id)
);
create index on import_files (created_at);

create table import_chunks (
  workspace_id text collate "C" not null,
  file_id text collate "C" not null,
  nr integer not null,
  bytes bytea not null,
  primary key (workspace_id, file_id, nr),
  constraint import_chunks__file_id__exists foreign key (workspace_id, file_id)
    references import_files (workspace_id, id) on delete cascade
);
-- Compressing would cost more time than it saves space for the minutes that a file stays.
alter table import_chunks alter column bytes set storage external;

create table imports (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  resource import_resource not null,
  format import_format not null,
  status import_status not null default 'queued',
  dry_run boolean not null default false,
  on_duplicate duplicate_rule not null,
  total integer,
  processed integer not null default 0,
  created integer not null default 0,
  updated integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  columns text[] not null default '{}',
  ignored_columns text[] not null default '{}',
  failure text,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  version integer not null default 1,
  primary key (workspace_id, id)
);
create index on imports (workspace_id, created_at, id);

-- What is still to be done of an import, and who is at it: gone when it has finished. Progress is
-- written by the transaction that writes the rows.
create table import_work (
  workspace_id text collate "C" not null,
  import_id text collate "C" not null,
  -- Whose rights the rows are written with.
  principal json not null,
  -- The field of each column; null for columns that are left out.
  fields text[] not null,
  separator text not null,
  -- Whether the whole file is valid UTF-8.
  is_utf8 boolean not null,
  next_offset bigint not null,
  next_line integer not null,
  -- Tries since the last progress.
  attempts integer not null default 0,
  lease text,
  leased_until timestamptz(3),
  primary key (workspace_id, import_id),
  constraint import_work__import_id__exists foreign key (workspace_id, import_id)
    references imports (workspace_id, id) on delete cascade
);
create index on import_work (leased_until);

-- The rows that were refused, as they stood in the file, and what is wrong with each.
create table import_rejects (
  workspace_id text collate "C" not null,
  import_id text collate "C" not null,
  row integer not null,
  line integer not null,
  cells json not null,
  problems json not null,
  primary key (workspace_id, import_id, row),
  constraint import_rejects__import_id__exists foreign key (workspace_id, import_id)
    references imports (workspace_id, id) on delete cascade
);

-- What an import made and changed, so that it can be taken back.
create table import_records (
  workspace_id text collate "C" not null,
  import_id text collate "C" not null,
  row integer not null,
  record_id text collate "C" not null,
  -- The version that the import left; a record with another one has been touched since.
  version integer not null,
  -- The values before an update; null for a record that the import made.
  previous json,
  primary key (workspace_id, import_id, row),
  constraint import_records__import_id__exists foreign key (workspace_id, import_id)
    references imports (workspace_id, id) on delete cascade
);

-- Ids of another installation that stand for records which were here before, so that later files can refer to them.
create table import_aliases (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  resource import_resource not null,
  alias text collate "C" not null,
  record_id text collate "C" not null,
  primary key (workspace_id, resource, alias)
);

-- What a dry run has met so far: the second row of two alike would not be created either.
create table import_keys (
  workspace_id text collate "C" not null,
  import_id text collate "C" not null,
  key text collate "C" not null,
  primary key (workspace_id, import_id, key),
  constraint import_keys__import_id__exists foreign key (workspace_id, import_id)
    references imports (workspace_id, id) on delete cascade
);

create index on units (workspace_id, property_id, unit_number) where unit_number is not null;
