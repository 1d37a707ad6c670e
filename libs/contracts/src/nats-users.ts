import { eventsStreamName, replaySubjects } from './events/event-subject.js';
import { ingestSubject, intakeSubject } from './events/ingest-stream.js';
import { storeEvents } from './events/store-events.contract.js';

/**
 * A NATS account: a space of subjects of its own, of which others see what they import and nothing else.
 *
 * ```
 *  SERVICES      requests, the INGEST stream, replays (live.replay.>)     a user of each service
 *     │ replays
 *     │             EVENTS   the EVENTS stream alone                      second users, of the services that use it
 *     ▼                │ the part of the JetStream API that reading takes
 *  SUBSCRIBERS ◀───────┘                                                  `subscriber`, for other services of yours
 * ```
 *
 * Subscribers have an account apart from the stream: within its account, whoever may read could have the broker answer on
 * any subject, that of the deletion of the stream included. What comes in by an import is answered in the importing account.
 */
export interface NatsAccount {
  name: string;
  hasJetStream: boolean;
  imports: readonly NatsImport[];
}

/** What an account gets from another one: its messages (`stream`), or answers to requests (`service`). */
export type NatsImport = { from: string } & (
  | { stream: string }
  // Singleton answers once; Stream again and again, as a pull does.
  | { service: string; responseType: 'Singleton' | 'Stream' }
);

/** Who may do what on NATS. Every service has users of its own; replies go to inboxes that no other user can read. */
export interface NatsUser {
  name: string;
  account: NatsAccount;
  publish: readonly string[];
  /** Exceptions from `publish`. */
  doNotPublish: readonly string[];
  subscribe: readonly string[];
  /** May answer the requests it gets, on whatever inbox they name. */
  servesRequests: boolean;
  /** The user whose password it shares; undefined: it has one of its own. */
  passwordOf?: string;
}

/** The prefix of a user's reply inboxes, one token of a subject. */
export function inboxPrefix(user: string): string {
  return `_INBOX_${user.replaceAll('.', '_')}`;
}

/** The name that the user of a service has in the account EVENTS, with the same password. */
export function eventsUserOf(user: string): string {
  return `${user}.events`;
}

/** The durable consumers of our services on the EVENTS stream, by the type of event that they read. */
export const durableConsumers = {
  'stream-online': 'streamer-monitor-stream-online',
  'stream-offline': 'streamer-monitor-stream-offline',
  'subscription-revocation': 'platform-connector-revocations',
} as const;

const pullEvents = `$JS.API.CONSUMER.MSG.NEXT.${eventsStreamName}.>`;

/** What reading the EVENTS stream takes, by pull consumers of one's own. */
const readEvents = [
  '$JS.API.INFO',
  `$JS.API.STREAM.INFO.${eventsStreamName}`,
  // Only with the name in the subject: where it is in the payload alone, no permission can tell whose consumer it is.
  `$JS.API.CONSUMER.CREATE.${eventsStreamName}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${eventsStreamName}.>`,
  // Not DELETE, of another service's consumer for instance: consumers of a subscriber's own end by their inactive_threshold.
  `$JS.API.CONSUMER.INFO.${eventsStreamName}.>`,
  pullEvents,
  `$JS.ACK.${eventsStreamName}.>`,
] as const;

/**
 * What NATS clients ask first (`nats stream ls`, `streams.list()`): the account EVENTS has one stream, so the answer says no
 * more than `STREAM.INFO`. Listing consumers stays forbidden: see `natsUsers`.
 */
const listStreams = ['$JS.API.STREAM.LIST', '$JS.API.STREAM.NAMES'] as const;

/** Making, changing, asking and acknowledging the durable consumers of our services. */
const useDurableConsumers = Object.values(durableConsumers).flatMap((name) => [
  `$JS.API.CONSUMER.*.${eventsStreamName}.${name}`,
  `$JS.API.CONSUMER.*.${eventsStreamName}.${name}.>`,
  `$JS.API.CONSUMER.*.*.${eventsStreamName}.${name}`,
  `$JS.ACK.${eventsStreamName}.${name}.>`,
]);

