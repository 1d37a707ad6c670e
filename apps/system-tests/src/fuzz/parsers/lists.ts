import { eventFilters, ListEventsRequest, toConditions } from '@stream-events/contracts';
import { parseCursor, parseEventListQuery, printCursor } from '@stream-events/gateway/fuzzing';
import { parseMessage } from '@stream-events/messaging';
import { attempt, expectEqual, type ParserTarget } from './parser-target.js';

const list = '["platform-events"]';
const ids = ['019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11', '00000000-0000-0000-0000-000000000000'];
const cursors = ids.flatMap((id) =>
  (['older', 'newer'] as const).flatMap((direction) =>
    [true, false].map((inclusive) => printCursor({ direction, id, inclusive }, list)),
  ),
);

/** List cursors. Printing an accepted cursor must give the same text. */
export const cursorTarget: ParserTarget = {
  name: 'cursors',
  description: 'cursors of lists; an accepted cursor must be one that the service prints',
  seeds: [
    ...cursors,
    printCursor({ direction: 'older', id: ids[0] ?? '', inclusive: false }, 'another list'),
    '',
  ],
  words: ['AQ', 'AQAB', '-', '_', '='],
  run: (input) => {
    const text = input.toString();
    const position = attempt(() => parseCursor(text, list));
    if (!position) return 'refused';
    expectEqual(printCursor(position, list), text, 'the service prints the cursor differently');
    return 'accepted';
  },
};

/** Seeds for the event list's query. */
export const querySeeds: readonly string[] = [
  '',
  'page_size=50',
  ...Object.entries(eventFilters).map(([name, { example }]) => `${name}=${encodeURIComponent(example)}`),
  'event_types=channel-raid%2Cchannel-cheer&user_name=some_viewer&since=2026-11-21T00:00:00%2B00:00&until=2026-11-22',
  `cursor=${cursors[0] ?? ''}&page_size=2&event_type=raid`,
  'channel_id=4711&origin=test&event_source=TestCall&raid_from=a&raid_to=b',
];

/** Event list queries. The events service must accept the request made from an accepted query. */
export const filterTarget: ParserTarget = {
  name: 'filters',
  description:
    'queries of the event list; an accepted query must make a request that the events service accepts',
  seeds: querySeeds,
  words: [...Object.keys(eventFilters).map((name) => `&${name}=`), '&cursor=', '&page_size=', '__proto__='],
  run: (input) => {
    // As in http-server.ts: Node passes a request's target as Latin-1.
    const parameters = Object.fromEntries(new URLSearchParams(input.toString('latin1')));
    const query = attempt(() => parseEventListQuery(parameters));
    if (!query) return 'refused';
    const request: unknown = JSON.parse(JSON.stringify({ ...query.request, limits: {} }));
    toConditions(parseMessage(ListEventsRequest, request).filters);
    return 'accepted';
  },
};
