#!/usr/bin/env bash
# Two client libraries find no channel in a charity donation.
#
# Versions:    @twurple/eventsub-base 8.1.4 (npm), twitchAPI 4.5.0 (PyPI).
# Input:       the event of `channel.charity_campaign.donate` version 1 in its documented form, which names the channel with
#              `broadcaster_user_id`, `broadcaster_user_login`, and `broadcaster_user_name`
#              (https://dev.twitch.tv/docs/eventsub/reference/charity/, read in November 2026).
# Expectation: both libraries return the channel's id.
# Behavior:    both read `broadcaster_id`, which only `start`, `progress`, and `stop` of the same group have. Twurple returns `undefined`.
#              twitchAPI creates an object without the attribute, so reading it raises AttributeError. The donor is found by both.
# Output seen: Twurple: channel undefined, donor 900200
#              twitchAPI: channel missing, donor 900200
# Consequence: a consumer that serves several channels accepts both forms of the keys on all four types.
#
# Needs Node.js, npm, and Python 3 with venv. Fails if the behavior changes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >donation.json <<'JSON'
{
  "id": "d-1", "campaign_id": "c-1",
  "broadcaster_user_id": "900100", "broadcaster_user_login": "harbor", "broadcaster_user_name": "Harbor",
  "user_id": "900200", "user_login": "skiff", "user_name": "Skiff",
  "charity_name": "Lighthouse Fund", "charity_description": "Keeps the lights on.",
  "charity_logo": "https://example.org/logo.png", "charity_website": "https://example.org",
  "amount": { "value": 550, "decimal_places": 2, "currency": "USD" }
}
JSON

npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @twurple/eventsub-base@8.1.4 @twurple/api@8.1.4 @twurple/auth@8.1.4 >/dev/null
cat >twurple.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { EventSubChannelCharityDonationEvent } from '@twurple/eventsub-base';
const event = new EventSubChannelCharityDonationEvent(JSON.parse(readFileSync('donation.json', 'utf8')), undefined);
console.log(`Twurple: channel ${event.broadcasterId}, donor ${event.donorId}`);
JS

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check twitchAPI==4.5.0
cat >twitchapi.py <<'PY'
import json
from twitchAPI.object.eventsub import CharityDonationData
event = CharityDonationData(**json.load(open('donation.json')))
print(f"twitchAPI: channel {getattr(event, 'broadcaster_id', 'missing')}, donor {event.user_id}")
PY

output=$(node twurple.mjs && python/bin/python twitchapi.py)
echo "$output"
[ "$output" = 'Twurple: channel undefined, donor 900200
twitchAPI: channel missing, donor 900200' ] || { echo 'The behavior has changed.' >&2; exit 1; }
