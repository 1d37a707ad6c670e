import { createClient } from '@stream-events/client';

const { STREAM_EVENTS_URL: url, STREAM_EVENTS_TOKEN: token } = process.env;
const client = createClient({ url, token });

for await (const event of client.live({ filters: { event_type: ['channel-raid', 'channel-follow'] } })) {
  const { from_broadcaster_user_name: raider, user_name: follower } = event.event_data;
  if (event.event_type === 'channel-raid') console.log(`Welcome, raiders of ${raider}!`);
  else console.log(`Thank you for following, ${follower}!`);
}