/** What a service that uses `libs/ingest` publishes: batches for the events service, and the fallback. */
const ingestEvents = [storeEvents.subject, ingestSubject] as const;

const services: NatsAccount = { name: 'SERVICES', hasJetStream: true, imports: [] };

const events: NatsAccount = { name: 'EVENTS', hasJetStream: true, imports: [] };

const subscribers: NatsAccount = {
  name: 'SUBSCRIBERS',
  hasJetStream: false,
  imports: [
    { from: services.name, stream: replaySubjects },
    ...[...readEvents, ...listStreams].map((service) => ({
      from: events.name,
      service,
      responseType: service === pullEvents ? ('Stream' as const) : ('Singleton' as const),
    })),
  ],
};

/** The user of a service in the account SERVICES. */
function serviceUser(
  name: string,
  permissions: Pick<NatsUser, 'publish' | 'subscribe' | 'servesRequests'>,
): NatsUser {
  const subscribe = [...permissions.subscribe, `${inboxPrefix(name)}.>`];
  return { ...permissions, name, account: services, doNotPublish: [], subscribe };
}

/** The same service's user in the account EVENTS. */
function eventsUser(service: string, publish: readonly string[]): NatsUser {
  const name = eventsUserOf(service);
  return {
    name,
    account: events,
    publish,
    doNotPublish: [],
    subscribe: [`${inboxPrefix(name)}.>`],
    servesRequests: false,
    passwordOf: service,
  };
}

/**
 * The users of the system. `subscriber` is for other services of yours: it reads events by pull consumers and hears
 * replays, and nothing else. It can list streams, but not consumers. The fixed names of our services' durable consumers are
 * denied to it one by one. The consumers of the gateways have random names, which no permission can match: a name is one
 * token of a subject, so a wildcard cannot match a part of it. A list would give these names away, and with a name the
 * subscriber could pull a gateway's events or replace its consumer.
 *
 * One thing nats-server 2.9 does not prevent (2.12 does): by a push consumer that delivers to the subject on which a durable
 * consumer is pulled, it can have that give events to nobody. They are delivered again after `ack_wait`, and our services do
 * not rely on events alone.
 */
export const natsUsers = {
  gateway: serviceUser('gateway', {
    // intakeSubject: gateways of version 0.1.0 use the same user during a rolling upgrade.
    publish: ['request.>', ...ingestEvents, intakeSubject, replaySubjects],
    subscribe: [replaySubjects],
    servesRequests: false,
  }),
  'gateway.events': eventsUser('gateway', [
    ...readEvents,
    // Catching up leaves consumers behind, many a second.
    `$JS.API.CONSUMER.DELETE.${eventsStreamName}.>`,
  ]),
  // In the account SERVICES, JetStream holds the INGEST stream (and INTAKE, until it is drained).
  events: serviceUser('events', {
    publish: ['$JS.API.>', '$JS.ACK.>'],
    subscribe: ['request.events.>'],
    servesRequests: true,
  }),
  'events.events': eventsUser('events', ['events.>', '$JS.API.>', '$JS.ACK.>']),
  'platform-connector': serviceUser('platform-connector', {
    publish: ['request.streamer-monitor.list-monitored'],
    subscribe: ['request.platform-connector.>'],
    servesRequests: true,
  }),
  'platform-connector.events': eventsUser('platform-connector', readEvents),
  'streamer-monitor': serviceUser('streamer-monitor', {
    publish: [
      'request.platform-connector.look-up-users',
      'request.platform-connector.look-up-streams',
      'request.platform-connector.reconcile-subscriptions',
      // Streams are rebuilt from the event log.
      'request.events.list',
    ],
    subscribe: ['request.streamer-monitor.>'],
    servesRequests: true,
  }),
  'streamer-monitor.events': eventsUser('streamer-monitor', readEvents),
  subscriber: {
    name: 'subscriber',
    account: subscribers,
    publish: [...readEvents, ...listStreams],
    doNotPublish: useDurableConsumers,
    subscribe: [replaySubjects, `${inboxPrefix('subscriber')}.>`],
    servesRequests: false,
  },
} as const satisfies Record<string, NatsUser>;
