import type { LiveEvent } from '@stream-events/client';
import { RepeatedEvents } from './repeated-events.js';

type Data = Record<string, unknown>;

const start = Date.parse('2026-11-28T20:00:00.000Z');

/** Returns the types of the events that get an alert. `after` is the time since the previous event, in seconds. */
function alertsOf(events: readonly (readonly [type: string, data: Data, after?: number])[]): string[] {
  const repeated = new RepeatedEvents();
  let at = start;
  return events.flatMap(([event_type, event_data, after = 1]) => {
    at += after * 1_000;
    const event: unknown = { event_type, event_data, created: new Date(at).toISOString() };
    return repeated.take(event as LiveEvent) ? [] : [event_type]; // Safe cast: the fields that are read.
  });
}

const notice = (notice_type: string, data: Data = {}) =>
  ['channel-chat-notification', { chatter_user_id: '7', notice_type, ...data }] as const;

describe(RepeatedEvents.name, () => {
  it('makes one alert of a community gift', () => {
    const recipients = ['1', '2', '3', '4', '5'].map(
      (user_id) => ['channel-subscribe', { user_id, is_gift: true }] as const,
    );
    const gift = ['channel-subscription-gift', { user_id: '7', total: 5 }] as const;
    const notices = recipients.map(() => notice('sub_gift', { sub_gift: { community_gift_id: 'g' } }));
    const events = [gift, ...recipients, notice('community_sub_gift'), ...notices];
    expect(alertsOf(events)).toEqual(['channel-subscription-gift']);
  });

  it.each([
    ['a cheer', ['channel-cheer', { user_id: '7', bits: 50 }], ['channel-bits-use', { user_id: '7', bits: 50, type: 'cheer' }]],
    ['an anonymous cheer', ['channel-cheer', { user_id: null, is_anonymous: true, bits: 1 }], ['channel-bits-use', { is_anonymous: true, bits: 1, type: 'cheer' }]],
    ['a raid', ['channel-raid', { from_broadcaster_user_id: '9' }], notice('raid', { raid: { user_id: '9' } })],
    ['a subscription', ['channel-subscribe', { user_id: '7', is_gift: false }], notice('sub')],
    ['a resubscription', ['channel-subscription-message', { user_id: '7' }], notice('resub')],
    ['a single gift', ['channel-subscription-gift', { user_id: '7', total: 1 }], notice('sub_gift', { sub_gift: { community_gift_id: null } })],
    ['a donation', ['channel-charity_campaign-donate', { user_id: '7' }], notice('charity_donation')],
    ['the end of a poll', ['channel-poll-end', { id: 'p', status: 'terminated' }], ['channel-poll-end', { id: 'p', status: 'archived' }, 900]],
  ] as const)('makes one alert of %s in either order', (_, first, second) => {
    expect(alertsOf([first, second])).toEqual([first[0]]);
    expect(alertsOf([second, first])).toEqual([second[0]]);
  }); // prettier-ignore

  it('makes an alert of each occurrence', () => {
    const cheer = ['channel-cheer', { user_id: '7', bits: 50 }] as const;
    const use = ['channel-bits-use', { user_id: '7', bits: 50, type: 'cheer' }] as const;
    expect(alertsOf([cheer, use, cheer, use])).toEqual(['channel-cheer', 'channel-cheer']);
    expect(alertsOf([cheer, ['channel-bits-use', use[1], 61]])).toEqual([
      'channel-cheer',
      'channel-bits-use',
    ]);
    const powerUp = ['channel-bits-use', { user_id: '7', bits: 50, type: 'power_up' }] as const;
    expect(alertsOf([cheer, powerUp])).toEqual(['channel-cheer', 'channel-bits-use']);
    expect(alertsOf([notice('announcement'), notice('announcement')])).toHaveLength(2);
  });
});
