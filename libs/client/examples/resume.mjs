import { readFile, rename, writeFile } from 'node:fs/promises';
import { createClient } from '@stream-events/client';

const { STREAM_EVENTS_URL: url, STREAM_EVENTS_TOKEN: token, POSITION_FILE: file } = process.env;

// Writes a new file and renames it, because a crash in the middle of a write would leave an empty file.
async function save(position) {
  await writeFile(`${file}.new`, position);
  await rename(`${file}.new`, file);
}

// Without a file, the client starts with new events.
const after = await readFile(file, 'utf8').catch((error) => {
  if (error.code !== 'ENOENT') throw error;
});
const events = createClient({ url, token }).live({
  filters: { event_type: ['channel-follow', 'channel-cheer'], broadcaster_user_id: '47019283' },
  name: 'archive',
  after,
  onGap: ({ reason }) => console.error(`Missed events: ${reason}`),
  onRetry: ({ cause, delayMs }) => console.error(`Reconnecting in ${Math.round(delayMs)} ms:`, cause),
});
process.once('SIGINT', () => events.return());

for await (const event of events) {
  console.log(event.created, event.event_type);
  await save(events.position);
}
// The position can advance past the last event.
if (events.position) await save(events.position);
