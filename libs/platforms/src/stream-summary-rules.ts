/** What an event adds to the summary of a stream. Every property is the name of a key of `event_data`, if not stated otherwise. */
export interface SummaryRule {
  /** The event type, as the service spells it. */
  eventType: string;
  adds: 'subscription' | 'renewal' | 'gifts' | 'bits';
  /** The number that the event adds. Without this key, the event adds 1. */
  amount?: string;
  tier?: string;
  /** Whether somebody else paid for the subscription. */
  isGift?: string;
  /** The user who gave or cheered; null for an anonymous user. */
  userId?: string;
  userName?: string;
  isAnonymous?: string;
  /** Only events count whose key has this value. */
  only?: { key: string; value: string };
  /** Events whose key has this value do not count. */
  except?: { key: string; value: string };
  /** An event type that reports the same fact. When the stream has events of that type, this rule does not apply. */
  unless?: string;
}

/** What a raid adds to the summaries of its two channels. The store's filter columns hold the ids of the channels. */
export interface RaidRule {
  eventType: string;
  fromName: string;
  toName: string;
  viewers: string;
}

/** The platform's knowledge that the summary of a stream needs. Types that are not listed only count as events. */
export interface StreamSummaryRules {
  /** The event type of a new follower. */
  follower: string;
  /** The event type of a chat message. Its acting user is the chatter. */
  chatMessage: string;
  rules: readonly SummaryRule[];
  raids: readonly RaidRule[];
}
