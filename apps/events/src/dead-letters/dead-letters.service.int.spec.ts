import { printIngestMessage, type NewEvent } from '@stream-events/contracts';
import type { Logger } from '@stream-events/service';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import { DeadLettersRepository } from '../store/dead-letters.repository.js';
import { toRow } from '../store/write-batch.js';
import { DeadLettersService } from './dead-letters.service.js';
import { wrapUnreadable } from './unreadable-message.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
  await store.partitions.ensureAhead(Date.now());
});
afterAll(() => store.close());
beforeEach(() => store.clear());

const noPayload = '{"a":';

/** Makes the database reject events of this type, so that they become dead letters. Returns a function that lifts the constraint. */
async function refuse(type: string): Promise<() => Promise<void>> {
  await store.dataSource.query(
    `ALTER TABLE events ADD CONSTRAINT refused_type CHECK (event_type <> '${type}') NOT VALID`,
  );
  return async () => {
    await store.dataSource.query('ALTER TABLE events DROP CONSTRAINT refused_type');
  };
}

/** Creates a dead letter that a retry can store. */
async function deadLetterStorable(event: NewEvent = newEvent({ eventType: 'refused' })): Promise<NewEvent> {
  const allow = await refuse(event.eventType);
  const [outcome] = await store.writer.store([event]);
  await allow();
  expect(outcome).toEqual({ id: event.id, outcome: 'dead_lettered' });
  return event;
}

async function readCounts(name: string): Promise<Record<string, number>> {
  const metric = await store.metrics.getSingleMetric(name)?.get();
  return Object.fromEntries(
    (metric?.values ?? []).map(({ labels, value }) => [String(labels.outcome ?? 'all'), value]),
  );
}

describe(DeadLettersRepository.name, () => {
  describe('list', () => {
    it('pages through all dead letters, newest first, even when many were received in the same millisecond', async () => {
      const msecs = Date.now();
      const events = Array.from({ length: 25 }, () => newEvent({ id: v7({ msecs }), eventData: noPayload }));
      await store.writer.store(events);

      const found: string[] = [];
      let before: string | null | undefined;
      do {
        const page = await store.deadLetters.list({ pageSize: 10, ...(before && { before }) });
        found.push(...page.messages.map(({ id }) => id));
        before = page.next;
      } while (before);

      expect(found).toEqual(
        events
          .map(({ id }) => id)
          .sort()
          .reverse(),
      );
    });

    it('returns no next page when the last page is full', async () => {
      await store.writer.store(newEvents(3, { eventData: noPayload }));

      expect(await store.deadLetters.list({ pageSize: 3 })).toMatchObject({ next: null });
    });

    it('returns the reason for each rejection, for any payload', async () => {
      const event = newEvent({
        eventId: '✓ \u2028',
        eventType: 'a"b\\u0000',
        eventData: '{"a":"\0\ud800"}',
      });
      await store.writer.store([event]);

      const { messages } = await store.deadLetters.list({ pageSize: 1 });

      const { eventData: _, idempotencyKey: __, ...names } = event;
      expect(messages).toEqual([
        { ...names, sqlState: '22021', reason: expect.stringMatching(/./), failedAt: expect.any(Number) },
      ]);
      expect(Math.abs((messages[0]?.failedAt ?? 0) - Date.now())).toBeLessThan(60_000);
    });
  });

  describe('add', () => {
    it('keeps the first id of a message that is redelivered, and the latest rejection', async () => {
      const first = newEvent({ eventId: 'message-1', eventData: noPayload });
      await store.writer.store([first]);

      await store.writer.store([newEvent({ eventId: 'message-1', eventData: '[]' })]);

      expect(await store.deadLetters.find(first.id)).toMatchObject({ event: first, sqlState: '23514' });
      expect(await store.deadLetters.count()).toBe(1);
    });
  });
});

