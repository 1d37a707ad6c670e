// The actions of the test page. The browser runs this file, which imports the client like any page.
import { createClient } from '@stream-events/client';

const received = [];

/** Follows live events with the client. Resolves when the client is connected. */
async function follow({ url, token, event_type }) {
  const events = createClient({ url, token }).live({ filters: { event_type } });
  void collect(events);
  while (events.position === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function collect(events) {
  for await (const event of events) received.push(event.event_data.index);
}

/** Follows live events with the browser's WebSocket. Resolves when the service sends `ready`. */
function followSocket({ url, ...first }) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/platform-events/`);
  return new Promise((resolve, reject) => {
    socket.onopen = () => socket.send(JSON.stringify({ ...first, positions: true }));
    socket.onclose = ({ code }) => reject(new Error(`closed: ${code}`));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.event === 'ready') resolve();
      else received.push(message.event_data.index);
    };
  });
}

async function list({ url, token, event_type }) {
  const { api } = createClient({ url, token });
  const { data, error, response } = await api.GET('/api/v1/platform-events', {
    params: { query: { event_type } },
  });
  return { status: response.status, data, error };
}

globalThis.actions = { follow, followSocket, list, received: () => received };
