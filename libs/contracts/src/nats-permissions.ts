import { eventsStreamName, replaySubjects } from './events/event-subject.js';
import { liveUsageSubject } from './live/live-usage.js';
import { namedConnectionsSubject } from './live/named-connections.js';
import { ingestSubject, intakeSubject } from './events/ingest-message.js';
import { connectionReportSubject } from './platform/connection-report.js';
import { instanceReportSubject } from './system/instance-report.js';

/**
 * A NATS account, which is a separate space of subjects. Other accounts see only the subjects that they import from it.
 *
 * ```
 *  SERVICES      requests, the INGEST stream, replays (live.replay.>),    one user for each service
 *     │          live usage of the gateways (live.usage), messages to named connections (live.connections), and the
 *     │          reports of all instances (system.instances) and of completed connections (platform.connections)
 *     │ replays, and the consumer gate
 *     │             EVENTS   only the EVENTS stream                       a second user for each service that uses it
 *     ▼                │ the part of the JetStream API that reading needs
 *  SUBSCRIBERS ◀───────┘                                                  `subscriber`, for your own services
 * ```
 *
 * When a subscriber requests a consumer, the request is sent to the events service instead of JetStream. The events service checks the
 * request (`ConsumerGate`), because permissions cannot inspect the payload and nats-server has no limits for a single user.
 *
 * Subscribers use a different account than the stream. Within the stream's account, a reader could make the broker reply on any subject,
 * even on the one that deletes the stream. Replies to an imported request stay in the importing account.
 */
export interface NatsAccount {
  name: string;
  hasJetStream: boolean;
  imports: readonly NatsImport[];
}

/** What an account imports from another one: messages (`stream`), or replies to requests (`service`). */
export type NatsImport = { from: string } & (
  | { stream: string }
  // A `Singleton` request has one reply. A `Stream` request, such as a pull request, has many. `as` is the name of the subject in the
  // importing account.
  | { service: string; responseType: 'Singleton' | 'Stream'; as?: string }
);

/** A NATS user and its permissions. Every service has its own users, and no user can read the reply inboxes of another. */
export interface NatsUser {
  name: string;
  account: NatsAccount;
  publish: readonly string[];
  /** Exceptions to `publish`. */
  doNotPublish: readonly string[];
  subscribe: readonly string[];
  /** Whether the user may reply to the requests that it receives, on the inbox that each request names. */
  servesRequests: boolean;
  /** The name of the user whose password this user shares. Undefined when this user has its own password. */
  passwordOf?: string;
}

/** Returns the prefix of a user's reply inboxes: one token of a subject. */
export function inboxPrefix(user: string): string {
  return `_INBOX_${user.replaceAll('.', '_')}`;
}

/** Returns the name of a service's second user, in the account EVENTS. Both users of a service have the same password. */
export function eventsUserOf(user: string): string {
  return `${user}.events`;
}

/** The durable consumers of our services on the EVENTS stream, by the event type that each consumer reads. */
export const durableConsumers = {
  'stream-online': 'streamer-monitor-stream-online',
  'stream-offline': 'streamer-monitor-stream-offline',
  'subscription-revocation': 'platform-connector-revocations',
  'user-authorization-grant': 'platform-connector-grants',
  'user-authorization-revoke': 'platform-connector-withdrawals',
} as const;

const pullEvents = `$JS.API.CONSUMER.MSG.NEXT.${eventsStreamName}.>`;

/**
 * The JetStream requests that create a consumer. `api` is the beginning of the subject of such a request. `gate` is the beginning of the
 * subject on which the events service receives such requests from subscribers. In both subjects, the consumer's name follows.
 */
export const consumerCreation = [
  // The consumer's name must be in the subject, because permissions cannot restrict a name in the payload.
  { api: `$JS.API.CONSUMER.CREATE.${eventsStreamName}`, gate: 'subscribers.create-consumer' },
  {
    api: `$JS.API.CONSUMER.DURABLE.CREATE.${eventsStreamName}`,
    gate: 'subscribers.create-durable-consumer',
  },
] as const;

/** The permissions that a user needs to use its own pull consumers on the EVENTS stream. */
const useConsumers = [
  '$JS.API.INFO',
  `$JS.API.STREAM.INFO.${eventsStreamName}`,
  // DELETE is not permitted, because it could delete another service's consumer. Unused consumers expire after their inactive_threshold.
  `$JS.API.CONSUMER.INFO.${eventsStreamName}.>`,
  pullEvents,
  `$JS.ACK.${eventsStreamName}.>`,
] as const;

/** The permissions that a user needs to read the EVENTS stream with its own pull consumers. */
const readEvents = [...consumerCreation.map(({ api }) => `${api}.>`), ...useConsumers];

/**
 * The requests that NATS clients send first (`nats stream ls`, `streams.list()`). The account EVENTS has one stream, so the reply reveals
 * no more than `STREAM.INFO`. Listing consumers stays forbidden: see `natsUsers`.
 */
const listStreams = ['$JS.API.STREAM.LIST', '$JS.API.STREAM.NAMES'] as const;

