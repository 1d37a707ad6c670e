import { createHmac, randomUUID } from 'node:crypto';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, send, type EventPage, type EventRecord } from './api.js';
import { webhookSecrets } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

/** The simulator's report about a message. */
interface Sent {
  message_id: string;
  body: string;
  responses: { status: number }[];
}

interface Subscription {
  id: string;
  status: string;
}

const webhookPath = `${eventsPath}/webhook`;
const [secret] = webhookSecrets;

describe('platform webhook', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ simulator: true });
  }, startLimitMs);

  afterAll(() => stack.stop());

  /** Sends one notification from the simulator to the next gateway's callback. */
  const notify = async (request: Record<string, unknown>): Promise<Sent> => {
    const body = { type: 'channel.follow', callback: stack.nextUrl + webhookPath, secret, ...request };
    return (await stack.simulate<Sent>('POST', '/simulator/notifications', body)).json;
  };

  const statusesOf = ({ responses }: Sent): number[] => responses.map(({ status }) => status);

  const eventsOf = async (messageId: string): Promise<EventRecord[]> =>
    (await stack.request<EventPage>('GET', `${eventsPath}?event_id=${encodeURIComponent(messageId)}`)).json
      .results;

  /** Waits until the message is stored. While the store is slow, the gateway accepts messages that are stored later. */
  const storedOf = (messageId: string): Promise<EventRecord[]> =>
    eventually(async () => {
      const events = await eventsOf(messageId);
      expect(events).not.toEqual([]);
      return events;
    });

  const counted = (result: string): Promise<number> =>
    stack.metric('gateways', 'gateway_webhook_messages_total', { result });

  const subscribe = async (type: string, version: string, path = webhookPath): Promise<Subscription> => {
    const condition = { broadcaster_user_id: '4711', moderator_user_id: '4711' };
    const { json } = await stack.simulate<{ data: Subscription[] }>('POST', '/helix/eventsub/subscriptions', {
      type,
      version,
      condition: type === 'channel.follow' ? condition : { broadcaster_user_id: '4711' },
      transport: { method: 'webhook', callback: stack.nextUrl + path, secret },
    });
    return eventually(async () => {
      const list = await stack.simulate<{ data: Subscription[] }>('GET', '/helix/eventsub/subscriptions');
      const found = list.json.data.find(({ id }) => id === json.data[0]?.id);
      if (!found || found.status.endsWith('pending')) throw new Error(`the subscription is ${found?.status}`);
      return found;
    });
  };

  describe('a subscription', () => {
    it('is verified by its challenge, after which its notifications are stored', async () => {
      expect(await subscribe('channel.follow', '2')).toMatchObject({ status: 'enabled' });
      const { json: sent } = await stack.simulate<Sent>('POST', '/simulator/notifications', {
        type: 'channel.follow',
      });
      expect(statusesOf(sent)).toEqual([204]);
      const sentEvent = (JSON.parse(sent.body) as { event: Record<string, unknown> }).event;
      expect(await storedOf(sent.message_id)).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          event_id: sent.message_id,
          event_type: 'channel-follow',
          event_source: 'PlatformSub',
          event_data: sentEvent,
          created: expect.stringMatching(/\+0000$/),
          origin: 'platform',
        },
      ]);
    });

    it('that is revoked is stored as subscription-revocation', async () => {
      const { id } = await subscribe('stream.offline', '1', `${eventsPath}/stream-offline/webhook`);
      const { json: sent } = await stack.simulate<Sent>('POST', '/simulator/revocations', {
        subscription_id: id,
        status: 'authorization_revoked',
      });
      expect(statusesOf(sent)).toEqual([204]);
      const [event] = await storedOf(sent.message_id);
      expect(event).toMatchObject({ event_type: 'subscription-revocation', event_source: 'PlatformSub' });
      expect(event?.event_data).toEqual((JSON.parse(sent.body) as { subscription: unknown }).subscription);
      expect(event?.event_data).toMatchObject({
        id,
        type: 'stream.offline',
        status: 'authorization_revoked',
      });
    });

    it('fails verification when its path names another type', async () => {
      expect(await subscribe('stream.online', '1', `${eventsPath}/stream-offline/webhook`)).toMatchObject({
        status: 'webhook_callback_verification_failed',
      });
    });
  });

  describe('a notification', () => {
    it.each([
      ['{"id":12345678901234567890123,"bits":1.10,"e":1E+2,"z":1,"a":2}'],
      [String.raw`{ "s" : "\u0000 \ud800 \u00e9 \/ é😀" ,	"t":[ ] }`],
    ])('is stored with its event exactly as it was sent: %s', async (event_text) => {
      const sent = await notify({ event_text });
      expect(statusesOf(sent)).toEqual([204]);
      await storedOf(sent.message_id);
      const list = await stack.request('GET', `${eventsPath}?event_id=${sent.message_id}`);
      expect(list.text).toContain(`"event_data":${event_text},"created"`);
    });

    it.each([
      [`${eventsPath}/channel-follow/webhook`],
      [`${eventsPath}/channel-follow/webhook/`],
      ['/api/v1/twitch-events/channel-follow/webhook'],
    ])('is accepted at %s', async (path) => {
      const sent = await notify({ callback: stack.nextUrl + path });
      expect(statusesOf(sent)).toEqual([204]);
      expect(await storedOf(sent.message_id)).toMatchObject([{ event_type: 'channel-follow' }]);
    });

    it('may have 250 KiB', async () => {
      const sent = await notify({ event: { message: 'x'.repeat(250 * 1024) } });
      expect(statusesOf(sent)).toEqual([204]);
      expect(await storedOf(sent.message_id)).toHaveLength(1);
    });
  });

  describe('a faulty message', () => {
    const expectNothingStored = async ({ message_id }: { message_id: string }): Promise<void> => {
      expect(await eventsOf(message_id)).toEqual([]);
      // The gateway does not remember the rejected message, so it accepts the valid one as new.
      expect(statusesOf(await notify({ message_id }))).toEqual([204]);
      expect(await storedOf(message_id)).toHaveLength(1);
    };

    it.each([
      ['bad_signature', 403, 'bad_signature'],
      ['short_signature', 403, 'bad_signature'],
      ['missing_signature', 403, 'bad_signature'],
      ['changed_body', 403, 'bad_signature'],
      ['wrong_secret', 403, 'bad_signature'],
      ['old_timestamp', 403, 'stale'],
    ])('(%s) is rejected with %i and counted as %s', async (fault, status, result) => {
      const before = await counted(result);
      const sent = await notify({ fault });
      expect(statusesOf(sent)).toEqual([status]);
      expect(await counted(result)).toBe(before + 1);
      await expectNothingStored(sent);
    });

    it('(another type than the path) is rejected with 400 and counted', async () => {
      const before = await counted('type_mismatch');
      const sent = await notify({ callback: `${stack.nextUrl}${eventsPath}/stream-online/webhook` });
      expect(statusesOf(sent)).toEqual([400]);
      expect(await counted('type_mismatch')).toBe(before + 1);
      await expectNothingStored(sent);
    });

    it('(another type in its headers) is stored with the type in its signed body', async () => {
      const sent = await notify({ fault: 'type_mismatch' });
      expect(statusesOf(sent)).toEqual([204]);
      expect(await storedOf(sent.message_id)).toMatchObject([{ event_type: 'channel-follow' }]);
    });

    it.each(['no JSON', `${'{"a":'.repeat(32)}{}${'}'.repeat(32)}`])(
      '(event %s) is rejected with 400 and counted',
      async (event_text) => {
        const before = await counted('bad_message');
        const sent = await notify({ event_text });
        expect(statusesOf(sent)).toEqual([400]);
        expect(await counted('bad_message')).toBe(before + 1);
        await expectNothingStored(sent);
      },
    );

    it('(over 256 KiB) is rejected with 413', async () => {
      const sent = await notify({ event: { message: 'x'.repeat(256 * 1024) } });
      expect(statusesOf(sent)).toEqual([413]);
      await expectNothingStored(sent);
    });
  });

  describe('a message written by hand', () => {
    /** Signs and sends a valid message. `replaced` overrides its headers. */
    const post = (body: string, replaced: Record<string, string> = {}) => {
      const id = replaced['twitch-eventsub-message-id'] ?? randomUUID();
      const timestamp = new Date().toISOString();
      const hmac = createHmac('sha256', secret).update(id + timestamp + body);
      return send('POST', stack.nextUrl + webhookPath, {
        token: null,
        body,
        headers: {
          'twitch-eventsub-message-id': id,
          'twitch-eventsub-message-timestamp': timestamp,
          'twitch-eventsub-message-signature': `sha256=${hmac.digest('hex')}`,
          'twitch-eventsub-message-type': 'notification',
          ...replaced,
        },
      });
    };

    const follow = '{"subscription":{"type":"channel.follow"},"event":{"user_id":"1"}}';

    it('gets its challenge back as plain text', async () => {
      const body = '{"challenge":"<b>pogchamp</b> 5","subscription":{"type":"channel.follow"}}';
      const answer = await post(body, { 'twitch-eventsub-message-type': 'webhook_callback_verification' });
      expect(answer).toMatchObject({ status: 200, text: '<b>pogchamp</b> 5' });
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    });

    it('of an unknown type is accepted, counted, and not stored', async () => {
      const [stored, ignored] = [await stack.count('events.events'), await counted('ignored')];
      expect(await post(follow, { 'twitch-eventsub-message-type': 'news' })).toMatchObject({ status: 204 });
      expect(await counted('ignored')).toBe(ignored + 1);
      expect(await stack.count('events.events')).toBe(stored);
    });

    it('with an id of more than 255 characters is rejected with 400', async () => {
      expect(await post(follow, { 'twitch-eventsub-message-id': 'x'.repeat(256) })).toMatchObject({
        status: 400,
      });
      expect(await post(follow, { 'twitch-eventsub-message-id': 'x'.repeat(255) })).toMatchObject({
        status: 204,
      });
    });

    it('requires a configured secret', async () => {
      const bare = await stack.startGateway({ PLATFORM_WEBHOOK_SECRET: '' });
      const id = randomUUID();
      const signature = `sha256=${createHmac('sha256', '').update(`${id}${follow}`).digest('hex')}`;
      const headers = { 'twitch-eventsub-message-id': id, 'twitch-eventsub-message-signature': signature };
      const path = bare.url + webhookPath;
      expect(await send('POST', path, { token: null, body: follow, headers })).toMatchObject({ status: 403 });
    }, 120_000);
  });

  it('cannot be imitated by adding an event, which has no event_id', async () => {
    const body = eventBody({ event_id: randomUUID() });
    const { json } = await stack.request<EventRecord>('POST', eventsPath, { body });
    expect(json.event_id).toBeNull();
  });
});
