-- Requests by day, credential and route. The day's sum of a workspace is what its daily limit counts.
create table usage_days (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  day date not null,
  -- A key, a session or an OAuth grant; it may be gone by now.
  credential_id text collate "C" not null,
  -- Method and path pattern, such as "GET /v1/leads/:id".
  route text collate "C" not null,
  requests bigint not null check (requests > 0),
  primary key (workspace_id, day, credential_id, route)
);
-- For the day's counts at start-up, and for dropping what is old.
create index on usage_days (day);

-- Each value a whole number from 1 on; "day" may be null, which is without limit.
alter table workspaces add constraint workspaces__custom_limits__valid check (
  custom_limits is null or (
    jsonb_typeof(custom_limits) = 'object'
    and custom_limits - array['burst', 'minute', 'day', 'leads', 'leads_bulk', 'import', 'analytics'] = '{}'
    and not jsonb_path_exists(custom_limits, '$.keyvalue() ? (
      !(@.value.type() == "number" && @.value >= 1 && @.value <= 1000000000 && @.value.floor() == @.value)
      && !(@.key == "day" && @.value == null))')
  )
);