/** The permissions to create, change, pull from, and acknowledge on the durable consumers of our services. */
const useDurableConsumers = Object.values(durableConsumers).flatMap((name) => [
  `$JS.API.CONSUMER.*.${eventsStreamName}.${name}`,
  `$JS.API.CONSUMER.*.${eventsStreamName}.${name}.>`,
  `$JS.API.CONSUMER.*.*.${eventsStreamName}.${name}`,
  `$JS.ACK.${eventsStreamName}.${name}.>`,
]);

const services: NatsAccount = { name: 'SERVICES', hasJetStream: true, imports: [] };

const events: NatsAccount = { name: 'EVENTS', hasJetStream: true, imports: [] };

const subscribers: NatsAccount = {
  name: 'SUBSCRIBERS',
  hasJetStream: false,
  imports: [
    { from: services.name, stream: replaySubjects },
    ...consumerCreation.map(({ api, gate }) => ({
      from: services.name,
      service: `${gate}.>`,
      as: `${api}.>`,
      responseType: 'Singleton' as const,
    })),
    ...[...useConsumers, ...listStreams].map((service) => ({
      from: events.name,
      service,
      responseType: service === pullEvents ? ('Stream' as const) : ('Singleton' as const),
    })),
  ],
};

/** Returns a service's user in the account SERVICES. */
function serviceUser(
  name: string,
  permissions: Pick<NatsUser, 'publish' | 'subscribe' | 'servesRequests'>,
): NatsUser {
  const subscribe = [...permissions.subscribe, `${inboxPrefix(name)}.>`];
  return { ...permissions, name, account: services, doNotPublish: [], subscribe };
}

/** Returns a service's second user, in the account EVENTS. */
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
 * The users of the system. `subscriber` is for your own services: it reads events with pull consumers, receives replays, and has no other
 * permissions. It can list streams, but not consumers. Its permissions deny each of our services' durable consumers by its fixed name.
 * Permissions cannot deny the gateways' consumers, which have random names: a name is one token of a subject, and a wildcard cannot match a
 * part of a token. A list of consumers would reveal these names, and a subscriber that knows a name could pull a gateway's events or
 * replace its consumer.
 *
 * The consumer gate refuses push consumers. On nats-server 2.9, a push consumer could deliver to the pull subject of a durable consumer,
 * which would then deliver its events to no one.
 */
export const natsUsers = {
  gateway: serviceUser('gateway', {
    // Gateways of version 0.1.0 publish on intakeSubject. During a rolling upgrade, they use the same user.
    publish: [
      'request.>',
      ingestSubject,
      intakeSubject,
      replaySubjects,
      liveUsageSubject,
      namedConnectionsSubject,
      instanceReportSubject,
    ],
    subscribe: [
      replaySubjects,
      liveUsageSubject,
      namedConnectionsSubject,
      instanceReportSubject,
      connectionReportSubject,
    ],
    // Gateways reply to the messages on namedConnectionsSubject.
    servesRequests: true,
  }),
  'gateway.events': eventsUser('gateway', [
    ...readEvents,
    // When clients catch up, a gateway creates many consumers per second, and deletes each after its use.
    `$JS.API.CONSUMER.DELETE.${eventsStreamName}.>`,
  ]),
  // In the account SERVICES, JetStream holds the INGEST stream (and INTAKE, until it is drained).
  events: serviceUser('events', {
    publish: [
      '$JS.API.>',
      '$JS.ACK.>',
      // For erasing a user who is a monitored streamer.
      'request.streamer-monitor.list-streamers',
      'request.streamer-monitor.erase-streamer',
      instanceReportSubject,
    ],
    subscribe: ['request.events.>', ...consumerCreation.map(({ gate }) => `${gate}.>`)],
    servesRequests: true,
  }),
  'events.events': eventsUser('events', ['events.>', '$JS.API.>', '$JS.ACK.>']),
  'platform-connector': serviceUser('platform-connector', {
    publish: [
      'request.streamer-monitor.list-monitored',
      // A silent channel raises an alarm only while the channel is live.
      'request.streamer-monitor.find-live-streams',
      // For monitoring a channel that has given consent.
      'request.streamer-monitor.create-streamer',
      // For moving subscriptions to another webhook secret.
      'request.events.begin-overlaps',
      'request.events.end-overlaps',
      // For storing messages that arrive over sockets.
      'request.events.store',
      'request.events.store-batch',
      ingestSubject,
      instanceReportSubject,
      connectionReportSubject,
    ],
    subscribe: ['request.platform-connector.>'],
    servesRequests: true,
  }),
  'platform-connector.events': eventsUser('platform-connector', readEvents),
  'streamer-monitor': serviceUser('streamer-monitor', {
    publish: [
      'request.platform-connector.look-up-users',
      'request.platform-connector.look-up-streams',
      'request.platform-connector.reconcile-subscriptions',
      // For deleting the chosen event types of a deleted streamer.
      'request.platform-connector.set-streamer-event-types',
      // For rebuilding streams from the event log.
      'request.events.list',
      instanceReportSubject,
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
