-- The one open invitation of an agent. The token itself is only in the mail.
create table invitations (
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  agent_id text collate "C" not null,
  token_hash text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (workspace_id, agent_id),
  constraint invitations__agent_id__exists foreign key (workspace_id, agent_id)
    references agents (workspace_id, id) on delete cascade
);
create unique index on invitations (token_hash);

create index on agents (workspace_id) where role = 'owner' and status = 'active';
