import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { lengthenTimers } from '../../test/clock.js';
import { secret, SimulatorSetup, unreachableCallback } from '../../test/simulator-setup.js';
import { isNotification, signatureOf, WebhookReceiver, type Received } from '../../test/webhook-receiver.js';

describe('notifications of the simulated platform', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    return setup.close();
  });

  describe('POST /simulator/notifications', () => {
    it('sends a signed notification about the subscribed channel', async () => {
      const { id } = await setup.subscribe();
      const { status, json } = await setup.send({ event: { user_name: 'Zoë' } });
      expect(status).toBe(200);
      expect(json.responses).toEqual([{ status: 204 }]);
      const [notification] = await setup.receiver.waitFor(1, isNotification);
      expect(notification?.body).toBe(json.body);
      expect(notification?.headers['twitch-eventsub-message-id']).toBe(json.message_id);
      expect(notification?.headers['twitch-eventsub-message-timestamp']).toBe(json.timestamp);
      expect(notification?.headers['twitch-eventsub-subscription-type']).toBe('channel.follow');
      expect(notification?.headers['twitch-eventsub-subscription-version']).toBe('2');
      expect(notification && signatureOf(notification)).toBe(notification?.rightSignature);
      expect(notification?.json.subscription).toMatchObject({ id, status: 'enabled', cost: 0 });
      expect(notification?.json.event).toMatchObject({ broadcaster_user_id: '4711', user_name: 'Zoë' });
    });

    it('sends copies of one message side by side to several callbacks', async () => {
      const callback = [`${setup.receiver.url}/a`, `${setup.receiver.url}/b`];
      const { json } = await setup.send({ copies: 10, callback, secret });
      expect(json.responses).toHaveLength(10);
      const paths = setup.receiver.received.map(({ path }) => path).sort();
      expect(paths).toEqual([...Array<string>(5).fill('/webhook/a'), ...Array<string>(5).fill('/webhook/b')]);
      expect(
        new Set(setup.receiver.received.map(({ headers }) => headers['twitch-eventsub-message-id'])).size,
      ).toBe(1);
      expect(new Set(setup.receiver.received.map(({ body }) => body)).size).toBe(1);
    });

    it('redelivers a message with a new timestamp and a valid signature', async () => {
      const first = await setup.send({ callback: setup.receiver.url, secret });
      const again = await setup.send({
        callback: setup.receiver.url,
        secret,
        message_id: first.json.message_id,
      });
      expect(again.json.message_id).toBe(first.json.message_id);
      expect(again.json.timestamp).not.toBe(first.json.timestamp);
      const oldTime = await setup.send({
        callback: setup.receiver.url,
        secret,
        timestamp: first.json.timestamp,
      });
      expect(oldTime.json.timestamp).toBe(first.json.timestamp);
      for (const received of setup.receiver.received)
        expect(signatureOf(received)).toBe(received.rightSignature);
    });

    it('sends raw text unchanged', async () => {
      const event_text = '{"bits": 12345678901234567890,"twice":1,"twice":2}';
      const { json } = await setup.send({
        type: 'channel.cheer',
        callback: setup.receiver.url,
        secret,
        event_text,
      });
      expect(setup.receiver.received[0]?.body).toBe(json.body);
      expect(setup.receiver.received[0]?.body.endsWith(`"event":${event_text}}`)).toBe(true);
    });

    it('sends batched events', async () => {
      const events = [
        { id: '1', data: {} },
        { id: '2', data: {} },
      ];
      await setup.send({ type: 'drop.entitlement.grant', callback: setup.receiver.url, secret, events });
      expect(setup.receiver.received[0]?.json).toMatchObject({
        subscription: { type: 'drop.entitlement.grant' },
        events,
      });
      expect(setup.receiver.received[0]?.json).not.toHaveProperty('event');
    });

    it.each<[string, (received: Received) => unknown]>([
      ['bad_signature', (received) => signatureOf(received)?.length === 71 && isBadlySigned(received)],
      ['short_signature', (received) => signatureOf(received) === received.rightSignature.slice(0, 17)],
      ['missing_signature', (received) => signatureOf(received) === undefined],
      ['changed_body', (received) => isBadlySigned(received) && received.body.includes('changed_on_the_way')],
      ['wrong_secret', (received) => signatureOf(received)?.length === 71 && isBadlySigned(received)],
      ['old_timestamp', (received) => !isBadlySigned(received) && ageMsOf(received) > 600_000],
      [
        'type_mismatch',
        (received) =>
          !isBadlySigned(received) &&
          received.headers['twitch-eventsub-subscription-type'] !== received.json.subscription.type,
      ],
    ])('makes the fault %s', async (fault, isThatFault) => {
      setup.receiver.answer = () => ({ status: 403, body: 'no' });
      const { json } = await setup.send({ fault, callback: setup.receiver.url, secret });
      expect(json.responses).toEqual([{ status: 403 }]);
      expect(setup.receiver.received.map(isThatFault)).toEqual([true]);
    });

    it('responds with 404 when there is neither a subscription nor a callback', async () => {
      expect(await setup.send()).toMatchObject({ status: 404, json: { error: 'Not Found', status: 404 } });
    });

    it('reports an unreachable callback', async () => {
      const { json } = await setup.send({ callback: unreachableCallback, secret });
      expect(json.responses).toEqual([{ status: 0, error: 'unreachable' }]);
    });

    it.each([204, 302])('returns no headers and no body of a response with %i', async (status) => {
      const headers = { location: `${setup.receiver.url}/elsewhere`, 'x-secret': 'yes' };
      setup.receiver.answer = () => ({ status, headers, ...(status === 302 && { body: 'content' }) });
      const { json } = await setup.send({ callback: setup.receiver.url, secret });
      expect(json.responses).toEqual([{ status }]);
      expect(setup.receiver.received).toHaveLength(1);
    });

    it('sends only to the configured gateways', async () => {
      const elsewhere = await WebhookReceiver.start(secret);
      try {
        const { port } = new URL(setup.receiver.url);
        const gateway = `127.0.0.1:${port}`;
        for (const callback of [
          elsewhere.url,
          [setup.receiver.url, elsewhere.url],
          `http://localhost:${port}/webhook`,
          `https://${gateway}/webhook`,
          `http://${gateway}@${new URL(elsewhere.url).host}/webhook`,
        ])
          expect(await setup.send({ callback, secret })).toMatchObject({
            status: 400,
            json: { message: expect.stringContaining('SIMULATOR_CALLBACK_ORIGINS') },
          });
        expect([elsewhere.received, setup.receiver.received]).toEqual([[], []]);
      } finally {
        await elsewhere.close();
      }
    });

    it.each<[string, Record<string, unknown>]>([
      ['an unknown fault', { fault: 'gremlins' }],
      ['too many copies', { copies: 101 }],
      ['two kinds of event', { event: {}, event_text: '{}' }],
      ['a header that would break', { message_id: 'a\r\nb' }],
      ['no secret', { secret: undefined }],
      ['a type that the platform does not have', { type: 'channel.dance' }],
    ])('responds with 400 to %s', async (_, fault) => {
      const { status, json } = await setup.send({ callback: setup.receiver.url, secret, ...fault });
      expect({ status, error: json.error }).toEqual({ status: 400, error: 'Bad Request' });
      expect(setup.receiver.received).toEqual([]);
    });
  });

  describe('generated notifications', () => {
    it('start immediately when the rate is raised, and stop at rate 0', async () => {
      await setup.subscribe();
      // A slow machine must keep up with this rate: a message that takes longer than 10 s counts as refused.
      expect((await setup.call('PATCH', '/simulator', { rate: 40 })).json.rate).toBe(40);
      const notifications = await setup.receiver.waitFor(20, isNotification);
      for (const notification of notifications) {
        expect(signatureOf(notification)).toBe(notification.rightSignature);
        expect(notification.json.event?.broadcaster_user_id).toBe('4711');
      }
      await setup.call('PATCH', '/simulator', { rate: 0 });
      const { json } = await setup.call('GET', '/simulator');
      expect(json).toMatchObject({ simulation: true, seed: 'test', rate: 0, notifications: { refused: {} } });
    });

    it('are retried with the same id until they are accepted', async () => {
      await setup.subscribe();
      let refusals = 1;
      setup.receiver.answer = () => ({ status: refusals-- > 0 ? 500 : 204 });
      await setup.call('PATCH', '/simulator', { rate: 20 });
      const [first] = await setup.receiver.waitFor(1, isNotification);
      await setup.call('PATCH', '/simulator', { rate: 0 });
      const id = first?.headers['twitch-eventsub-message-id'];
      const sendings = await setup.receiver.waitFor(
        2,
        ({ headers }) => headers['twitch-eventsub-message-id'] === id,
      );
      expect(sendings.map(({ headers }) => headers['twitch-eventsub-message-retry'])).toEqual(['0', '1']);
      expect(sendings[1]?.body).toBe(first?.body);
      expect(sendings.map((sending) => signatureOf(sending) === sending.rightSignature)).toEqual([
        true,
        true,
      ]);
      const { json } = await setup.call('GET', '/simulator');
      expect(json).toMatchObject({ notifications: { refused: { '500': 1 }, given_up: 0 } });
    });
  });

  describe('a callback that is slow', () => {
    let release: () => void = () => undefined;

    beforeEach(async () => {
      await setup.subscribe();
      const released = new Promise<void>((resolve) => (release = resolve));
      setup.receiver.answer = () => released.then(() => ({ status: 204 }));
    });

    it('makes the simulator skip events instead of queuing them', async () => {
      lengthenTimers(10_000); // the time limit for a response
      await setup.call('PATCH', '/simulator', { rate: 5_000 });
      await eventually(async () => {
        const { json } = await setup.call('GET', '/simulator');
        expect(json).toMatchObject({ notifications: { sent: 0, missed: expect.any(Number) as unknown } });
        expect((json.notifications as { missed: number }).missed).toBeGreaterThan(0);
      });
      expect(setup.receiver.received.filter(isNotification).length).toBeLessThanOrEqual(128);
      release();
    });

    it('is awaited when the simulator shuts down', async () => {
      const sending = setup.send();
      await setup.receiver.waitFor(1, isNotification);
      const closing = setup.close();
      release();
      expect(await sending).toMatchObject({ status: 200, json: { responses: [{ status: 204 }] } });
      await closing;
      setup = await SimulatorSetup.start();
    });
  });

  describe('PATCH /simulator', () => {
    it.each([[-1], ['1'], [1e9], [null]])('responds with 400 to a rate of %j', async (rate) => {
      expect((await setup.call('PATCH', '/simulator', { rate })).status).toBe(400);
    });
  });
});

function isBadlySigned(received: Received): boolean {
  return signatureOf(received) !== received.rightSignature;
}

function ageMsOf({ headers }: Received): number {
  return Date.now() - Date.parse(String(headers['twitch-eventsub-message-timestamp']));
}
