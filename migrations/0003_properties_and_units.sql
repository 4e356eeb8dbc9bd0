create type property_type as enum ('villa', 'apartment', 'townhouse', 'penthouse', 'commercial', 'land', 'mixed_use');
create type property_status as enum ('planning', 'under_construction', 'completed', 'sold_out', 'archived');
create type unit_status as enum ('available', 'reserved', 'sold', 'off_market', 'rented');
create type unit_visibility as enum ('public', 'agents', 'team', 'private');

create table properties (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  name text not null,
  type property_type not null,
  status property_status not null default 'planning',
  location_address text,
  location_area text,
  location_city text not null,
  location_country text not null,
  location_coordinates_lat numeric(9, 6),
  location_coordinates_lng numeric(9, 6),
  description text,
  media_cover text,
  media_gallery text[],
  media_floor_plans text[],
  media_virtual_tour text,
  pricing_currency text,
  pricing_min_price numeric(15, 2),
  pricing_max_price numeric(15, 2),
  features text[] not null default '{}',
  completion_date date,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  primary key (workspace_id, id)
);
create index on properties (workspace_id, created_at, id);

create table units (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  property_id text collate "C" not null,
  name text not null,
  unit_number text,
  type text,
  status unit_status not null default 'available',
  bedrooms numeric(5, 2),
  bathrooms numeric(5, 2),
  size_interior numeric(12, 2),
  size_land numeric(12, 2),
  size_unit text,
  price_amount numeric(15, 2) not null,
  price_currency text not null,
  features text[] not null default '{}',
  floor_plan text,
  gallery text[] not null default '{}',
  visibility unit_visibility not null default 'agents',
  assigned_agent text collate "C",
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  primary key (workspace_id, id),
  constraint units__property_id__exists foreign key (workspace_id, property_id)
    references properties (workspace_id, id) on delete cascade,
  constraint units__assigned_agent__exists foreign key (workspace_id, assigned_agent)
    references agents (workspace_id, id)
);
create index on units (workspace_id, created_at, id);
create index on units (workspace_id, status, created_at, id);
-- Answers units_count and units_available of a property without touching the table.
create index on units (workspace_id, property_id, status, visibility, assigned_agent);
create index on units (workspace_id, assigned_agent) where assigned_agent is not null;
