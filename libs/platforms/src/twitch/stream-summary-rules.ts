import type { RaidRule, StreamSummaryRules } from '../stream-summary-rules.js';

const user = { userId: 'user_id', userName: 'user_name' };
const cheerer = { ...user, isAnonymous: 'is_anonymous' };
const bitsUse = { eventType: 'channel-bits-use', adds: 'bits', amount: 'bits', ...user } as const;
const cheers = { key: 'type', value: 'cheer' };

const raid: RaidRule = {
  eventType: 'channel-raid',
  fromName: 'from_broadcaster_user_name',
  toName: 'to_broadcaster_user_name',
  viewers: 'viewers',
};

/**
 * What Twitch events add to the summary of a stream (FACTS.md §5). `channel-chat-notification` has no rule, because it
 * repeats subscriptions, gifts, and raids that other types report.
 */
export const streamSummaryRules: StreamSummaryRules = {
  follower: 'channel-follow',
  chatMessage: 'channel-chat-message',
  rules: [
    { eventType: 'channel-subscribe', adds: 'subscription', tier: 'tier', isGift: 'is_gift' },
    { eventType: 'channel-subscription-message', adds: 'renewal', tier: 'tier' },
    { eventType: 'channel-subscription-gift', adds: 'gifts', amount: 'total', ...cheerer },
    { eventType: 'channel-cheer', adds: 'bits', amount: 'bits', ...cheerer },
    // `channel-bits-use` also reports cheers. When both types are active, each cheer arrives as two events, so count only one.
    { ...bitsUse, only: cheers, unless: 'channel-cheer' },
    { ...bitsUse, except: cheers },
  ],
  // Clients add their own raids with the type `raid`.
  raids: [raid, { ...raid, eventType: 'raid' }],
};
