import { eventFilters } from '@stream-events/contracts';
import {
  compileFilter,
  describeFilter,
  parseLiveFields,
  parsePosition,
  printPosition,
  readLiveMessage,
  readLiveQuery,
} from '@stream-events/gateway/fuzzing';
import { querySeeds } from './lists.js';
import { attempt, expectEqual, type ParserTarget } from './parser-target.js';

/** Seeds for first messages. @param token the token that clients send */
export function firstMessageSeeds(token: string): string[] {
  const filters = Object.fromEntries(
    Object.entries(eventFilters).map(([name, { example }]) => [name, example]),
  );
  return [
    { token },
    { token, positions: true, keep_alive: false, name: 'my-overlay' },
    {
      token,
      event_type: ['channel-raid', 'channel-cheer'],
      after: '5f3a9c1e-1041-6a1f0c11',
      positions: true,
    },
    { token, ...filters },
    { token, since: '2026-11-21T00:00:00Z', until: '2026-11-22T00:00:00Z', user_id: null },
  ].map((message) => JSON.stringify(message));
}

const words = [...Object.keys(eventFilters), 'token', 'after', 'name', 'positions', 'keep_alive'];

/** First messages of WebSockets, and queries of live connections. */
export const firstMessageTarget: ParserTarget = {
  name: 'first messages',
  description: 'first messages and queries of live connections; an accepted filter must work',
  seeds: [
    ...firstMessageSeeds('0'.repeat(40)),
    ...querySeeds.map((query) => `?${query}`),
    '?event_type=a&event_type=b',
  ],
  words,
  run: (input) => {
    const text = input.toString();
    const fields = text.startsWith('?')
      ? attempt(() => readLiveQuery(`/ws/platform-events${text}`), ['unauthenticated'])
      : readLiveMessage(text);
    const options = fields && attempt(() => parseLiveFields(fields));
    if (!options) return 'refused';
    const { filter } = options.request;
    describeFilter(filter);
    compileFilter(filter)?.({ fields: {}, receivedAt: 0 } as never); // Safe cast: the test reads no other field
    return 'accepted';
  },
};

export const positionSeeds: readonly string[] = [
  '5f3a9c1e-1041-6a1f0c11',
  '5f3a9c1e-0-00000000',
  '00000000-9007199254740991-ffffffff',
  '5f3a9c1e-1-00000000',
];

/** Stream positions. Printing an accepted position must give the same text. */
export const positionTarget: ParserTarget = {
  name: 'positions',
  description: 'positions in the stream; an accepted position must be one that the service prints',
  seeds: positionSeeds,
  words: ['-', '0', '00000000', '9007199254740992'],
  run: (input) => {
    const text = input.toString();
    const position = parsePosition(text);
    if (!position) return 'refused';
    expectEqual(printPosition(position), text, 'the service prints the position differently');
    return 'accepted';
  },
};
