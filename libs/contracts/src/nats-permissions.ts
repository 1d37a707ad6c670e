import { connectorStoredUsers, gatewayStoredUsers } from './events/stored-users.contract.js';
import { eventsStreamName, replaySubjects } from './events/event-subject.js';
import { namedConnectionsSubject } from './live/named-connections.js';
import { ingestSubject } from './events/ingest-message.js';
import { connectionReportSubject } from './platform/connection-report.js';
import { instanceReportSubject } from './system/instance-report.js';

/**
 * A NATS account is a separate space of subjects. Other accounts see only the subjects that they import from it.
 *
 * ```
 *  SERVICES      requests, the INGEST stream, replays (live.replay.>),    one user for each service
 *     │          messages to named connections (live.connections), and the reports of all instances (system.instances)
 *     │          and of completed connections (platform.connections)
 *     │ replays, and the consumer gate
 *     │             EVENTS   only the EVENTS stream                       a second user for each service that uses it
 *     ▼                │ the part of the JetStream API that reading needs
 *  SUBSCRIBERS ◀───────┘                                                  `subscriber`, for your own services
 * ```
 *
 * When a subscriber asks for a consumer, NATS sends the request to the events service instead of JetStream. The events service checks it
 * (`ConsumerGate`), because permissions cannot inspect a payload, and nats-server cannot limit a single user.
 *
 * Subscribers and the EVENTS stream have different accounts. In the stream's own account, a reader could make the broker reply on any
 * subject, even on the one that deletes the stream. Replies to an imported request stay in the importing account.
 */
export interface NatsAccount {
  name: string;
  hasJetStream: boolean;
  imports: readonly NatsImport[];
}

/** What an account imports: messages (`stream`), or replies to requests (`service`). */
export type NatsImport = { from: string } & (
  | { stream: string }
  // `Singleton`: one reply. `Stream`: many, as for a pull request. `as` is the subject's name in the importing account.
  | { service: string; responseType: 'Singleton' | 'Stream'; as?: string }
);

/** A NATS user with its permissions. Services have their own users, and no user can read another's reply inboxes. */
export interface NatsUser {
  name: string;
  account: NatsAccount;
  publish: readonly string[];
  /** Exceptions to `publish`. */
  doNotPublish: readonly string[];
  subscribe: readonly string[];
  /**
   * Whether the user can reply to the requests that it receives: once for each request, on any subject that the request names. A user that
   * receives its own messages must not have this right, because it could then publish on every subject. `NatsServerStrategy` replies only
   * to inboxes, so a request cannot make a service publish elsewhere.
   */
  servesRequests: boolean;
  /** Name of the user whose password this user shares. Undefined if this user has its own password. */
  passwordOf?: string;
}

const inboxStart = '_INBOX_';

/** Returns the prefix of a user's reply inboxes. The prefix is one subject token. */
export function inboxPrefix(user: string): string {
  return `${inboxStart}${user.replaceAll('.', '_')}`;
}

/** Whether a subject is an inbox. The broker lets only the users in `natsUsers` subscribe to inboxes, each to its own. */
export function isInbox(subject: string): boolean {
  return subject.startsWith(inboxStart);
}

/** Returns the name of a service's second user, in the account EVENTS. Both users have the same password. */
export function eventsUserOf(user: string): string {
  return `${user}.events`;
}

/** Durable consumers of our own services on the EVENTS stream, and the types of the platform events that each one reads. */
export const durableConsumers = {
  'streamer-monitor-streams': ['stream-online', 'stream-offline'],
  'platform-connector-revocations': ['subscription-revocation'],
  'platform-connector-consents': ['user-authorization-grant', 'user-authorization-revoke'],
} as const;

export type DurableConsumerName = keyof typeof durableConsumers;

const pullEvents = `$JS.API.CONSUMER.MSG.NEXT.${eventsStreamName}.>`;

/**
 * Subject prefixes of the requests that create a consumer; the consumer's name follows. `api` is JetStream's subject. `gate` is where the
 * events service receives the request from subscribers.
 */
export const consumerCreation = [
  // The subject must contain the consumer's name, because permissions cannot restrict a name in the payload.
  { api: `$JS.API.CONSUMER.CREATE.${eventsStreamName}`, gate: 'subscribers.create-consumer' },
  {
    api: `$JS.API.CONSUMER.DURABLE.CREATE.${eventsStreamName}`,
    gate: 'subscribers.create-durable-consumer',
  },
] as const;

