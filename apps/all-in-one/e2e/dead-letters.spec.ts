import type { NewEvent } from '@stream-events/contracts';
import {
  eventBody,
  eventsPath,
  newEvent,
  problemType,
  uniqueType,
  type EventPage,
  type EventRecord,
  type Problem,
} from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface DeadLetter {
  id: string;
  event_id: string | null;
  event_type: string;
  event_source: string;
  origin: string;
  sql_state: string;
  reason: string;
  failed_at: string;
  event_data?: string;
}

interface DeadLetterPage {
  next: string | null;
  results: DeadLetter[];
}

interface Retried {
  id: string;
  outcome: string;
}

const deadLettersPath = '/api/v1/dead-letters';
const unknownId = '01999999-9999-7999-8999-999999999999';

describe('dead letters', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);

  afterAll(() => stack.stop());

  const keepAsDeadLetters = async (events: NewEvent[]): Promise<void> => {
    const outcomes = await stack.storeEvents(events);
    expect(outcomes).toEqual(events.map(({ id }) => ({ id, outcome: 'dead_lettered' })));
  };

  /** Makes the database reject events of this type. Returns a function that undoes this. */
  const refuse = async (type: string): Promise<() => Promise<unknown>> => {
    const name = `"refuses ${type}"`;
    const add = `ALTER TABLE events.events ADD CONSTRAINT ${name} CHECK (event_type <> '${type}') NOT VALID`;
    await stack.query(add);
    return () => stack.query(`ALTER TABLE events.events DROP CONSTRAINT ${name}`);
  };

  const list = (query = '') => stack.request<DeadLetterPage>('GET', deadLettersPath + query);
  const show = (id: string) => stack.request<DeadLetter>('GET', `${deadLettersPath}/${id}`);
  const retry = (id: string) => stack.request<Retried>('POST', `${deadLettersPath}/${id}/retry`);
  const discard = (id: string) => stack.request('DELETE', `${deadLettersPath}/${id}`);
  const listed = async (type: string): Promise<EventRecord[]> =>
    (await stack.request<EventPage>('GET', `${eventsPath}?event_type=${type}`)).json.results;

  it.each([unknownId, 'not-a-uuid', `${unknownId}0`, 'a%00b'])(
    'respond with 404 to the id %s',
    async (id) => {
      for (const answer of [await show(id), await retry(id), await discard(id)]) {
        expect(answer).toMatchObject({ status: 404, json: { title: 'Not Found', status: 404 } });
        expect(answer.headers.get('content-type')).toMatch(problemType);
      }
    },
  );

  describe('in a list', () => {
    // Several events share a millisecond, to test the order of equal times.
    const events = Array.from({ length: 25 }, (_, index) =>
      newEvent({
        time: Date.UTC(2020, 0, 1) + Math.floor(index / 10),
        eventType: 'listed',
        eventData: '',
        eventId: index % 2 ? `message ${index}` : null,
      }),
    );

    // Store the events one by one. On a busy machine, splitting a failed batch into single events takes longer than the request timeout.
    beforeAll(async () => {
      for (const event of events) await keepAsDeadLetters([event]);
    }, startLimitMs);

    it('show the reason and omit the payload', async () => {
      const found = (await list('?page_size=100')).json.results.find(
        ({ event_id }) => event_id === 'message 1',
      );
      expect(found).toEqual({
        id: events[1]?.id,
        event_id: 'message 1',
        event_type: 'listed',
        event_source: 'PlatformSub',
        origin: 'platform',
        sql_state: '22P02',
        reason: expect.stringMatching(/json/),
        failed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/),
      });
    });
  });

  describe('as single records', () => {
    it.each([
      ['invalid JSON', '{"a":'],
      ['the escape of half a surrogate pair, and a NUL', '"\\ud800\0'],
      ['200,000 quotes', '"'.repeat(200_000)],
    ])('show the payload as it was received: %s', async (_, eventData) => {
      const event = newEvent({ eventData, eventId: uniqueType('message'), eventType: 'a "type" \u2028' });
      await keepAsDeadLetters([event]);
      const { status, json } = await show(event.id.toUpperCase());
      expect({ status, json }).toMatchObject({
        status: 200,
        json: { id: event.id, event_id: event.eventId, event_type: event.eventType, event_data: eventData },
      });
    });

    it('are returned to the client whose event was rejected', async () => {
      const type = uniqueType('named');
      const allow = await refuse(type);
      const answer = await stack.request<Problem>('POST', eventsPath, {
        body: eventBody({ event_type: type }),
      });
      await allow();
      const id = /dead letter ([0-9a-f-]{36})/.exec(answer.json.detail)?.[1] ?? '';
      expect({ status: answer.status, found: (await show(id)).json.event_type }).toEqual({
        status: 400,
        found: type,
      });
    });
  });

  describe('when retried', () => {
    it('are stored, published, and deleted when the cause is gone', async () => {
      const type = uniqueType('retried');
      const allow = await refuse(type);
      const event = newEvent({ eventType: type, eventId: uniqueType('message') });
      await keepAsDeadLetters([event]);
      await allow();

      const answer = await retry(event.id);
      expect(answer).toMatchObject({ status: 200, json: { outcome: 'stored', id: event.id } });
      expect(await listed(type)).toMatchObject([{ id: event.id, event_id: event.eventId }]);
      expect(await show(event.id)).toMatchObject({ status: 404 });
      expect(await retry(event.id)).toMatchObject({ status: 404 });
      await stack.waitUntilPublished();
      const published = (await stack.readStream()).filter(({ record }) => record.event_type === type);
      expect(published.map(({ id }) => id)).toEqual([event.id]);
    });

    it('remain dead letters when they are rejected again: 409 with the reason', async () => {
      const event = newEvent({ eventData: 'invalid JSON' });
      await keepAsDeadLetters([event]);
      const answer = await stack.request<Problem>('POST', `${deadLettersPath}/${event.id}/retry/`);
      expect(answer).toMatchObject({ status: 409, json: { title: 'Conflict', status: 409 } });
      expect(answer.json.detail).toMatch(/rejected the event again with SQLSTATE 22P02.*json/);
      expect(await show(event.id)).toMatchObject({ status: 200, json: { sql_state: '22P02' } });
    });
  });

  it('are deleted when they are discarded, and exist again when they are redelivered', async () => {
    const event = newEvent({ eventData: '', eventId: uniqueType('message') });
    await keepAsDeadLetters([event]);
    expect(await discard(event.id)).toMatchObject({ status: 204, text: '' });
    expect(await discard(event.id)).toMatchObject({ status: 404 });
    const again = newEvent({ ...event, id: newEvent().id });
    await keepAsDeadLetters([again]);
    expect(await show(again.id)).toMatchObject({ status: 200 });
  });
});
