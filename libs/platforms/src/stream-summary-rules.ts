/** What an event adds to the summary of a stream. Unless stated otherwise, each property holds the name of a key of `event_data`. */
export interface SummaryRule {
  /** The event type, as the service spells it. */
  eventType: string;
  adds: 'subscription' | 'renewal' | 'gifts' | 'bits';
  /** The key of the number to add. Without this property, the event adds 1. */
  amount?: string;
  tier?: string;
  /** The key that says whether another user paid for the subscription. */
  isGift?: string;
  /** The key of the id of the user who gave or cheered. Its value is null for an anonymous user. */
  userId?: string;
  userName?: string;
  isAnonymous?: string;
  /** Counts only events in which `key` has this value. */
  only?: { key: string; value: string };
  /** Ignores events in which `key` has this value. */
  except?: { key: string; value: string };
  /** Another event type that reports the same fact. When the stream has events of that type, this rule is skipped. */
  unless?: string;
}

/** What a raid adds to the summaries of both channels. The channels' ids are in the store's filter columns. */
export interface RaidRule {
  eventType: string;
  fromName: string;
  toName: string;
  viewers: string;
}

/** The platform-specific rules for the summary of a stream. An event type without a rule only adds to the number of events. */
export interface StreamSummaryRules {
  /** The event type of a new follower. */
  follower: string;
  /** The event type of a chat message. Its acting user is the chatter. */
  chatMessage: string;
  rules: readonly SummaryRule[];
  raids: readonly RaidRule[];
}
