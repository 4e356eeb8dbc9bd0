-- Who may act in a workspace now. Whoever has left production has left its sandbox too.
create view active_members as
select a.workspace_id, a.id, a.account_id, a.role, a.team_id, a.created_at
from agents a
join workspaces w on w.id = a.workspace_id
where a.status = 'active' and not exists (
  select from agents p
  where p.workspace_id = w.production_id and p.account_id = a.account_id and p.status = 'inactive');
