create table events (
    sequence integer primary key,
    type text not null,
    thread_id text not null,
    run_id text,
    entity_id text not null,
    entity_kind text not null,
    revision integer not null,
    at real not null,
    actor text not null,
    command_id text,
    payload blob
) strict;
create index events_by_thread on events (thread_id, sequence);
create index events_by_entity on events (entity_id, sequence);

create table entities (
    id text primary key,
    kind text not null,
    thread_id text not null,
    run_id text,
    open integer not null,
    position integer not null,
    revision integer not null,
    sequence integer not null,
    payload blob not null
) strict;
create index entities_by_thread on entities (thread_id, kind, position);
create index entities_open on entities (kind, open) where open = 1;

create table parts (
    owner text not null,
    body text not null,
    epoch integer not null,
    from_part integer not null,
    to_part integer not null,
    thread_id text not null,
    text text not null,
    primary key (owner, body, epoch, from_part)
) strict;

create table receipts (
    command_id text primary key,
    fingerprint text not null,
    thread_id text,
    sequence integer not null,
    payload blob not null
) strict;

create table runtimes (
    id text primary key,
    started_at real not null,
    ended_at real
) strict;

create table owners (
    thread_id text primary key,
    runtime_id text not null
) strict;

create table processes (
    id text primary key,
    session_id text not null,
    thread_id text not null,
    runtime_id text not null,
    adapter text not null,
    token text not null,
    folder text not null,
    address text not null,
    generation integer not null,
    read_offset integer not null,
    inputs integer not null,
    state blob not null,
    correlator blob not null,
    timers blob not null,
    closed integer not null
) strict;
create index processes_open on processes (closed) where closed = 0;

create table sends (
    process_id text not null,
    n integer not null,
    ask_id text,
    prompt integer not null,
    line text not null,
    primary key (process_id, n)
) strict;

create table inbox (
    command_id text primary key,
    thread_id text not null,
    at real not null,
    payload blob not null
) strict;
