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
  description: 'The id of the event, also where the record has none: de-duplicate by it',
};
const exampleHeaders = { [messageIdHeader]: exampleEvent.id };

/** What goes out on NATS. */
export const natsMessages = {
  event: {
    title: 'Event',
    summary: 'An event, as the HTTP API shows it',
    headers: {
      type: 'object',
      required: [messageIdHeader],
      properties: {
        [messageIdHeader]: messageId,
        [occurredAtHeader]: {
          type: 'string',
          format: 'date-time',
          description:
            'When it happened by the platform’s own clock; on events of the platform only. `created` is when it was received.',
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
    summary: 'An event that goes out once more: as it was then, but for its origin',
    headers: {
      type: 'object',
      required: [messageIdHeader],
      properties: {
        [messageIdHeader]: messageId,
        [connectionNameHeader]: {
          type: 'string',
          description:
            'The replay is meant for the live connections of this name; absent: for all, and for you',
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
      'The type of the event. All characters but `A-Z a-z 0-9 - _` are percent-encoded in UTF-8, since some mean something to ' +
      `NATS; of a type that has more than 512 bytes then, there is \`${typeToken('x'.repeat(513))}\`. The record has it whole.`,
    examples: ['channel-raid', 'stream.offline', 'größe'].map(typeToken),
  },
  broadcaster_user_id: {
    description:
      'The id of the channel, if the event data name one that has 1 to 64 characters of `A-Z a-z 0-9 - _`; ' +
      `else \`${broadcasterToken(null)}\`, as on raids, which name two channels`,
    examples: [exampleData.broadcaster_user_id, null].map(broadcasterToken),
  },
};

/** The subjects that other services read. */
export const natsChannels = {
  events: {
    address: addressOf(eventsStreamSubjects, '{origin}.{event_type}.{broadcaster_user_id}'),
    title: `The ${eventsStreamName} stream`,
    description:
      `Every stored event, tests too: on the JetStream stream \`${eventsStreamName}\`, from which you read by a consumer of your ` +
      `own, for example of \`${eventSubject('platform', 'channel-raid', null).replace(/_$/, '>')}\`.\n\n` +
      `**At least once**: an event may come twice, with the same \`${messageIdHeader}\`; de-duplicate by it. The order is that of ` +
      `the stream, which is about that of arrival; \`${occurredAtHeader}\` says when an event happened.\n\n` +
      '**Epochs**: sequences count within an epoch, 8 hexadecimal digits in the description of the stream ' +
      `(\`${printStreamDescription({ platform: 'simulator', epoch: '1a2b3c4d' })}\`). A stream that was made anew or has lost ` +
      'its end gets another one, and what it lost is published again: begin with a new consumer then.\n\n' +
      '**Kept** for `EVENTS_MAX_AGE_DAYS`, and `EVENTS_MAX_GB` at most; what is older, the HTTP API lists.',
    servers: [{ $ref: '#/servers/nats' }],
    parameters: {
      origin: {
        enum: [...eventOrigins],
        description:
          '`platform`: of the platform, or added by a client as if it were; `test`: a test, which must not be acted on',
      },
      ...parameters,
    },
    messages: { event: { $ref: '#/components/messages/event' } },
  },
  replays: {
    address: addressOf(replaySubjects, '{event_type}.{broadcaster_user_id}'),
    title: 'Replays',
    description:
      'Events that somebody has go out once more. On core NATS: whoever listens gets them, **at most once**, and nothing keeps ' +
      'them.',
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

function broadcasterToken(broadcasterUserId: string | null): string {
  return eventSubject('platform', 'channel-raid', broadcasterUserId).split('.')[3] ?? '';
}

function parse(record: string): JsonObject {
  return JSON.parse(record) as JsonObject; // holds: records are objects
}
