import { firstIdAt } from '@stream-events/contracts';
import fc from 'fast-check';
import { LiveEvent } from '../stream/live-event.js';
import { compileFilter, describeFilter, type LiveFilter } from './live-filter.js';

const receivedAt = Date.UTC(2026, 10, 21, 12);

interface Record {
  event_type?: string;
  event_source?: string;
  event_id?: string | null;
  origin?: string;
  event_data?: object;
}

function eventOf(record: Record = {}): LiveEvent {
  const whole = {
    event_id: 'message-1',
    event_type: 'channel-follow',
    event_source: 'PlatformSub',
    event_data: { user_id: '7', user_name: 'Ann', broadcaster_user_id: '42', broadcaster_user_name: 'Bob' },
    origin: 'platform',
    ...record,
  };
  return new LiveEvent(firstIdAt(receivedAt), Buffer.from(JSON.stringify(whole)), '1a2b3c4d', 1);
}

const raid = {
  event_type: 'channel-raid',
  event_data: {
    from_broadcaster_user_id: 'a1',
    from_broadcaster_user_name: 'Ann',
    to_broadcaster_user_id: 'b1',
    to_broadcaster_user_name: 'Bob',
  },
};

const passes = (filter: LiveFilter, event = eventOf()): boolean => compileFilter(filter)?.(event) ?? true;

describe(compileFilter.name, () => {
  it.each<LiveFilter>([{}, { eventType: [] }, { userName: '' }])('is undefined for %j', (filter) => {
    expect(compileFilter(filter)).toBeUndefined();
  });

  it.each<[LiveFilter, LiveFilter]>([
    [{ eventType: ['channel-follow'] }, { eventType: ['channel-raid'] }],
    [{ eventType: ['x', 'channel-follow'] }, { eventType: ['Channel-Follow'] }],
    [{ userId: '7' }, { userId: '42' }],
    [{ userName: 'aNN' }, { userName: 'An' }],
    [{ broadcasterUserId: '42' }, { broadcasterUserId: '7' }],
    [{ origin: 'platform' }, { origin: 'test' }],
    [{ eventSource: 'PlatformSub' }, { eventSource: 'platformsub' }],
    [{ eventId: 'message-1' }, { eventId: 'Message-1' }],
    [{ since: receivedAt }, { since: receivedAt + 1 }],
    [{ until: receivedAt + 1 }, { until: receivedAt }],
    [
      { userId: '7', eventType: ['channel-follow'] },
      { userId: '7', eventType: ['channel-raid'] },
    ],
    [{ eventTypes: ['x', 'channel-follow'] }, { eventTypes: ['Channel-Follow'] }],
    [
      { eventTypes: ['channel-follow'], eventType: ['channel-follow', 'channel-raid'] },
      { eventTypes: ['channel-follow'], eventType: ['channel-raid'] },
    ],
    [{ channelId: '42' }, { channelId: '7' }],
    [{ since: 0 }, { raidFrom: 'Ann' }],
    [{ until: Number.MAX_SAFE_INTEGER }, { rewardId: 'x' }],
  ])('lets the event pass for %j, and not for %j', (wanted, other) => {
    expect([passes(wanted), passes(other)]).toEqual([true, false]);
  });

  it('matches raid filters on raids only', () => {
    expect(passes({ raidFrom: 'ann', raidTo: 'BOB' }, eventOf(raid))).toBe(true);
    expect(passes({ raidFrom: 'bob' }, eventOf(raid))).toBe(false);
    expect(passes({ raidFrom: 'ann' }, eventOf({ ...raid, event_type: 'channel-follow' }))).toBe(false);
  });

  it('matches a raid by the id of either of its channels', () => {
    for (const channelId of ['a1', 'b1']) expect(passes({ channelId }, eventOf(raid))).toBe(true);
    for (const channelId of ['A1', 'Ann', '42']) expect(passes({ channelId }, eventOf(raid))).toBe(false);
    expect(passes({ channelId: 'a1' }, eventOf({ ...raid, event_type: 'channel-follow' }))).toBe(false);
    expect(passes({ broadcasterUserId: 'b1' }, eventOf(raid))).toBe(false);
  });

  it('lets the events within the limits pass that match the filter', () => {
    const type = fc.constantFrom('raid', 'channel-raid', 'channel-follow');
    const channel = fc.constantFrom('c1', 'c2', 'c3');
    const types = fc.array(type, { maxLength: 3 });
    const limits = fc.record({ eventTypes: types, channelIds: fc.array(channel, { maxLength: 3 }) }, { requiredKeys: [] }); // prettier-ignore
    const filter = fc.record({ eventType: types, channelId: channel }, { requiredKeys: [] });
    const event = fc.record({ type, of: fc.option(channel), from: channel, to: channel });
    fc.assert(
      fc.property(event, limits, filter, ({ type: eventType, of, from, to }, allowed, wanted) => {
        const data = { broadcaster_user_id: of, from_broadcaster_user_id: from, to_broadcaster_user_id: to };
        const channels = eventType === 'channel-follow' ? [of] : [of, from, to];
        const isExpected = [
          !allowed.eventTypes || allowed.eventTypes.includes(eventType),
          !allowed.channelIds || allowed.channelIds.some((id) => channels.includes(id)),
          !wanted.eventType?.length || wanted.eventType.includes(eventType),
          !wanted.channelId || channels.includes(wanted.channelId),
        ].every(Boolean);

        const given = eventOf({ event_type: eventType, event_data: data });
        expect(passes({ ...wanted, limits: allowed }, given)).toBe(isExpected);
      }),
    );
  });

  it('does not match when the data lacks the field of a filter', () => {
    expect(passes({ userId: '7' }, eventOf({ event_data: {} }))).toBe(false);
    expect(passes({ eventId: 'null' }, eventOf({ event_id: null }))).toBe(false);
  });
});

describe(describeFilter.name, () => {
  it('is equal for the same filter in another order', () => {
    expect(describeFilter({ userId: '1', origin: 'test', eventType: ['b', 'a', 'b'] })).toBe(
      describeFilter({ eventType: ['a', 'b'], origin: 'test', userId: '1' }),
    );
  });

  it('differs for different filters', () => {
    expect(describeFilter({ userId: '1' })).not.toBe(describeFilter({ userName: '1' }));
    expect(describeFilter({ eventType: ['a'] })).not.toBe(describeFilter({ eventTypes: ['a'] }));
    expect(describeFilter({ eventType: ['a,b'] })).not.toBe(describeFilter({ eventType: ['a', 'b'] }));
  });

  it('is equal for equal limits, and differs for others', () => {
    const key = (eventTypes?: string[]): string =>
      describeFilter({ userId: '1', limits: eventTypes && { eventTypes } });

    expect(key(['a', 'b'])).toBe(key(['b', 'a']));
    expect(key()).toBe(describeFilter({ userId: '1' }));
    expect(new Set([key(), key([]), key(['a']), describeFilter({ eventTypes: ['a'], userId: '1' })]).size).toBe(4); // prettier-ignore
  });
});
