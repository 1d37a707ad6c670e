import type { StoredEvent } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { ReconcilerSetup } from '../../test/reconciler-setup.js';
import { callback } from '../../test/subscription-factory.js';

describe('RevocationsConsumer', () => {
  let setup: ReconcilerSetup;

  beforeAll(async () => {
    setup = await ReconcilerSetup.start();
  });

  beforeEach(async () => {
    await setup.reset();
    setup.monitored.ids = ['1'];
  });

  afterAll(() => setup.close());

  /** Returns the ids of the service's subscriptions on the platform, by type. */
  const idsByType = (): Record<string, string> =>
    Object.fromEntries([...setup.platform.subscriptions.values()].map(({ type, id }) => [type, id]));
  const untilSubscribed = () =>
    eventually(async () => {
      expect(setup.platform.names(callback)).toEqual(['stream.offline 1', 'stream.online 1']);
      expect(await setup.statuses()).toEqual({ 'stream.offline 1': 'enabled', 'stream.online 1': 'enabled' });
      return idsByType();
    });
  const revocationOf = (id: string, status = 'notification_failures_exceeded'): Partial<StoredEvent> => ({
    eventData: JSON.stringify({ id, status, type: 'stream.online' }),
  });
  const untilReplaced = (id: string) =>
    eventually(async () => {
      const ids = await untilSubscribed();
      expect(ids['stream.online']).not.toBe(id);
      return ids['stream.online']!;
    });

  it('has a revoked subscription recreated once, even when the revocation is delivered twice', async () => {
    const { metrics } = await setup.startInstance();
    const before = await untilSubscribed();
    const id = before['stream.online']!;
    await setup.postponeRounds();
    const listings = setup.platform.listings;
    setup.platform.setStatus(id, 'notification_failures_exceeded');
    const revocation = revocationOf(id);
    await setup.publish(revocation);
    await setup.publish(revocation);

    const newId = await untilReplaced(id);
    expect(setup.platform.listings).toBe(listings);
    expect(idsByType()['stream.offline']).toBe(before['stream.offline']);

    // Publish the old revocation late, after the subscription was recreated under another id.
    await setup.publish(revocation);
    // A second revocation within 10 min makes the reconciler wait a minute. Until then, it shows the reason.
    setup.platform.setStatus(newId, 'authorization_revoked');
    await setup.publish(revocationOf(newId, 'authorization_revoked'));
    await eventually(async () =>
      expect(await setup.statuses()).toMatchObject({ 'stream.online 1': 'authorization_revoked' }),
    );
    await eventually(() => expect(setup.platform.names(callback)).toEqual(['stream.offline 1']));
    await setup.passTime();
    await untilReplaced(newId);
    expect(await metrics.metrics()).toContain(
      'platform_subscription_actions_total{action="revocation",result="done"} 2',
    );
  });

  it('reads revocations that arrived while no instance ran', async () => {
    const first = await setup.startInstance();
    const { 'stream.online': id = '' } = await untilSubscribed();
    await first.stop();
    setup.platform.setStatus(id, 'user_removed');
    await setup.publish(revocationOf(id, 'user_removed'));

    // Make the platform unavailable. Otherwise, the listing at the start might find the revocation.
    setup.platform.isAway = true;
    await setup.startInstance();
    await eventually(async () =>
      expect(await setup.statuses()).toMatchObject({ 'stream.online 1': 'user_removed' }),
    );
    setup.platform.isAway = false;
    await untilReplaced(id);
  });

  it('finds a revocation without its message through the listing at start', async () => {
    const first = await setup.startInstance();
    const { 'stream.online': id = '' } = await untilSubscribed();
    await first.stop();
    setup.platform.setStatus(id, 'user_removed');

    await setup.startInstance();
    await untilReplaced(id);
  });

  it('ignores events that clients added, test events, and unreadable messages', async () => {
    await setup.startInstance();
    const { 'stream.online': id = '', 'stream.offline': other = '' } = await untilSubscribed();
    await setup.publish({ ...revocationOf(id), eventId: null });
    await setup.publish({ ...revocationOf(id), origin: 'test' });
    await setup.publish({ eventData: '{"id":7}' });
    await setup.publish({ eventData: '{"id":"a\\u0000","status":"b"}' });
    await setup.publish(revocationOf('unknown'));
    await setup.publish(revocationOf(id, 'enabled'));
    await setup.publish(revocationOf(other));

    // Messages are read in order: when the last message has been read, all messages have been read.
    await eventually(() => expect(idsByType()['stream.offline']).not.toBe(other));
    expect((await untilSubscribed())['stream.online']).toBe(id);
  });

  it('continues after the stream was lost and recreated', async () => {
    await setup.startInstance();
    const { 'stream.online': id = '' } = await untilSubscribed();
    await setup.postponeRounds();
    await setup.deleteStream();
    await setup.createStream();
    setup.platform.setStatus(id, 'user_removed');
    await setup.publish(revocationOf(id, 'user_removed'));

    await eventually(() => expect(idsByType()['stream.online']).not.toBe(id), { timeoutMs: 50_000 });
  });
});
