import type { NatsUser } from '@stream-events/embedded';
import { ownUser, withOwnAccounts } from './own-accounts.js';

const events = { name: 'EVENTS', hasJetStream: true, imports: [] };
const services = {
  name: 'SERVICES',
  hasJetStream: true,
  imports: [{ from: 'EVENTS', service: '$JS.API.INFO', responseType: 'Singleton' as const }],
};
const users: NatsUser[] = [
  {
    name: 'streamer-monitor',
    account: services,
    publish: ['request.events.>', '_INBOX_gateway.>'],
    subscribe: ['_INBOX_streamer-monitor.>'],
    servesRequests: true,
  },
  {
    name: 'streamer-monitor.events',
    account: events,
    publish: ['events.>'],
    doNotPublish: ['events.private'],
    subscribe: ['_INBOX_streamer-monitor_events.>'],
    passwordOf: 'streamer-monitor',
  },
];

it('gives the accounts, the users, and their inboxes new names', () => {
  expect(withOwnAccounts(users, 'b')).toEqual([
    {
      name: 'streamer-monitor-b',
      account: {
        name: 'SERVICES-b',
        hasJetStream: true,
        imports: [{ from: 'EVENTS-b', service: '$JS.API.INFO', responseType: 'Singleton' }],
      },
      publish: ['request.events.>', '_INBOX_gateway-b.>'],
      subscribe: ['_INBOX_streamer-monitor-b.>'],
      servesRequests: true,
    },
    {
      name: 'streamer-monitor-b.events',
      account: { ...events, name: 'EVENTS-b' },
      publish: ['events.>'],
      doNotPublish: ['events.private'],
      subscribe: ['_INBOX_streamer-monitor-b_events.>'],
      passwordOf: 'streamer-monitor-b',
    },
  ]);
});

it('names the second user of a service as the service does', () => {
  expect(ownUser('gateway.events', 'b')).toBe('gateway-b.events');
});
