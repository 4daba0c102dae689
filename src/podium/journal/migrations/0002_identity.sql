create table facts (
    name text primary key,
    value text not null
) strict;
insert into facts values ('journal', lower(hex(randomblob(8))));
