import { jest } from '@jest/globals';
import { type FieldErrors, readJsonObject, ServiceError } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';
import { parseBody } from '../http/json-body.decorator.js';
import type { Replay } from './replay.entity.js';
import { ReplayBody, toReplayOrder, toReplayRecord } from './replays.dto.js';

const now = Date.UTC(2026, 10, 21, 12);
const since = '2026-11-20T00:00:00Z';

function parse(body: Record<string, unknown>): ReplayBody {
  return parseBody(ReplayBody, readJsonObject(Buffer.from(JSON.stringify(body))));
}

function errorsOf(body: Record<string, unknown>): FieldErrors | undefined {
  try {
    parse(body);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.errors;
  }
}

beforeEach(() => void jest.useFakeTimers({ now }));
afterEach(() => void jest.useRealTimers());

describe(ReplayBody.name, () => {
  it('requires only since', () => {
    expect(toReplayOrder(parse({ since }), 'ada')).toEqual({
      filters: {},
      since: new Date(since),
      until: new Date(now),
      rate: 20,
      connectionName: null,
      createdBy: 'ada',
    });
  });

  it('accepts the filters of the list, a range, a rate, and a connection name', () => {
    const body = {
      event_type: 'channel-raid',
      event_types: 'channel-raid, raid',
      channel_id: '47019283',
      raid_to: 'Mira',
      origin: 'platform',
      since: '2026-11-20T10:00:00+0200',
      until: '2026-11-20 09:00:00.5',
      rate: 1_000,
      connection: ' my overlay ',
    };

    expect(toReplayOrder(parse(body), 'ada')).toEqual({
      filters: {
        event_type: 'channel-raid',
        raid_to: 'Mira',
        origin: 'platform',
        event_types: 'channel-raid, raid',
        channel_id: '47019283',
      },
      since: new Date('2026-11-20T08:00:00Z'),
      until: new Date('2026-11-20T09:00:00.500Z'),
      rate: 1_000,
      connectionName: 'my overlay',
      createdBy: 'ada',
    });
  });

  it('ignores empty filters and read-only fields, and treats null as all connections', () => {
    const body = { since, user_id: '', connection: null, id: 5, status: 'done' };

    expect(toReplayOrder(parse(body), 'ada')).toMatchObject({ filters: {}, connectionName: null });
  });

  it('ends now at the latest and starts in 1970 at the earliest', () => {
    expect(toReplayOrder(parse({ since: '0000-01-01', until: '9999-12-31' }), 'ada')).toMatchObject({
      since: new Date(0),
      until: new Date(now),
    });
  });

  it('reports all errors at once, each once', () => {
    const errors = errorsOf({ event_type: 5, user_id: null, until: 'tomorrow', rate: '20', connection: '' });

    expect(errors).toEqual({
      event_type: [expect.stringContaining('text of 0 to 255 characters')],
      user_id: [expect.stringContaining('text of 0 to 255 characters')],
      since: [expect.stringContaining('ISO 8601')],
      until: [expect.stringContaining('ISO 8601')],
      rate: ['must be a whole number from 1 to 1000'],
      connection: [expect.stringContaining('null or text of 1 to 255 characters')],
    });
  });

  it.each(['evnt_type', 'eventType', 'until ', 'toString', '__proto__'])(
    'rejects the unknown field %j',
    (name) => {
      const errors = errorsOf({ since, rate: 0, x: 1, ...Object.fromEntries([[name, 'channel-raid']]) });

      expect(Object.entries(errors ?? {})).toEqual([
        ['rate', ['must be a whole number from 1 to 1000']],
        ['x', ['is not a field of this request']],
        [name, ['is not a field of this request']],
      ]);
    },
  );

  it('rejects more event types than the list accepts', () => {
    const types = (count: number): string => [...Array(count).keys()].join();

    expect(errorsOf({ since, event_types: types(20) })).toBeUndefined();
    expect(errorsOf({ since, event_types: types(21) })).toEqual({
      event_types: ['must have at most 20 values, separated by commas'],
    });
  });

  it('reports at most ten unknown fields', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, i]));

    expect(Object.keys(errorsOf({ since, ...unknown }) ?? {})).toHaveLength(10);
  });

  it.each([0, 1_001, -1, 1.5, '1', null, true])('rejects a rate of %j', (rate) => {
    expect(Object.keys(errorsOf({ since, rate }) ?? {})).toEqual(['rate']);
  });

  it.each(['', '   ', 'x'.repeat(256), 'a\0', '\ud800', 5, ['a']])('rejects the name %j', (connection) => {
    expect(Object.keys(errorsOf({ since, connection }) ?? {})).toEqual(['connection']);
  });

  it.each([
    ['the future', { since: '2026-11-21T12:00:00Z' }],
    ['until itself', { since, until: since }],
    ['a time after until', { since, until: '2026-11-19T00:00:00Z' }],
  ])('rejects %s as since', (_, body) => {
    expect(errorsOf(body)).toEqual({ since: ['must be in the past and before until'] });
  });

  it.each([undefined, null, '', 5, '2026-02-30', 'yesterday'])('rejects %j as since', (value) => {
    expect(errorsOf({ since: value })).toEqual({ since: [expect.stringContaining('ISO 8601')] });
  });
});

describe(toReplayRecord.name, () => {
  const replay: Replay = {
    id: uuidV7(),
    status: 'running',
    filters: { event_type: 'channel-raid', event_types: 'channel-raid, raid' },
    since: new Date('2026-11-20T00:00:00Z'),
    until: new Date('2026-11-21T00:00:00Z'),
    rate: 20,
    connectionName: null,
    replayed: 7,
    position: uuidV7({ msecs: Date.UTC(2026, 10, 20, 23, 59, 59) }),
    createdAt: new Date(now),
    createdBy: 'ada',
    endedAt: null,
    error: null,
    leasedBy: uuidV7(),
    leasedUntil: new Date(now),
  };

  it('shows its progress by time', () => {
    expect(toReplayRecord(replay)).toEqual({
      id: replay.id,
      status: 'running',
      event_type: 'channel-raid',
      event_types: 'channel-raid, raid',
      since: '2026-11-20T00:00:00+0000',
      until: '2026-11-21T00:00:00+0000',
      rate: 20,
      connection: null,
      replayed: 7,
      replayed_until: '2026-11-20T23:59:59+0000',
      percent: 99,
      created: '2026-11-21T12:00:00+0000',
      finished: null,
      created_by: 'ada',
      error: null,
    });
  });

  it('has the fields of a body that starts the same replay', () => {
    expect(toReplayOrder(parse({ ...toReplayRecord(replay) }), 'ada')).toMatchObject({
      filters: replay.filters,
      since: replay.since,
      until: replay.until,
    });
  });

  it('shows 100 percent when it is done, wherever its last event was', () => {
    expect(toReplayRecord({ ...replay, status: 'done', position: null })).toMatchObject({
      replayed_until: '2026-11-21T00:00:00+0000',
      percent: 100,
    });
  });
});