describe(DeadLettersService.name, () => {
  describe('get', () => {
    it.each([noPayload, '', '{"a":"\0"}', '"\ud800"', '['.repeat(50_000)])(
      'returns the event as it was received: %#',
      async (eventData) => {
        const event = newEvent({ eventId: 'message-1', eventData });
        await store.writer.store([event]);

        expect(await store.deadLettersService.get(event.id)).toMatchObject({ event });
      },
    );

    it('throws not_found for an id without a dead letter', async () => {
      await expect(store.deadLettersService.get(v7())).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe('retry', () => {
    it('stores the event under its id once the cause is gone, passes it to the relay, and deletes the dead letter', async () => {
      const event = await deadLetterStorable(newEvent({ eventId: 'message-1', eventType: 'refused' }));

      expect(await store.deadLettersService.retry(event.id)).toEqual({ id: event.id, outcome: 'stored' });

      const { idempotencyKey: _, ...expected } = event;
      expect(await store.list.find(event.id, {})).toEqual({ ...expected, occurredAt: null });
      expect(store.handedToRelay.flatMap((batch) => batch.events.map(({ id }) => id))).toEqual([event.id]);
      expect(await store.deadLetters.count()).toBe(0);
      await expect(store.deadLettersService.retry(event.id)).rejects.toMatchObject({ code: 'not_found' });
    });

    it('throws conflict with the reason when the database rejects the event again, and keeps that reason', async () => {
      const event = newEvent({ eventType: 'refused', eventData: noPayload });
      await store.writer.store([event]);
      await store.dataSource.query("UPDATE dead_letters SET sql_state = 'old', reason = 'old'");

      await expect(store.deadLettersService.retry(event.id)).rejects.toMatchObject({
        code: 'conflict',
        detail: expect.stringMatching(/rejected the event again with SQLSTATE 22P02.*json/) as unknown,
      });

      expect(await store.deadLetters.find(event.id)).toMatchObject({ event, sqlState: '22P02' });
      expect(await store.storedIds()).toEqual([]);
    });

    it('stores the event once when several retries run at the same time', async () => {
      const event = await deadLetterStorable();

      const answers = await Promise.allSettled(
        Array.from({ length: 8 }, () => store.deadLettersService.retry(event.id)),
      );

      const retried = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      expect(retried.length).toBeGreaterThan(0);
      // A concurrent retry may find the dead letter already deleted.
      for (const answer of answers)
        if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'not_found' });
      expect(retried).toEqual(retried.map(() => ({ id: event.id, outcome: 'stored' })));
      expect(await store.storedIds()).toEqual([event.id]);
      expect(await store.count('outbox')).toBe(1);
      expect(await store.deadLetters.count()).toBe(0);
    });

    it('deletes the dead letter after a crash between storing the event and deleting the dead letter', async () => {
      const event = await deadLetterStorable();
      await store.writer.store([event]);
      expect(await store.deadLetters.count()).toBe(1);

      expect(await store.deadLettersService.retry(event.id)).toEqual({ id: event.id, outcome: 'stored' });

      expect(await store.storedIds()).toEqual([event.id]);
      expect(await store.deadLetters.count()).toBe(0);
    });

    it('returns known when the platform has redelivered the message, even long ago', async () => {
      const event = await deadLetterStorable(newEvent({ eventId: 'message-1', eventType: 'refused' }));
      const redelivered = newEvent({ eventId: 'message-1', eventType: 'refused' });
      await store.writer.store([redelivered]);
      await store.dataSource.query("UPDATE received_messages SET received_at = now() - interval '26 hours'");
      expect(await store.events.forgetOldMessages()).toBe(0);

      expect(await store.deadLettersService.retry(event.id)).toEqual({
        id: redelivered.id,
        outcome: 'known',
      });

      expect(await store.storedIds()).toEqual([redelivered.id]);
      expect(await store.deadLetters.count()).toBe(0);
      expect(await store.events.forgetOldMessages()).toBe(1);
    });

    it('stores the event of a message that was once unreadable, or throws conflict', async () => {
      const event = newEvent({ eventId: 'message-1' });
      const readable = wrapUnreadable(Buffer.from(printIngestMessage(event)));
      const unreadable = wrapUnreadable(Buffer.from('{"id":"x"}'));
      for (const wrapped of [readable, unreadable])
        await store.deadLetters.add(toRow(wrapped), new Error('no event'));

      expect(await store.deadLettersService.retry(readable.id)).toEqual({ id: event.id, outcome: 'stored' });
      await expect(store.deadLettersService.retry(unreadable.id)).rejects.toMatchObject({ code: 'conflict' });

      expect(await store.storedIds()).toEqual([event.id]);
      expect(await store.count('dead_letters')).toBe(1);
    });

    it('replaces the dead letter of a message that can be read now, but whose event the database rejects', async () => {
      const event = newEvent({ eventId: 'message-1', eventData: noPayload });
      const wrapped = wrapUnreadable(Buffer.from(printIngestMessage(event)));
      await store.deadLetters.add(toRow(wrapped), new Error('no event'));

      await expect(store.deadLettersService.retry(wrapped.id)).rejects.toMatchObject({
        code: 'conflict',
        detail: expect.stringMatching(
          `dead letter ${event.id} replaced it. The database rejected`,
        ) as unknown,
      });

      const { messages } = await store.deadLetters.list({ pageSize: 10 });
      expect(messages.map(({ id }) => id)).toEqual([event.id]);
    });

    it('stores an event that was received years ago', async () => {
      const event = await deadLetterStorable(
        newEvent({ id: v7({ msecs: Date.UTC(2021, 5, 1) }), eventType: 'refused' }),
      );

      expect(await store.deadLettersService.retry(event.id)).toEqual({ id: event.id, outcome: 'stored' });
    });

    it('is counted separately from received events', async () => {
      const event = await deadLetterStorable();
      const stubborn = newEvent({ eventData: noPayload });
      await store.writer.store([stubborn]);
      const [ingest, retries] = [
        await readCounts('events_ingest_total'),
        await readCounts('events_dead_letter_retries_total'),
      ];

      await store.deadLettersService.retry(event.id);
      await store.deadLettersService.retry(stubborn.id).catch(() => undefined);

      expect(await readCounts('events_ingest_total')).toEqual(ingest);
      expect(await readCounts('events_dead_letter_retries_total')).toEqual({
        ...retries,
        stored: (retries.stored ?? 0) + 1,
        dead_lettered: (retries.dead_lettered ?? 0) + 1,
      });
    });
  });

  describe('discard', () => {
    it('deletes one dead letter; when the message is redelivered, it becomes a dead letter again', async () => {
      const [one, other] = [newEvent({ eventId: 'message-1', eventData: '' }), newEvent({ eventData: '' })];
      await store.writer.store([one, other]);

      await store.deadLettersService.discard(one.id);

      expect((await store.deadLetters.list({ pageSize: 10 })).messages.map(({ id }) => id)).toEqual([
        other.id,
      ]);
      await expect(store.deadLettersService.discard(one.id)).rejects.toMatchObject({ code: 'not_found' });
      const again = newEvent({ eventId: 'message-1', eventData: '' });
      expect(await store.writer.store([again])).toEqual([{ id: again.id, outcome: 'dead_lettered' }]);
    });
  });

  it('keeps both messages when two arrive with the same id, and lists one after the other', async () => {
    const first = newEvent({ eventId: 'message-1', eventData: '' });
    const second = newEvent({ id: first.id, eventId: 'message-2', eventData: '' });
    await store.writer.store([first, second]);
    const listedIds = async (): Promise<string[]> => {
      const { messages } = await store.deadLetters.list({ pageSize: 1 });
      return messages.map(({ eventId }) => eventId!).sort();
    };

    const listed = await listedIds();
    await store.deadLettersService.discard(first.id);
    listed.push(...(await listedIds()));
    await store.deadLettersService.discard(first.id);

    expect(listed.sort()).toEqual(['message-1', 'message-2']);
    expect(await store.deadLetters.list({ pageSize: 1 })).toEqual({ messages: [], next: null });
    await expect(store.deadLettersService.get(first.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  describe('events_dead_letters', () => {
    it('reports the number of dead letters, and NaN while the database is unavailable', async () => {
      await store.writer.store(newEvents(3, { eventData: '' }));
      expect(await readCounts('events_dead_letters')).toEqual({ all: 3 });

      await store.dataSource.query('ALTER TABLE dead_letters RENAME TO dead_letter_away');
      expect(await readCounts('events_dead_letters')).toEqual({ all: Number.NaN });
      await store.dataSource.query('ALTER TABLE dead_letter_away RENAME TO dead_letters');
    });
  });
});

describe(DeadLettersRepository.name, () => {
  it('logs whether the database rejected the event or the message cannot be read', async () => {
    const lines: unknown[] = [];
    const logger = { error: (_fields: unknown, line: string) => lines.push(line) } as unknown as Logger; // Safe cast: the service logs only errors.
    const sut = new DeadLettersRepository(store.dataSource, logger);
    const rejection = await store.dataSource.query("SELECT '{'::json").catch((error: unknown) => error);

    await sut.add(toRow(newEvent()), rejection);
    await sut.add(toRow(wrapUnreadable(Buffer.from('{'))), new SyntaxError('not JSON'));

    expect(lines).toEqual([
      'the database rejected an event, keeping the message as a dead letter for an owner to retry or discard',
      'cannot read an accepted message, keeping the message as a dead letter for an owner to retry or discard',
    ]);
  });
});
