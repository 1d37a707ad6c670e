import type { LookUpPriority, PlatformStreamMessage, PlatformUserMessage } from '@stream-events/contracts';

/** A condition: what a subscription is about, by the platform's keys (`broadcaster_user_id`, …). */
export type Condition = Readonly<Record<string, string>>;

/** A subscription as the platform has it. */
export interface PlatformSubscription {
  id: string;
  /** `enabled`, or why not; the platform may add values without notice. */
  status: string;
  type: string;
  version: string;
  condition: Condition;
  /** What it counts of the limit. */
  cost: number;
  /** Where its messages go; null when it is no webhook. */
  callback: string | null;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** One page of the subscriptions of the application, whoever made them. */
export interface PlatformSubscriptionPage {
  subscriptions: PlatformSubscription[];
  /** For the next page; null means the end. */
  next: string | null;
  totalCost: number;
  maxTotalCost: number;
}

/** A subscription that is wanted. */
export interface NewSubscription {
  type: string;
  version: string;
  condition: Condition;
  callback: string;
  /** Signs the messages: 10 to 100 ASCII characters. */
  secret: string;
}

/** What came of asking for a subscription. */
export type CreateOutcome =
  | { kind: 'created'; subscription: PlatformSubscription }
  /** There is one for this type and condition already; its id when the platform says it. */
  | { kind: 'exists'; id: string | null }
  /** The platform's limit on subscriptions or their cost is reached. */
  | { kind: 'limit_reached'; message: string }
  /** The platform will not have it as it is: a consent is missing (403), the user is unknown (400), the version is gone (410). */
  | { kind: 'refused'; status: number; message: string };

/**
 * A streaming platform, as far as this system needs one. Calls share one rate budget among all instances and are tried again
 * where that makes sense.
 *
 * All of them throw PlatformUnavailableError when the platform does not answer in time, refuses for the moment, or answers what makes no sense.
 */
export interface Platform {
  /** Users by id and by login, at most 100 together; unknown ones are missing. */
  lookUpUsers(
    ids: readonly string[],
    logins: readonly string[],
    priority: LookUpPriority,
  ): Promise<PlatformUserMessage[]>;
  /** Who of these users, at most 100, is live; in the background. */
  lookUpStreams(userIds: readonly string[]): Promise<{ streams: PlatformStreamMessage[]; askedAt: number }>;
  /** A page of all subscriptions; `page` is `next` of the page before. */
  listSubscriptions(page?: string): Promise<PlatformSubscriptionPage>;
  createSubscription(wanted: NewSubscription): Promise<CreateOutcome>;
  /** Deletes a subscription; one that is gone already counts as deleted. */
  deleteSubscription(id: string): Promise<void>;
}

/** Injection token of the platform. */
export const PLATFORM = Symbol('PLATFORM');

/** The platform cannot be used at the moment: why, and when trying again makes sense. */
export class PlatformUnavailableError extends Error {
  override readonly name = 'PlatformUnavailableError';

  constructor(
    message: string,
    readonly retryAfterSeconds: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
