import * as declared from '@stream-events/contracts';
import {
  printIngestMessage,
  printStoreEventBatch,
  type Contract,
  type NewEvent,
} from '@stream-events/contracts';

type AnyContract = Contract<object, object>;

/** Every request between services. */
export const contracts: readonly AnyContract[] = Object.values(declared).filter(isContract);

const event: NewEvent = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  eventId: 'fuzzing',
  eventType: 'raid',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: '{"from_broadcaster_user_id":"1","to_broadcaster_user_id":"2","viewers":3}',
  idempotencyKey: null,
  occurredAt: 1_764_000_000_000,
};
const id = '01999999-9999-7999-8999-999999999999';

/** Data of valid requests. Most contracts accept at least one. */
export const requestSeeds: readonly (string | Buffer)[] = [
  {},
  { id },
  { id, limits: {} },
  { events: [event, { ...event, eventId: null, origin: 'test' }] },
  {
    filters: { eventType: 'raid', since: 0, eventTypes: ['a', 'b'] },
    limits: {},
    pageSize: 50,
    position: { direction: 'older', id, inclusive: true },
  },
  { filters: {}, pageSize: 1, limits: { eventTypes: ['raid'], channelIds: ['4711'] }, records: true },
  { filters: {}, after: id, until: id, limits: { eventTypes: null, channelIds: [] }, format: 'csv' },
  { platformUserId: '12826', dryRun: true },
  {
    messageIds: ['a'],
    sequences: [1],
    ids: [id],
    usernames: ['mira_plays'],
    userIds: ['1'],
    users: [{ id: '1' }],
  },
  { username: 'mira_plays', platformUsername: 'mira_plays', streaming: false, disabled: true },
  {
    streamerId: id,
    streamId: '1',
    id,
    channelId: '1',
    from: 0,
    to: 1,
    startedAt: 0,
    endedAt: null,
    limits: { channelIds: ['1'] },
    isEnded: true,
  },
  { type: 'channel.follow', active: true, enabled: null, version: '2', count: 1, limit: 10, after: null },
]
  .map((data): string | Buffer => JSON.stringify(data))
  .concat(Buffer.from(printStoreEventBatch({ events: [event, event] })));

/** Field names in requests. */
export const requestWords: readonly string[] = [
  ...[
    'filters',
    'limits',
    'position',
    'pageSize',
    'events',
    'id',
    'direction',
    'since',
    'eventTypes',
    'channelIds',
  ],
  ...[
    'usernames',
    'ids',
    'userIds',
    'platformUserId',
    'type',
    'columns',
    'width',
    'pattern',
    'data',
    'records',
  ],
];

export const ingestSeeds: readonly string[] = [
  printIngestMessage(event),
  printIngestMessage({ ...event, eventId: null, idempotencyKey: 'key', eventData: '{"a":"\\u0000"}' }),
  printIngestMessage({ ...event, eventType: 'x'.repeat(255), occurredAt: null }),
];

function isContract(value: unknown): value is AnyContract {
  return (
    typeof value === 'object' &&
    value !== null &&
    'subject' in value &&
    'request' in value &&
    'timeoutMs' in value
  );
}
