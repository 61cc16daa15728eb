-- In a cycle everything is replaced and nothing is served.
with recursive links as (
    select distinct older_id, newer_id from {{ ref('supersession') }} where status = 'applied'
),

reaches(learning_id, end_id) as (
    select older_id, newer_id from links
    union
    select reaches.learning_id, links.newer_id from reaches inner join links on reaches.end_id = links.older_id
)

select learning_id from reaches where learning_id = end_id
