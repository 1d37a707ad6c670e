import {
  connectionNameHeader,
  eventOrigins,
  eventsStreamName,
  eventsStreamSubjects,
  eventSubject,
  occurredAtHeader,
  printEventRecord,
  printReplayedEventRecord,
  printStreamDescription,
  replaySubjects,
  type JsonObject,
  type StoredEvent,
} from '@stream-events/contracts';
import { exampleData } from '../events/events.dto.js';
import { recordSchema } from './record-schemas.js';

const exampleEvent: StoredEvent = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  eventId: 'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
  eventType: 'stream-offline',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: JSON.stringify(exampleData),
};
const exampleTest: StoredEvent = { ...exampleEvent, eventSource: 'TestCall', origin: 'test' };

const messageIdHeader = 'Nats-Msg-Id';
const messageId = {
  type: 'string',
  format: 'uuid',
  description:
    'Id of the event. Also set for test events, although the `id` in their record is null. Deduplicate by this header',
};
const exampleHeaders = { [messageIdHeader]: exampleEvent.id };

/** The messages on NATS. */
export const natsMessages = {
  event: {
    title: 'Event',
    summary: 'An event, as the HTTP API returns it',
    headers: {
      type: 'object',
      required: [messageIdHeader],
      properties: {
        [messageIdHeader]: messageId,
        [occurredAtHeader]: {
          type: 'string',
          format: 'date-time',
          description:
            'Time of the event by the platform’s clock. Set only for events from the platform. `created` is the time of receipt.',
        },
        traceparent: {
          type: 'string',
          description:
            'W3C Trace Context of the published message. Set only when tracing is on and the event is sampled',
        },
      },
    },
    payload: recordSchema('EventRecord'),
    examples: [
      {
        name: 'platform',
        headers: { ...exampleHeaders, [occurredAtHeader]: '2025-11-21T00:12:38.123Z' },
        payload: parse(printEventRecord(exampleEvent)),
      },
      { name: 'test', headers: exampleHeaders, payload: parse(printEventRecord(exampleTest)) },
    ],
  },
  replay: {
    title: 'Replay',
    summary: 'A stored event that is sent again, unchanged except for its origin',
    headers: {
      type: 'object',
      required: [messageIdHeader],
      properties: {
        [messageIdHeader]: messageId,
        [connectionNameHeader]: {
          type: 'string',
          description:
            'Only live connections with this name receive the replay. Without this header, all live connections receive it',
        },
      },
    },
    payload: recordSchema('ReplayedEventRecord'),
    examples: [
      { name: 'replay', headers: exampleHeaders, payload: parse(printReplayedEventRecord(exampleEvent)) },
    ],
  },
};

const parameters = {
  event_type: {
    description:
      'Event type. All characters except `A-Z a-z 0-9 - _` are percent-encoded in UTF-8, because some are special in NATS ' +
      `subjects. An encoded type of more than 512 bytes becomes \`${typeToken('x'.repeat(513))}\`. The record contains the full type.`,
    examples: ['channel-raid', 'stream.offline', 'größe'].map(typeToken),
  },
  broadcaster_user_id: {
    description:
      'Id of the channel, as in the filter `broadcaster_user_id`; for a raid, id of the raided channel. ' +
      `\`${channelToken(null)}\` if the event has no such id, or if the id is not 1 to 64 characters of \`A-Z a-z 0-9 - _\``,
    examples: [exampleData.broadcaster_user_id, null].map(channelToken),
  },
};

/** The subjects that your own services can read. */
export const natsChannels = {
  events: {
    address: addressOf(eventsStreamSubjects, '{origin}.{event_type}.{broadcaster_user_id}'),
    title: `The ${eventsStreamName} stream`,
    description:
      `Every stored event, including tests, on the JetStream stream \`${eventsStreamName}\`. Read the stream with your own consumer, ` +
      `for example with the filter \`${eventSubject('platform', 'channel-raid', null).replace(/_$/, '>')}\`.\n\n` +
      `**At least once**: an event can arrive more than once, with the same \`${messageIdHeader}\`. Deduplicate by this header. You receive ` +
      'events in stream order, which is approximately the order in which the service received the events. ' +
      `\`${occurredAtHeader}\` contains the time of the event.\n\n` +
      '**Epochs**: sequences count within an epoch, the 8 hexadecimal digits in the description of the stream ' +
      `(\`${printStreamDescription({ platform: 'simulator', epoch: '1a2b3c4d' })}\`). When the stream is recreated or loses its ` +
      'tail, its epoch changes and the lost events are published again. After the epoch has changed, create a new consumer.\n\n' +
      '**Retention**: the stream keeps events for `EVENTS_MAX_AGE_DAYS` (less if `RETENTION_DAYS` is lower), and at most `EVENTS_MAX_GB`. The HTTP API lists older events.',
    servers: [{ $ref: '#/servers/nats' }],
    parameters: {
      origin: {
        enum: [...eventOrigins],
        description:
          '`platform`: an event from the platform, or an event that a client added. `test`: a test event; do not act on test events',
      },
      ...parameters,
    },
    messages: { event: { $ref: '#/components/messages/event' } },
  },
  replays: {
    address: addressOf(replaySubjects, '{event_type}.{broadcaster_user_id}'),
    title: 'Replays',
    description:
      'Stored events that are sent again, on core NATS. NATS does not store replays, so a disconnected subscriber misses them. A replay of a ' +
      `range can send an event twice, for example after a gateway has crashed. Both messages have the same \`${messageIdHeader}\`.`,
    servers: [{ $ref: '#/servers/nats' }],
    parameters,
    messages: { replay: { $ref: '#/components/messages/replay' } },
  },
};

function addressOf(subjects: string, template: string): string {
  return subjects.replace('>', template);
}

function typeToken(eventType: string): string {
  return eventSubject('platform', eventType, null).split('.')[2] ?? '';
}

function channelToken(channelId: string | null): string {
  return eventSubject('platform', 'channel-raid', channelId).split('.')[3] ?? '';
}

function parse(record: string): JsonObject {
  return JSON.parse(record) as JsonObject; // Safe cast: every record is a JSON object.
}
