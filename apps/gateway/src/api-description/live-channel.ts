import type { JsonObject } from '@stream-events/contracts';
import { filterParameters } from '../events/event-filter-parameters.js';
import { gapFrame, keepAliveFrame, readyFrame } from '../live/connections/frames.js';
import { positionPattern, printPosition } from '../live/stream/position.js';
import { natsMessages } from './nats-channels.js';
import { recordSchema } from './record-schemas.js';
import { printCloseCodes } from '../live/close-codes.js';
import { gapReasons } from '../live/gap-reasons.js';
import { keepAliveMs, maxConnectionNameLength, maxEventTypes, webSocketLimits } from '../live/live-limits.js';

const examplePosition = { epoch: '1a2b3c4d', sequence: 4711, check: '6a1f0c11' };

const position = {
  type: 'string',
  pattern: positionPattern.source,
  description: 'A place on the stream. Give the last one that you have as `after` when you come back.',
  examples: [printPosition(examplePosition)],
};

const eventTypeList = {
  type: 'array',
  items: { type: 'string' },
  maxItems: maxEventTypes,
  description: 'Any of these event types; in the query of the URL, repeated',
  examples: [['channel-raid', 'channel-follow']],
};

const filters = Object.fromEntries(
  filterParameters.map(({ name, description, example }) => {
    const schema = { type: 'string', description, examples: [example] };
    return [name, name === 'event_type' ? { oneOf: [schema, eventTypeList] } : schema];
  }),
);

/** What a client may ask for, beside filters. */
const wishes = {
  positions: flag('Whether events have their `position`, and `ready` and `gap` are sent'),
  after: {
    type: 'string',
    description:
      'The last position that you have: what came after it comes first. Without it you get what comes from now on.',
    examples: position.examples,
  },
  keep_alive: flag(`Whether \`keep_alive\` is sent every ${keepAliveMs / 1_000} seconds`),
  name: {
    type: 'string',
    maxLength: maxConnectionNameLength,
    description: 'The name of the connection: a replay can be meant for the connections of one name',
    examples: ['my-overlay'],
  },
};

const [exampleEvent] = natsMessages.event.examples;

/** What goes over a live WebSocket, one JSON text for each message. */
export const liveMessages = {
  request: {
    title: 'Request',
    summary: `The first message of a client that has sent no \`Authorization\`, within ${webSocketLimits.tokenMs / 1_000} seconds`,
    payload: {
      type: 'object',
      required: ['token'],
      properties: {
        token: { type: 'string', description: 'The key of your access token' },
        ...wishes,
        ...filters,
      },
    },
    examples: [
      { name: 'everything', payload: { token: '0123456789abcdef0123456789abcdef01234567' } },
      {
        name: 'resumed',
        payload: {
          token: '0123456789abcdef0123456789abcdef01234567',
          event_type: ['channel-cheer', 'channel-follow'],
          broadcaster_user_id: '47019283',
          positions: true,
          after: printPosition(examplePosition),
        },
      },
    ],
  },
  liveEvent: {
    title: 'Event',
    summary: 'An event that passes your filters',
    payload: recordSchema('EventRecord'),
    examples: [{ name: 'plain', payload: exampleEvent?.payload }],
  },
  positionedEvent: {
    title: 'Event with its position',
    summary: 'The same, for a client that asked for positions',
    payload: {
      allOf: [
        recordSchema('EventRecord'),
        { type: 'object', required: ['position'], properties: { position } },
      ],
    },
    examples: [
      {
        name: 'positioned',
        payload: { ...exampleEvent?.payload, position: printPosition(examplePosition) },
      },
    ],
  },
  liveReplay: {
    title: 'Replay',
    summary: 'An event that goes out once more; it has no position',
    payload: recordSchema('ReplayedEventRecord'),
    examples: natsMessages.replay.examples.map(({ name, payload }) => ({ name, payload })),
  },
  ready: control('ready', {
    summary: 'You have everything up to here; what follows is live. With positions only',
    properties: { position },
    required: ['position'],
    frame: readyFrame(examplePosition, 'positioned'),
  }),
  gap: control('gap', {
    summary: 'You missed events; list them over HTTP. With positions only',
    properties: { reason: { enum: Object.keys(gapReasons), description: printList(gapReasons) } },
    required: ['reason'],
    frame: gapFrame('expired', 'positioned'),
  }),
  keepAlive: control('keep_alive', {
    summary: 'The connection is alive. For a client that asked for it; the position with positions only',
    properties: { position },
    frame: keepAliveFrame(examplePosition, 'plain'),
  }),
};

/** The gateway's WebSocket. */
export const liveChannel = {
  address: '/ws/platform-events/',
  title: 'Live events',
  description:
    'Say your token in the first message, which also says what you want (as the query of the URL can, but for the token). Or ' +
    'say it in `Authorization`: then no message of yours is read, and the query says what you want. Every event comes as its record and nothing else, unless you ask for more. With positions you ' +
    'miss nothing over breaks of the connection and get nothing twice; where that is impossible you are told a `gap`.\n\n' +
    `Close codes:\n\n${printCloseCodes()}`,
  servers: [{ $ref: '#/servers/gateway' }],
  messages: Object.fromEntries(
    Object.keys(liveMessages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
  ),
  bindings: {
    ws: {
      method: 'GET',
      headers: {
        type: 'object',
        properties: { Authorization: { type: 'string', examples: ['Token <key>'] } },
      },
      query: { type: 'object', properties: { ...wishes, ...filters } },
    },
  },
};

interface Control {
  summary: string;
  properties: JsonObject;
  required?: string[];
  /** An example. */
  frame: Buffer | undefined;
}

/** A message about the connection: an object that names itself as `event`. */
function control(name: string, { summary, properties, required = [], frame }: Control): JsonObject {
  // These frames are short, so that their head has two bytes (RFC 6455 §5.2).
  const payload: unknown = frame && JSON.parse(frame.subarray(2).toString());
  return {
    title: name,
    summary,
    payload: {
      type: 'object',
      required: ['event', ...required],
      properties: { event: { const: name }, ...properties },
    },
    examples: [{ name, payload }],
  };
}

function flag(description: string): JsonObject {
  return { type: 'boolean', default: false, description };
}

function printList(texts: Readonly<Record<string, string>>): string {
  return Object.entries(texts)
    .map(([key, text]) => `- \`${key}\`: ${text}`)
    .join('\n');
}
