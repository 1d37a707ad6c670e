import { newEvent } from '../../test/new-event.js';
import type { OutboxBatch } from './outbox.repository.js';
import { RelayQueue } from './relay-queue.js';

function batches(name: string, count: number): OutboxBatch[] {
  return Array.from({ length: count }, (_, index) => ({ outboxId: `${name}${index}`, events: [] }));
}

function filled(fresh: number, claimed: number): RelayQueue {
  const queue = new RelayQueue();
  for (const batch of batches('f', fresh)) queue.addFresh(batch);
  queue.addClaimed(batches('c', claimed));
  return queue;
}

function takeAll(queue: RelayQueue): string[] {
  const taken: string[] = [];
  for (let batch = queue.next(); batch; batch = queue.next()) taken.push(batch.outboxId);
  return taken;
}

describe(RelayQueue.name, () => {
  it('takes new batches first, and a claimed batch every fourth time', () => {
    expect(takeAll(filled(5, 3))).toEqual(['f0', 'f1', 'f2', 'c0', 'f3', 'f4', 'c1', 'c2']);
  });

  it.each([
    [3, 0, ['f0', 'f1', 'f2']],
    [0, 5, ['c0', 'c1', 'c2', 'c3', 'c4']],
    [0, 0, []],
  ])('takes all of %d new and %d claimed batches', (fresh, claimed, expected) => {
    expect(takeAll(filled(fresh, claimed))).toEqual(expected);
  });

  it.each([
    ['512 small batches', 512, 1],
    ['32 batches of the largest size', 32, 512 * 1024],
  ])('has room for %s', (_, count, length) => {
    const event = { ...newEvent({ eventData: 'x'.repeat(length) }), broadcasterUserId: null, raidToId: null };
    const batch = { outboxId: '1', events: [event] };
    const queue = new RelayQueue();

    const added = Array.from({ length: count + 1 }, () => queue.addFresh(batch));

    expect(added.indexOf(false)).toBe(count);
    expect(queue.size).toBe(count);
    const taken = queue.next();
    expect(queue.addFresh(batch)).toBe(true);
    if (taken) queue.putBack(taken);
    expect(queue.addFresh(batch)).toBe(false);
  });

  it.each([
    [4, true],
    [5, false],
  ])('reports a low backlog with %d claimed batches: %s', (claimed, isLow) => {
    expect(filled(9, claimed).isBacklogLow).toBe(isLow);
  });

  it('drops new and claimed batches after ten seconds', () => {
    let now = 0;
    const queue = new RelayQueue(() => now);
    queue.addFresh({ outboxId: 'f0', events: [] });
    queue.addClaimed(batches('c', 1));
    now = 1;
    queue.addFresh({ outboxId: 'f1', events: [] });
    queue.addClaimed(batches('d', 1));

    now = 9_999;
    expect(queue.dropExpired()).toEqual([]);
    now = 10_000;
    expect(queue.dropExpired().map((batch) => batch.outboxId)).toEqual(['f0', 'c0']);
    expect(takeAll(queue)).toEqual(['f1', 'd0']);
  });

  it('takes a batch that was put back before all others', () => {
    const queue = filled(2, 2);
    const first = queue.next();
    if (!first) throw new Error('the queue is empty');

    queue.putBack(first);

    expect(takeAll(queue)).toEqual(['f0', 'f1', 'c0', 'c1']);
  });
});
