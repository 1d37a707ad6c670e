import type { NewEvent } from '@stream-events/contracts';
import { createLogger, Registry } from '@stream-events/service';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { dropPartitions, retainFor, type RetainingInstance } from '../../test/retaining-store.js';
import { DeadLettersService } from '../dead-letters/dead-letters.service.js';

const day = 24 * 3_600_000;

let store: EventStore;
let sut: RetainingInstance;
beforeAll(async () => {
  store = await EventStore.create();
  sut = retainFor(store, 7);
});
afterAll(() => store.close());
beforeEach(() => dropPartitions(store));

const cutoff = (): number => Math.floor(Date.now() / day) * day - 7 * day;

function receivedAt(msecs: number, overrides: Partial<NewEvent> = {}): NewEvent {
  return newEvent({ id: v7({ msecs }), ...overrides });
}

describe('an event that was received before the retention period', () => {
  it('becomes a dead letter, which says why, and the rest of its batch is stored', async () => {
    const [expired, edge, fresh] = [receivedAt(cutoff() - 1), receivedAt(cutoff()), newEvent()];

    expect(await sut.writer.store([expired, edge, fresh])).toEqual([
      { id: expired.id, outcome: 'dead_lettered' },
      { id: edge.id, outcome: 'stored' },
      { id: fresh.id, outcome: 'stored' },
    ]);

    expect(await store.storedIds()).toEqual([edge.id, fresh.id]);
    expect(await store.deadLetters.find(expired.id)).toMatchObject({
      event: expired,
      sqlState: '',
      reason: `The event was received at ${new Date(cutoff() - 1).toISOString()}, before the retention period. If this time is wrong, check the clock of the receiver. To store the event, raise RETENTION_DAYS and retry.`,
    });
    // The write did not create a partition for the expired event.
    expect((await sut.partitions.list()).every(({ to }) => to > edge.id)).toBe(true);
  });

  it('is the same dead letter when the batch is sent again', async () => {
    const expired = receivedAt(cutoff() - day);

    const first = await sut.writer.store([expired]);

    expect(await sut.writer.store([expired])).toEqual(first);
    expect(await store.count('dead_letters')).toBe(1);
  });

  it('is known when its message is stored', async () => {
    const stored = newEvent({ eventId: 'message-1' });
    await sut.writer.store([stored]);

    expect(await sut.writer.store([receivedAt(cutoff() - day, { eventId: 'message-1' })])).toEqual([
      { id: stored.id, outcome: 'known' },
    ]);
    expect(await store.count('dead_letters')).toBe(0);
  });

  it('is not kept when its user is erased, and counts as stored', async () => {
    await store.noteErased('12826');
    const erased = receivedAt(cutoff() - day, { eventData: '{"user_id":"12826"}' });
    const other = receivedAt(cutoff() - day, { eventData: '{"user_id":"12827"}' });

    expect(await sut.writer.store([erased, other])).toEqual([
      { id: erased.id, outcome: 'stored' },
      { id: other.id, outcome: 'dead_lettered' },
    ]);
    expect(await store.count('dead_letters')).toBe(1);
    expect(await store.storedIds()).toEqual([]);

    await store.clear();
    await store.erasedUsers.refresh();
  });

  it('stays a dead letter when it is retried, until RETENTION_DAYS is raised', async () => {
    const expired = receivedAt(cutoff() - day);
    await sut.writer.store([expired]);
    const serviceOf = (instance: RetainingInstance): DeadLettersService =>
      new DeadLettersService(
        store.deadLetters,
        instance.writer,
        createLogger('test', 'silent'),
        new Registry(),
      );

    await expect(serviceOf(sut).retry(expired.id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Dead letter \S+ was kept\. The event was received at /),
    });
    expect(await store.count('dead_letters')).toBe(1);

    expect(await serviceOf(retainFor(store, 30)).retry(expired.id)).toEqual({
      id: expired.id,
      outcome: 'stored',
    });
    expect(await store.storedIds()).toEqual([expired.id]);
    expect(await store.count('dead_letters')).toBe(0);
  });
});