/** Permissions to use one's own pull consumers on the EVENTS stream. */
const useConsumers = [
  '$JS.API.INFO',
  `$JS.API.STREAM.INFO.${eventsStreamName}`,
  // DELETE is missing because a user could delete another service's consumer. Unused ephemeral consumers expire, and so do durable
  // consumers that have an inactive_threshold.
  `$JS.API.CONSUMER.INFO.${eventsStreamName}.>`,
  pullEvents,
  `$JS.ACK.${eventsStreamName}.>`,
] as const;

/** Permissions to create and use pull consumers on the EVENTS stream. */
const readEvents = [...consumerCreation.map(({ api }) => `${api}.>`), ...useConsumers];

/**
 * NATS clients send these requests first (`nats stream ls`, `streams.list()`). The account EVENTS has one stream, so the reply reveals no
 * more than `STREAM.INFO`. Listing consumers stays forbidden (see `natsUsers`).
 */
const listStreams = ['$JS.API.STREAM.LIST', '$JS.API.STREAM.NAMES'] as const;

/** Permissions to create, change, pull from, and acknowledge on our services' durable consumers. */
const useDurableConsumers = Object.keys(durableConsumers).flatMap((name) => [
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

/** Creates a service's user in the account SERVICES. */
function serviceUser(
  name: string,
  permissions: Pick<NatsUser, 'publish' | 'subscribe' | 'servesRequests'>,
): NatsUser {
  const subscribe = [...permissions.subscribe, `${inboxPrefix(name)}.>`];
  return { ...permissions, name, account: services, doNotPublish: [], subscribe };
}

/** Creates a service's second user, in the account EVENTS. */
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
 * All NATS users. `subscriber` is for your own services: it reads events with pull consumers and receives replays, and can do nothing else.
 *
 * `subscriber` can list streams but not consumers. Its permissions deny each durable consumer of our services by name. The gateways'
 * consumers have random names, which permissions cannot deny: a wildcard cannot match a part of a subject token. With a list of consumers,
 * a subscriber would learn these names, and could then pull a gateway's events or replace the gateway's consumer.
 *
 * The consumer gate rejects push consumers, because the broker would publish events on any subject that such a consumer names.
 */
export const natsUsers = {
  gateway: serviceUser('gateway', {
    publish: [
      'request.>',
      ingestSubject,
      replaySubjects,
      namedConnectionsSubject,
      instanceReportSubject,
      // Gateways reply to each other's messages on namedConnectionsSubject, and to the events service's requests.
      `${inboxPrefix('gateway')}.>`,
      `${inboxPrefix('events')}.>`,
    ],
    subscribe: [
      replaySubjects,
      namedConnectionsSubject,
      instanceReportSubject,
      connectionReportSubject,
      'request.gateway.>',
    ],
    servesRequests: false,
  }),
  'gateway.events': eventsUser('gateway', [
    ...readEvents,
    // When clients catch up, a gateway creates many consumers per second and deletes each one after use.
    `$JS.API.CONSUMER.DELETE.${eventsStreamName}.>`,
  ]),
  // JetStream of the account SERVICES has the INGEST stream.
  events: serviceUser('events', {
    publish: [
      '$JS.API.>',
      '$JS.ACK.>',
      // To erase a user who is a monitored streamer.
      'request.streamer-monitor.list-streamers',
      'request.streamer-monitor.erase-streamer',
      // To erase what other services store about a user.
      ...[connectorStoredUsers, gatewayStoredUsers].flatMap(({ list, erase }) => [
        list.subject,
        erase.subject,
      ]),
      instanceReportSubject,
    ],
    subscribe: ['request.events.>', ...consumerCreation.map(({ gate }) => `${gate}.>`)],
    servesRequests: true,
  }),
  'events.events': eventsUser('events', ['events.>', '$JS.API.>', '$JS.ACK.>']),
  'platform-connector': serviceUser('platform-connector', {
    publish: [
      'request.streamer-monitor.list-monitored',
      // To raise the alarm about a silent channel only while the channel is live.
      'request.streamer-monitor.find-live-streams',
      // To monitor a channel that has given consent.
      'request.streamer-monitor.create-streamer',
      // To store messages that arrive over sockets.
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
      // To delete a deleted streamer's chosen event types.
      'request.platform-connector.set-streamer-event-types',
      // To rebuild streams from the event log.
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
