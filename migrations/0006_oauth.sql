create table oauth_clients (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  id text collate "C" not null,
  name text not null,
  redirect_uris text[] not null,
  scopes text[] not null,
  public boolean not null default false,
  secret_hash text,
  created_by text collate "C",
  created_at timestamptz(3) not null,
  primary key (workspace_id, id),
  constraint oauth_clients__created_by__exists foreign key (workspace_id, created_by) references agents (workspace_id, id),
  constraint only_public_clients_have_no_secret check (public = (secret_hash is null))
);
-- Clients are looked up before anybody's workspace is known.
create unique index on oauth_clients (id);
create index on oauth_clients (workspace_id, created_at, id);

-- What the authorization server remembers: grants, codes, tokens, sign-ins under way. Found by the
-- SHA-256 of the identifier; the payload, which may quote identifiers, is sealed.
create table oauth_records (
  model text not null,
  id_hash text not null,
  sealed_payload text not null,
  grant_hash text,
  uid_hash text,
  account_id text collate "C" references accounts (id) on delete cascade,
  client_id text collate "C" references oauth_clients (id) on delete cascade,
  -- Of a grant: the workspace that the person consented for. Set with the consent.
  granted_for text collate "C" references workspaces (id) on delete cascade,
  scopes text[],
  consumed_at timestamptz(3),
  expires_at timestamptz(3) not null,
  primary key (model, id_hash)
);
create index on oauth_records (grant_hash) where grant_hash is not null;
create index on oauth_records (uid_hash) where uid_hash is not null;
create index on oauth_records (account_id);
create index on oauth_records (client_id);
create index on oauth_records (granted_for) where granted_for is not null;
create index on oauth_records (expires_at);

-- Only these two decide about requests; codes and sign-ins come and go without anybody's cache being emptied.
create trigger credentials_changed after delete on oauth_records
  for each row when (old.model in ('AccessToken', 'Grant')) execute function notify_credentials();
