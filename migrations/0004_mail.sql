-- Mail waits here until the worker has handed it over, and stays readable where no SMTP server is
-- configured. Bodies can hold single-use links, so they are sealed.
create table mail (
  id text collate "C" primary key,
  recipient text not null,
  subject text not null,
  sealed_body text not null,
  created_at timestamptz(3) not null,
  sent_at timestamptz(3),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  last_error text
);
create index mail_waiting on mail (next_attempt_at) where sent_at is null;
create index on mail (created_at);
