-- Analytics read these alone, not the tables.
create index lead_cohorts on leads (workspace_id, created_at)
  include (stage, source, assigned_agent, budget_currency, budget_max, budget_min, id);
drop index lead_moves;
create index lead_moves on lead_activity (workspace_id, "timestamp")
  include ("from", "to", since, lead_id, agent_id) where type = 'stage_change';
create index deals_closed on deals (workspace_id, closed_at)
  include (currency, value, agent_id, property_id, lead_id) where status = 'closed';
create index deals_made on deals (workspace_id, created_at)
  include (status, currency, value, agent_id, property_id);
