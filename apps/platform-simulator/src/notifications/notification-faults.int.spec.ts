import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { lengthenTimers } from '../../test/clock.js';
import { SimulatorSetup } from '../../test/simulator-setup.js';
import { answerChallenge, isNotification, signatureOf, type Received } from '../../test/webhook-receiver.js';

describe('faults of notifications', () => {
  let setup: SimulatorSetup;

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
    await setup.call('POST', '/simulator/limits', { retry_delays_ms: [10, 10] });
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
    for (const type of ['stream.online', 'stream.offline']) {
      await setup.subscribe({ type, version: '1', condition: { broadcaster_user_id: '77' } });
    }
  });

  afterEach(() => {
    jest.restoreAllMocks();
    return setup.close();
  });

  const fail = (notifications: object) => setup.call('PATCH', '/simulator', { faults: { notifications } });
  const goLive = () => setup.call('POST', '/simulator/streams', { user_id: '77' });
  const goOffline = () => setup.call('DELETE', '/simulator/streams/77', {});
  const idOf = ({ headers }: Received) => headers['twitch-eventsub-message-id'];
  const told = (): Received[] => setup.receiver.received.filter(isNotification);
  const typesTold = (): string[] => told().map(({ json }) => json.subscription.type);

  it('loses all notifications, while the streams API is correct', async () => {
    await fail({ lose: 1 });
    await goLive();
    await goOffline();
    await fail({});
    await goLive();
    await setup.receiver.waitFor(1, isNotification);
    expect(typesTold()).toEqual(['stream.online']);
    expect((await setup.call('GET', '/helix/streams?user_id=77')).json.data).toHaveLength(1);
  });

  it('sends the same message twice', async () => {
    await fail({ duplicate: 1 });
    await goLive();
    const [first, second] = await setup.receiver.waitFor(2, isNotification);
    expect([idOf(second!), second!.body]).toEqual([idOf(first!), first!.body]);
  });

  it('sends the next notification first', async () => {
    lengthenTimers(2_000); // the time limit for holding a notification
    await fail({ reorder: 1 });
    await goLive();
    await goOffline();
    await setup.receiver.waitFor(2, isNotification);
    expect(typesTold()).toEqual(['stream.offline', 'stream.online']);
  });

  it('sends a held notification late when no other follows', async () => {
    await fail({ reorder: 1 });
    await goLive();
    await setup.receiver.waitFor(1, isNotification);
    expect(typesTold()).toEqual(['stream.online']);
  });

  it('waits before it sends', async () => {
    await fail({ delay_ms: 300 });
    const began = performance.now();
    await goLive();
    await setup.receiver.waitFor(1, isNotification);
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
  });

  it('gives every copy an invalid signature', async () => {
    await fail({ bad_signature: 1 });
    setup.receiver.answer = () => ({ status: 403 });
    await goLive();
    const copies = await setup.receiver.waitFor(3, isNotification);
    for (const copy of copies) expect(signatureOf(copy)).not.toBe(copy.rightSignature);
    expect(new Set(copies.map(idOf)).size).toBe(1);
  });

  it('are derived from the seed: a repeated run loses the same notifications', async () => {
    const play = async (): Promise<unknown[]> => {
      const run = await SimulatorSetup.start();
      await run.call('POST', '/simulator/users', { login: 'mira', id: '77' });
      await run.subscribe({ type: 'stream.online', version: '1', condition: { broadcaster_user_id: '77' } });
      await run.call('PATCH', '/simulator', { faults: { notifications: { lose: 0.5 } } });
      const began: string[] = [];
      for (let turn = 0; turn < 10; turn += 1) {
        const { json } = await run.call('POST', '/simulator/streams', { user_id: '77' });
        began.push(String(json.id));
        await run.call('DELETE', '/simulator/streams/77', { notify: false });
      }
      await run.call('PATCH', '/simulator', { faults: { notifications: {} } });
      const last = await run.call('POST', '/simulator/streams', { user_id: '77' });
      const isLast = ({ json }: Received): boolean => json.event?.id === last.json.id;
      await run.receiver.waitFor(1, isLast);
      await run.close(); // waits for notifications in flight
      return run.receiver.received
        .filter(isNotification)
        .map(({ json }) => json.event?.id)
        .sort();
    };
    const [one, two] = [await play(), await play()];
    expect(one).toEqual(two);
    expect(one.length).toBeGreaterThan(1);
    expect(one.length).toBeLessThan(11);
  });

  describe('a callback that keeps failing', () => {
    const statuses = async (): Promise<string[]> =>
      (await setup.call('GET', '/helix/eventsub/subscriptions')).json.data.map(({ status }) => status);

    /** Waits until the simulator's counts have these values. */
    const untilCounted = (counts: { given_up?: number; accepted?: number }): Promise<void> =>
      eventually(async () =>
        expect((await setup.call('GET', '/simulator')).json.notifications).toMatchObject(counts),
      );

    let failed: number;
    const failOnce = async (): Promise<void> => {
      const before = told().length;
      await goLive();
      await setup.receiver.waitFor(before + 3, isNotification);
      await untilCounted({ given_up: (failed += 1) });
      await setup.call('DELETE', '/simulator/streams/77', { notify: false });
    };

    beforeEach(async () => {
      failed = 0;
      await setup.call('POST', '/simulator/limits', { max_failed_notifications: 3 });
      setup.receiver.answer = () => ({ status: 500 });
    });

    it('gets each notification three times, then the subscription is disabled and the callback is notified', async () => {
      for (let count = 0; count < 3; count += 1) await failOnce();
      await eventually(async () =>
        expect(await statuses()).toEqual(['notification_failures_exceeded', 'enabled']),
      );
      const retries = told().map(({ headers }) => headers['twitch-eventsub-message-retry']);
      expect(retries).toEqual(['0', '1', '2', '0', '1', '2', '0', '1', '2']);
      const isRevocation = ({ headers }: Received): boolean =>
        headers['twitch-eventsub-message-type'] === 'revocation';
      const [revocation] = await setup.receiver.waitFor(1, isRevocation);
      expect(revocation?.json.subscription).toMatchObject({ status: 'notification_failures_exceeded' });
      setup.receiver.answer = answerChallenge;
      expect((await goLive()).status).toBe(201);
      await goOffline();
      const isOffline = ({ json }: Received): boolean => json.subscription.type === 'stream.offline';
      await setup.receiver.waitFor(1, (received) => isNotification(received) && isOffline(received));
      expect(told().filter((received) => !isOffline(received))).toHaveLength(9);
    });

    it('resets its failures when it accepts a notification in between', async () => {
      await failOnce();
      await failOnce();
      setup.receiver.answer = answerChallenge;
      await goLive();
      await setup.receiver.waitFor(7, isNotification);
      await untilCounted({ accepted: 1 });
      await setup.call('DELETE', '/simulator/streams/77', { notify: false });
      setup.receiver.answer = () => ({ status: 500 });
      await failOnce();
      await failOnce();
      expect(await statuses()).toEqual(['enabled', 'enabled']);
    });
  });
});
