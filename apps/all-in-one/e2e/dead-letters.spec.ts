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

  const counted = (name: string, outcome: string): Promise<number> =>
    stack.metric('events', name, { outcome });

  it.each([
    ['GET', deadLettersPath],
    ['GET', `${deadLettersPath}/${unknownId}`],
    ['POST', `${deadLettersPath}/${unknownId}/retry`],
    ['DELETE', `${deadLettersPath}/${unknownId}`],
  ])('are for owners only: %s %s', async (method, path) => {
    expect(await stack.request(method, path, { token: null })).toMatchObject({ status: 401 });
    const body = { username: uniqueType('user'), password: 'a password of some length' };
    const user = await stack.request<{ auth_token: string }>('POST', '/api/v1/users', { body });
    const answer = await stack.request(method, path, { token: user.json.auth_token });
    expect(answer).toMatchObject({ status: 403, json: { title: 'Forbidden', status: 403 } });
  });

  it.each([unknownId, 'not-a-uuid', `${unknownId}0`, 'a%00b'])(
    'respond with 404 to the id %s',
    async (id) => {
      for (const answer of [await show(id), await retry(id), await discard(id)]) {
        expect(answer).toMatchObject({ status: 404, json: { title: 'Not Found', status: 404 } });
        expect(answer.headers.get('content-type')).toMatch(problemType);
      }
    },
  );

  it('also have a path with a trailing slash, and only the methods that make sense', async () => {
    expect(await stack.request('GET', `${deadLettersPath}/`)).toMatchObject({ status: 200 });
    const wrong = await stack.request('PUT', `${deadLettersPath}/${unknownId}/`);
    expect({ status: wrong.status, allow: wrong.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'DELETE, GET, HEAD',
    });
  });

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

    it('are paged to the end with next, newest first, each once, even those of the same millisecond', async () => {
      const found: DeadLetter[] = [];
      for (let url: string | null = `${deadLettersPath}/?page_size=7&colour=blue`; url !== null;) {
        const page: { status: number; json: DeadLetterPage } = await stack.request<DeadLetterPage>(
          'GET',
          url,
        );
        expect(page.status).toBe(200);
        found.push(...page.json.results);
        url = page.json.next;
        if (url === null) continue;
        // The link is absolute and keeps the request's path.
        const { origin, pathname, searchParams } = new URL(url);
        expect(stack.urls).toContain(origin);
        expect({ pathname, size: searchParams.get('page_size'), colour: searchParams.get('colour') }).toEqual(
          { pathname: `${deadLettersPath}/`, size: '7', colour: 'blue' },
        );
        // New dead letters must not shift the pages.
        await keepAsDeadLetters([newEvent({ eventData: '' })]);
      }
      const ids = events.map(({ id }) => id);
      expect(found.filter(({ event_type }) => event_type === 'listed').map(({ id }) => id)).toEqual(
        ids.sort().reverse(),
      );
    });

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

    it('are rejected with all errors of the query in one response', async () => {
      const { status, json } = await stack.request<Problem>(
        'GET',
        `${deadLettersPath}?page_size=101&cursor=x`,
      );
      expect({ status, faults: Object.keys(json.errors ?? {}).sort() }).toEqual({
        status: 400,
        faults: ['cursor', 'page_size'],
      });
    });

    it('reject a cursor of another list', async () => {
      for (let index = 0; index < 2; index += 1)
        await stack.request('POST', eventsPath, { body: eventBody() });
      const { json } = await stack.request<EventPage>('GET', `${eventsPath}?page_size=1`);
      const cursor = new URL(json.next ?? '').searchParams.get('cursor') ?? '';
      expect(await list(`?cursor=${cursor}`)).toMatchObject({
        status: 400,
        json: { errors: { cursor: {} } },
      });
    });
  });

  describe('as single records', () => {
    it.each([
      ['invalid JSON', '{"a":'],
      ['nothing', ''],
      ['a list', '[1]'],
      ['a NUL byte', '{"a":"\0"}'],
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

    it('are stored once when two gateways retry at the same time', async () => {
      const type = uniqueType('twice');
      const allow = await refuse(type);
      const event = newEvent({ eventType: type });
      await keepAsDeadLetters([event]);
      await allow();

      const answers = await Promise.all([retry(event.id), retry(event.id), retry(event.id), retry(event.id)]);
      for (const { status } of answers) expect([200, 404]).toContain(status);
      expect(answers.map(({ status }) => status)).toContain(200);
      expect(await listed(type)).toHaveLength(1);
    });

    it('are known when the platform has redelivered them since', async () => {
      const type = uniqueType('redelivered');
      const allow = await refuse(type);
      const event = newEvent({ eventType: type, eventId: uniqueType('message') });
      await keepAsDeadLetters([event]);
      await allow();
      const again = newEvent({ ...event, id: newEvent().id });
      await stack.storeEvents([again]);

      expect(await retry(event.id)).toMatchObject({ status: 200, json: { outcome: 'known', id: again.id } });
      expect((await listed(type)).map(({ id }) => id)).toEqual([again.id]);
      expect(await show(event.id)).toMatchObject({ status: 404 });
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

  it('are counted in metrics: dead letters, received events, and retries', async () => {
    const type = uniqueType('counted');
    const before = {
      deadLettered: await counted('events_ingest_total', 'dead_lettered'),
      stored: await counted('events_ingest_total', 'stored'),
      refusedAgain: await counted('events_dead_letter_retries_total', 'dead_lettered'),
      storedAtLast: await counted('events_dead_letter_retries_total', 'stored'),
    };
    const allow = await refuse(type);
    const event = newEvent({ eventType: type });
    await keepAsDeadLetters([event]);
    await retry(event.id);
    for (const events of stack.events)
      expect(await events.metric('events_dead_letters')).toBe(await stack.count('events.dead_letters'));
    await allow();
    await retry(event.id);

    expect({
      deadLettered: (await counted('events_ingest_total', 'dead_lettered')) - before.deadLettered,
      stored: (await counted('events_ingest_total', 'stored')) - before.stored,
      refusedAgain:
        (await counted('events_dead_letter_retries_total', 'dead_lettered')) - before.refusedAgain,
      storedAtLast: (await counted('events_dead_letter_retries_total', 'stored')) - before.storedAtLast,
    }).toEqual({ deadLettered: 1, stored: 0, refusedAgain: 1, storedAtLast: 1 });
  });
});
