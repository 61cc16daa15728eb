{{ config(severity='warn') }}
-- Two decision records of one folder with one number: who names the number names neither, and a link said by it waits for
-- a person. Shown so that somebody renumbers one. A record that was deleted is out of the way.
with records as (
    select
        unit_id,
        audience,
        replace(unit_id, path, '') as repository,
        regexp_replace(path, '[^/]*$', '') as folder,
        json_extract_string(attributes, '$.adr_number') as number
    from {{ ref('stg_events') }}
    where kind in ('document_version', 'document_deleted')
    qualify row_number() over (partition by unit_id order by seq desc) = 1 and kind = 'document_version'
)

select audience, folder, number, list_sort(list(unit_id)) as documents
from records
where number is not null
group by audience, repository, folder, number
having count(*) > 1
