-- When a sandbox was last emptied: what is older than the last Sunday is due.
alter table workspaces add column last_reset_at timestamptz(3);
