/** What an event adds to the summary of a stream. Unless stated otherwise, every property is the name of a key of `event_data`. */
export interface SummaryRule {
  /** The event type, as the service spells it. */
  eventType: string;
  adds: 'subscription' | 'renewal' | 'gifts' | 'bits';
  /** The number that the event adds. Without this key, the event adds 1. */
  amount?: string;
  tier?: string;
  /** The key that says whether another user paid for the subscription. */
  isGift?: string;
  /** The key of the user who gave or cheered, which is null for an anonymous user. */
  userId?: string;
  userName?: string;
  isAnonymous?: string;
  /** Counts only events whose key has this value. */
  only?: { key: string; value: string };
  /** Ignores events whose key has this value. */
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

/** The platform-specific rules for the summary of a stream. Events of types without a rule only increase the number of events. */
export interface StreamSummaryRules {
  /** The event type of a new follower. */
  follower: string;
  /** The event type of a chat message. Its acting user is the chatter. */
  chatMessage: string;
  rules: readonly SummaryRule[];
  raids: readonly RaidRule[];
}
