#!/usr/bin/env bash
# A filter on a field of exported events matches every row in DuckDB, and no row once the file has more types of events.
#
# Version:     duckdb 2.0.1 (PyPI).
# Input:       newline-delimited JSON: one event per line, of 10 and of 40 types. The data of each event has `user_id` and one field of its type.
#              `read_json` detects the columns by itself.
# Expectation: `event_data.user_id = '7'` matches every line of both files, or the second query is an error.
# Behavior:    with 10 types, `event_data` is a STRUCT, and the filter matches. With 40 types, DuckDB takes the object for a MAP of JSON values.
#              The same filter is still valid, but it compares the JSON text with its quotes, and matches nothing.
# Output seen: 10 types: STRUCT, 10 of 10 rows
#              40 types: MAP, 0 of 40 rows
#              40 types, declared: JSON, 40 of 40 rows
# Consequence: declare the columns, with event_data as JSON, and read its fields with ->>.
#
# Needs Python 3 with venv. Fails if the behavior changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.1
cat >read.py <<'PY'
import duckdb, json
db = duckdb.connect()
def look(name, types, source, field):
    with open('events.ndjson', 'w') as file:
        for number in range(types):
            data = {'user_id': '7', f'field_{number}': number}
            file.write(json.dumps({'event_type': f'type-{number}', 'event_data': data}) + '\n')
    kind, = db.execute(f'SELECT typeof(event_data) FROM {source} LIMIT 1').fetchone()
    count, = db.execute(f"SELECT count(*) FROM {source} WHERE {field} = '7'").fetchone()
    print(f"{name}: {kind.split('(')[0]}, {count} of {types} rows")
detected = "read_json('events.ndjson')"
declared = "read_json('events.ndjson', columns = {event_type: 'VARCHAR', event_data: 'JSON'})"
look('10 types', 10, detected, 'event_data.user_id')
look('40 types', 40, detected, 'event_data.user_id')
look('40 types, declared', 40, declared, "event_data->>'user_id'")
PY
output=$(python/bin/python read.py)
echo "$output"
[ "$output" = '10 types: STRUCT, 10 of 10 rows
40 types: MAP, 0 of 40 rows
40 types, declared: JSON, 40 of 40 rows' ] || { echo 'The behavior has changed.' >&2; exit 1; }
