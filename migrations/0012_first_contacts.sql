-- Finds the first contact after an assignment without touching the table: an agent's response time
-- looks it up once for every lead of the period.
create index lead_activity_contacts on lead_activity (workspace_id, lead_id, "timestamp") where contact;
