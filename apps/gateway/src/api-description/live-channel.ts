import { liveControls, type JsonObject } from '@stream-events/contracts';
import { filterParameters } from '../event-filters/event-filter-parameters.js';
import { controlFrame, gapFrame, keepAliveFrame, readyFrame } from '../live/connections/frames.js';
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
  description:
    'Position in the stream. To resume after a disconnect, pass the last position you received as `after`.',
  examples: [printPosition(examplePosition)],
};

const eventTypeList = {
  type: 'array',
  items: { type: 'string' },
  maxItems: maxEventTypes,
  description:
    'List of event types. An event of any of these types matches. In the query string, repeat the parameter for each type',
  examples: [['channel-raid', 'channel-follow']],
};

const filters = Object.fromEntries(
  filterParameters.map(({ name, description, example }) => {
    const schema = { type: 'string', description, examples: [example] };
    return [name, name === 'event_type' ? { oneOf: [schema, eventTypeList] } : schema];
  }),
);

/** Options that clients can send in addition to the filters. */
const options = {
  positions: flag('Adds `position` to each event except replays, and sends the messages `ready` and `gap`'),
  after: {
    type: 'string',
    description:
      'The last position you received. Delivery resumes after it. Without a position, you receive new events only.',
    examples: position.examples,
  },
  keep_alive: flag(`Sends \`keep_alive\` every ${keepAliveMs / 1_000} seconds`),
  name: {
    type: 'string',
    maxLength: maxConnectionNameLength,
    description: 'Name of this connection. Replays, rehearsals, and controls can target connections by name',
    examples: ['my-overlay'],
  },
  controls: flag('Delivers the controls that are addressed to the name of this connection'),
};

const [exampleEvent] = natsMessages.event.examples;

/** The messages on a live WebSocket. Each one is a JSON text. */
export const liveMessages = {
  request: {
    title: 'Request',
    summary: `The first message of a client without an \`Authorization\` header. Send it within ${webSocketLimits.tokenMs / 1_000} seconds`,
    payload: {
      type: 'object',
      required: ['token'],
      properties: {
        token: { type: 'string', description: 'The key of your access token' },
        ...options,
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
    summary: 'An event that passes your filters, with its position. Sent only with the option `positions`',
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
    summary: 'A stored event that is sent again, without a position',
    payload: recordSchema('ReplayedEventRecord'),
    examples: natsMessages.replay.examples.map(({ name, payload }) => ({ name, payload })),
  },
  ready: control('ready', {
    summary:
      'You have received everything up to this position. Live events follow. Sent only with the option `positions`',
    properties: { position },
    required: ['position'],
    frame: readyFrame(examplePosition, 'positioned'),
  }),
  gap: control('gap', {
    summary: 'You missed events. List the missed events over HTTP. Sent only with the option `positions`',
    properties: { reason: { enum: Object.keys(gapReasons), description: printList(gapReasons) } },
    required: ['reason'],
    frame: gapFrame('expired', 'positioned'),
  }),
  keepAlive: control('keep_alive', {
    summary:
      'The connection is alive. Sent only with the option `keep_alive`. Contains a position only with `positions`',
    properties: { position },
    frame: keepAliveFrame(examplePosition, 'plain'),
  }),
  control: control('control', {
    summary:
      'A control that was sent to this connection, such as `skip`. Sent only with the option `controls`',
    properties: { control: { enum: Object.keys(liveControls), description: printList(liveControls) } },
    required: ['control'],
    frame: controlFrame('skip', 'plain'),
  }),
};

/** The WebSocket for live events. */
export const liveChannel = {
  address: '/ws/platform-events/',
  title: 'Live events',
  description:
    'Send your token in the first message, together with your options. You can also pass the options, but not the token, in the ' +
    'query string. If the handshake has an `Authorization` header, the service ignores your messages, so pass the options in the ' +
    'query string. By default, every message from the service is the record of an event or of a replay. With `positions`, you can ' +
    'reconnect without missing or repeating an event. If the service cannot resume at your position, you receive a `gap`.\n\n' +
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
      query: { type: 'object', properties: { ...options, ...filters } },
    },
  },
};

interface Control {
  summary: string;
  properties: JsonObject;
  required?: string[];
  /** A real frame, from which the example is taken. */
  frame: Buffer | undefined;
}

/** Describes a control message: an object whose `event` field names the message. */
function control(name: string, { summary, properties, required = [], frame }: Control): JsonObject {
  // Skip the frame header: two bytes for short frames (RFC 6455 §5.2).
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
