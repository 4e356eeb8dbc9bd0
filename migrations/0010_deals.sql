create type deal_status as enum ('open', 'closed', 'cancelled');
create type commission_status as enum ('pending', 'earned', 'void');
create type invoice_status as enum ('open');

create table deals (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  lead_id text collate "C" not null,
  property_id text collate "C" not null,
  unit_id text collate "C",
  agent_id text collate "C",
  value numeric(15, 2) not null,
  currency text not null,
  status deal_status not null default 'open',
  notes text,
  created_at timestamptz(3) not null,
  closed_at timestamptz(3),
  cancelled_at timestamptz(3),
  version integer not null default 1,
  -- What an open or closed deal is about cannot be deleted; a cancelled one only remembers it.
  held_property text collate "C" generated always as (case when status <> 'cancelled' then property_id end) stored,
  held_unit text collate "C" generated always as (case when status <> 'cancelled' then unit_id end) stored,
  primary key (workspace_id, id),
  constraint deals__lead_id__exists foreign key (workspace_id, lead_id) references leads (workspace_id, id),
  constraint deals__agent_id__exists foreign key (workspace_id, agent_id) references agents (workspace_id, id),
  constraint deals__property__held foreign key (workspace_id, held_property)
    references properties (workspace_id, id),
  constraint deals__unit__held foreign key (workspace_id, held_unit) references units (workspace_id, id)
);
create unique index deals__lead_id__unique on deals (workspace_id, lead_id) where status <> 'cancelled';
create unique index deals__unit_id__unique on deals (workspace_id, unit_id) where status = 'open';
create index on deals (workspace_id, created_at, id);
create index on deals (workspace_id, status, created_at, id);
create index on deals (workspace_id, lead_id);
create index on deals (workspace_id, held_property) where held_property is not null;
create index on deals (workspace_id, held_unit) where held_unit is not null;
-- Answers an agent's revenue without touching the table.
create index on deals (workspace_id, agent_id, status, closed_at) include (currency, value, created_at)
  where agent_id is not null;

create table commissions (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  deal_id text collate "C" not null,
  agent_id text collate "C",
  rate numeric(7, 6),
  amount numeric(15, 2) not null,
  currency text not null,
  status commission_status not null default 'pending',
  created_at timestamptz(3) not null,
  version integer not null default 1,
  primary key (workspace_id, id),
  constraint commissions__deal_id__exists foreign key (workspace_id, deal_id) references deals (workspace_id, id),
  constraint commissions__agent_id__exists foreign key (workspace_id, agent_id)
    references agents (workspace_id, id)
);
create unique index commissions__deal_id__unique on commissions (workspace_id, deal_id);
create index on commissions (workspace_id, created_at, id);
create index on commissions (workspace_id, agent_id, status) where agent_id is not null;

create table invoices (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  number text collate "C" not null,
  deal_id text collate "C" not null,
  amount numeric(15, 2) not null,
  currency text not null,
  status invoice_status not null default 'open',
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  constraint invoices__deal_id__exists foreign key (workspace_id, deal_id) references deals (workspace_id, id)
);
create unique index invoices__number__unique on invoices (workspace_id, number);
create unique index invoices__deal_id__unique on invoices (workspace_id, deal_id);
create index on invoices (workspace_id, created_at, id);

-- Invoices must be numbered without gaps: a sequence would leave one behind every undone transaction.
create table invoice_numbers (
  workspace_id text collate "C" primary key references workspaces (id) on delete cascade,
  last integer not null
);
