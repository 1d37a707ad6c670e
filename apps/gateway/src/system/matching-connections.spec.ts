import type { InstanceReport, OpenConnection, StoredEvent } from '@stream-events/contracts';
import { findMatching } from './matching-connections.js';

const raid: StoredEvent = {
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  eventId: 'm1',
  eventType: 'channel-raid',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: '{"to_broadcaster_user_id":"47","to_broadcaster_user_name":"Mira"}',
};

const connection = (name: string, filter?: object): OpenConnection => ({
  id: name,
  name,
  tokenName: null,
  username: 'ada',
  address: '203.0.113.7',
  transport: 'websocket',
  openedAt: 0,
  state: 'live',
  lagEvents: 0,
  unreadBytes: 0,
  takesControls: false,
  ...(filter && { filter }),
});

function namesOf(open: readonly OpenConnection[]): (string | null)[] {
  const report: InstanceReport = {
    ...{
      id: 'g1',
      service: 'gateway',
      version: '0.1.0',
      host: 'vm',
      processId: 1,
      startedAt: 0,
      uptimeSeconds: 0,
    },
    problems: [],
    measures: {},
    live: { count: open.length, open, closed: [] },
  };
  const [found] = findMatching([{ report, heardAt: 0, isSilent: false }], raid);
  return found?.report.live?.open.map(({ name }) => name) ?? [];
}

describe('findMatching', () => {
  it('leaves the connections whose filters and limits the event passes', () => {
    const open = [
      connection('all', {}),
      connection('raids', { eventType: ['channel-cheer', 'channel-raid'] }),
      connection('cheers', { eventType: ['channel-cheer'] }),
      connection('the channel', { limits: { channelIds: ['47'] } }),
      connection('another channel', { limits: { channelIds: ['48'] } }),
      connection('later events', { since: Date.parse('2100-01-01') }),
    ];
    expect(namesOf(open)).toEqual(['all', 'raids', 'the channel']);
  });

  it('leaves out a connection whose filters were not reported', () => {
    expect(namesOf([connection('no filters')])).toEqual([]);
  });
});
