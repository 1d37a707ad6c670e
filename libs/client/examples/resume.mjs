import { readFile, writeFile } from 'node:fs/promises';
import { createClient } from '@stream-events/client';

const { STREAM_EVENTS_URL: url, STREAM_EVENTS_TOKEN: token, POSITION_FILE: file } = process.env;
const events = createClient({ url, token }).live({
  filters: { event_type: ['channel-follow', 'channel-cheer'], broadcaster_user_id: '47019283' },
  name: 'archive',
  after: await readFile(file, 'utf8').catch(() => undefined),
  onGap: ({ reason }) => console.error(`Missed events: ${reason}`),
  onRetry: ({ cause, delayMs }) => console.error(`Reconnecting in ${Math.round(delayMs)} ms:`, cause),
});
process.once('SIGINT', () => events.return());

for await (const event of events) {
  console.log(event.created, event.event_type);
  await writeFile(file, events.position);
}
// The position may have advanced past the last event.
if (events.position) await writeFile(file, events.position);
