import { eventsStreamName, replaySubjects } from './events/event-subject.js';
import { intakeSubject } from './events/intake-stream.js';

/** Who may do what on NATS. Every service has a user of its own; replies go to inboxes that no other user can read. */
export interface NatsUser {
  name: string;
  publish: readonly string[];
  subscribe: readonly string[];
  /** May answer the requests it gets, on whatever inbox they name. */
  servesRequests: boolean;
}

/** The prefix of a user's reply inboxes. */
export function inboxPrefix(user: string): string {
  return `_INBOX_${user}`;
}

/** What reading the EVENTS stream takes, by consumers of one's own. */
const consumingEvents = [
  '$JS.API.INFO',
  `$JS.API.STREAM.INFO.${eventsStreamName}`,
  // Not DELETE, of another service's consumer for instance: what a subscriber leaves behind expires.
  `$JS.API.CONSUMER.CREATE.${eventsStreamName}`,
  `$JS.API.CONSUMER.CREATE.${eventsStreamName}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${eventsStreamName}.>`,
  `$JS.API.CONSUMER.INFO.${eventsStreamName}.>`,
  `$JS.API.CONSUMER.MSG.NEXT.${eventsStreamName}.>`,
  `$JS.ACK.${eventsStreamName}.>`,
  `$JS.FC.${eventsStreamName}.>`,
] as const;

/**
 * The users of the system. `subscriber` is for other services of yours, which you trust: it reads events, and can neither
 * publish, nor change the stream, nor delete a consumer. But it can take messages from the consumers of others, and have
 * the broker push events to any subject, which would be parked as unreadable if that is the one of INTAKE.
 */
export const natsUsers = {
  gateway: {
    name: 'gateway',
    publish: [
      'request.>',
      intakeSubject,
      replaySubjects,
      ...consumingEvents,
      // Catching up leaves consumers behind, many a second.
      `$JS.API.CONSUMER.DELETE.${eventsStreamName}.>`,
    ],
    subscribe: [replaySubjects, `${inboxPrefix('gateway')}.>`],
    servesRequests: false,
  },
  events: {
    name: 'events',
    publish: ['events.>', '$JS.API.>', '$JS.ACK.>'],
    subscribe: ['request.events.>', `${inboxPrefix('events')}.>`],
    servesRequests: true,
  },
  'platform-connector': {
    name: 'platform-connector',
    publish: ['request.streamer-monitor.list-monitored', ...consumingEvents],
    subscribe: ['request.platform-connector.>', `${inboxPrefix('platform-connector')}.>`],
    servesRequests: true,
  },
  'streamer-monitor': {
    name: 'streamer-monitor',
    publish: [
      'request.platform-connector.look-up-users',
      'request.platform-connector.look-up-streams',
      'request.platform-connector.reconcile-subscriptions',
      // Streams are rebuilt from the event log.
      'request.events.list',
      ...consumingEvents,
    ],
    subscribe: ['request.streamer-monitor.>', `${inboxPrefix('streamer-monitor')}.>`],
    servesRequests: true,
  },
  subscriber: {
    name: 'subscriber',
    publish: consumingEvents,
    subscribe: [replaySubjects, `${inboxPrefix('subscriber')}.>`],
    servesRequests: false,
  },
} as const satisfies Record<string, NatsUser>;
