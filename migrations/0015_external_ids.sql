-- What a record is called in another system: free text, one record each.
alter table properties add column external_id text collate "C";
alter table units add column external_id text collate "C";
create unique index properties__external_id__unique on properties (workspace_id, external_id) where external_id is not null;
create unique index units__external_id__unique on units (workspace_id, external_id) where external_id is not null;
