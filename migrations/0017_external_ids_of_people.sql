alter table leads add column external_id text collate "C";
alter table agents add column external_id text collate "C";
create unique index leads__external_id__unique on leads (workspace_id, external_id) where external_id is not null;
create unique index agents__external_id__unique on agents (workspace_id, external_id) where external_id is not null;

-- Imports find leads by their address.
create index on leads (workspace_id, lower(email));

-- When the lead entered the stage that this entry left, so that days in a stage need no look at other entries.
alter table lead_activity add column since timestamptz(3);
create function note_stage_since() returns trigger language plpgsql as $$
begin
  select max("timestamp") into new.since from lead_activity
  where workspace_id = new.workspace_id and lead_id = new.lead_id
    and type in ('created', 'stage_change') and "timestamp" <= new."timestamp";
  return new;
end
$$;
create trigger stage_since before insert on lead_activity
  for each row when (new.type = 'stage_change' and new.since is null) execute function note_stage_since();
-- Answers how leads move, and how long they stay, without touching the table.
create index lead_moves on lead_activity (workspace_id, "timestamp") include ("from", "to", since, lead_id)
  where type = 'stage_change';
