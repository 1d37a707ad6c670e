import type {
  LookUpPriority,
  PictureKind,
  PlatformStreamMessage,
  PlatformUserMessage,
} from '@stream-events/contracts';

/** The subject of a subscription, by the platform's keys (`broadcaster_user_id`, …). */
export type Condition = Readonly<Record<string, string>>;

/** How the messages of a subscription reach the service. */
export type SubscriptionTransport =
  | { method: 'webhook'; callback: string }
  | { method: 'conduit'; conduitId: string }
  | { method: 'websocket'; sessionId: string };

/** The methods of transports. */
export const transportMethods = ['webhook', 'conduit', 'websocket'] as const;
export type TransportMethod = (typeof transportMethods)[number];

/** The transport of a new subscription. `secret` signs the messages: 10 to 100 ASCII characters. */
export type NewTransport =
  | { method: 'webhook'; callback: string; secret: string }
  | Exclude<SubscriptionTransport, { method: 'webhook' }>;

/** A subscription as the platform lists it. */
export interface PlatformSubscription {
  id: string;
  /** `enabled`, or the reason why the subscription is not enabled. The platform may add values without notice. */
  status: string;
  type: string;
  version: string;
  condition: Condition;
  /** The cost that counts toward the platform's limit. */
  cost: number;
  /** Null for a method that this version does not know. */
  transport: SubscriptionTransport | null;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** One page of the application's subscriptions, including those that other programs created. */
export interface PlatformSubscriptionPage {
  subscriptions: PlatformSubscription[];
  /** The argument that requests the next page; null means the end. */
  next: string | null;
  totalCost: number;
  maxTotalCost: number;
}

/** A subscription to create. */
export interface NewSubscription {
  type: string;
  version: string;
  condition: Condition;
  transport: NewTransport;
}

/** The platform's reply to a request to create a subscription. */
export type CreateOutcome =
  | { kind: 'created'; subscription: PlatformSubscription }
  /** A subscription with this type and condition already exists; `id` is null when the platform does not return the id. */
  | { kind: 'exists'; id: string | null }
  /** The platform's limit on subscriptions or their cost is reached. */
  | { kind: 'limit_reached'; message: string }
  /** The platform rejects this subscription: consent is missing (403), the user is unknown (400), the version is gone (410). */
  | { kind: 'refused'; status: number; message: string };

/** The scopes that a user has granted to the application. */
export interface Authorization {
  userId: string;
  /** Empty when the user has not given consent, or has withdrawn it. */
  scopes: string[];
}

/** The URL of the picture of a user or a category. */
export interface PictureAddress {
  id: string;
  url: string;
}

/** The maximum number of users that `listAuthorizations` accepts. */
export const maxAuthorizationUsers = 10;

/** A conduit: subscriptions point to it, and it spreads their messages over its shards. */
export interface PlatformConduit {
  id: string;
  shardCount: number;
}

/** A shard of a conduit. */
export interface PlatformShard {
  /** From 0 to the shard count minus one. */
  id: number;
  /** `enabled`, or the reason why the shard is not enabled. The platform may add values without notice. */
  status: string;
  /** The session that receives the shard's messages; null when the shard has another kind of transport. */
  sessionId: string | null;
}

/** One page of the shards that have or had a transport. */
export interface PlatformShardPage {
  shards: PlatformShard[];
  /** The argument that requests the next page; null means the end. */
  next: string | null;
}

/** The platform's report that a shard no longer receives messages. */
export interface DisabledShard extends PlatformShard {
  conduitId: string;
}

/** The platform's reply to a request to create a conduit. */
export type ConduitOutcome =
  | { kind: 'created'; conduit: PlatformConduit }
  /** The platform's limit on conduits is reached. */
  | { kind: 'limit_reached'; message: string };

/** The platform's reply to the assignment of a session to a shard. */
export type ShardOutcome =
  | { kind: 'assigned' }
  /** The session is closed or already serves another shard. */
  | { kind: 'refused'; message: string }
  /** The conduit does not exist. */
  | { kind: 'gone' };

/** The calls that manage conduits. They throw the same errors as all calls of an `OutboundPlatform`. */
export interface OutboundConduits {
  /** Returns all conduits of the application, including those of other installations. */
  listConduits(): Promise<PlatformConduit[]>;
  /** Makes one attempt: without a reply, it is unknown whether the platform created a conduit. */
  createConduit(shardCount: number): Promise<ConduitOutcome>;
  /** Returns false when the conduit does not exist. */
  resizeConduit(id: string, shardCount: number): Promise<boolean>;
  /** Deletes a conduit. Succeeds when the conduit does not exist. */
  deleteConduit(id: string): Promise<void>;
  /** Returns one page of a conduit's shards; `page` is `next` of the previous page. Returns null when the conduit does not exist. */
  listShards(conduitId: string, page?: string): Promise<PlatformShardPage | null>;
  assignShard(conduitId: string, shardId: number, sessionId: string): Promise<ShardOutcome>;
}

/**
 * The calls that the service makes to a platform. Every method throws PlatformUnavailableError when the platform does not
 * reply in time, rejects the call for now, or sends a malformed reply.
 */
export interface OutboundPlatform extends OutboundConduits {
  /** Looks up users by id and by login, at most 100 in total. Unknown users are missing from the result. */
  lookUpUsers(
    ids: readonly string[],
    logins: readonly string[],
    priority: LookUpPriority,
  ): Promise<PlatformUserMessage[]>;
  /** Looks up which of these users, at most 100, are live. Runs with background priority. */
  lookUpStreams(userIds: readonly string[]): Promise<{ streams: PlatformStreamMessage[]; askedAt: number }>;
  /** Returns one page of all subscriptions; `page` is `next` of the previous page. */
  listSubscriptions(page?: string): Promise<PlatformSubscriptionPage>;
  createSubscription(wanted: NewSubscription): Promise<CreateOutcome>;
  /** Deletes a subscription. Succeeds when the subscription does not exist. */
  deleteSubscription(id: string): Promise<void>;
  /**
   * Returns the scopes that these users, at most 10, have granted to the application. Unknown users are missing from the result. Runs with
   * background priority.
   */
  listAuthorizations(userIds: readonly string[]): Promise<Authorization[]>;
  /**
   * Returns the URLs of the pictures of at most 100 users or categories. Users and categories without a picture are missing from the
   * result.
   */
  lookUpPictures(kind: PictureKind, ids: readonly string[]): Promise<PictureAddress[]>;
}

/** The kinds of requests to the authorization server, by their names in metrics and logs. */
export type AuthorizationEndpoint = 'token' | 'device_code' | 'user_token' | 'validate' | 'revoke';

/** The kinds of calls, by their names in metrics and logs. */
export type PlatformEndpoint =
  | AuthorizationEndpoint
  | 'users'
  | 'streams'
  | 'list_subscriptions'
  | 'create_subscription'
  | 'delete_subscription'
  | 'list_authorizations'
  | 'client_call'
  | 'list_conduits'
  | 'create_conduit'
  | 'update_conduit'
  | 'delete_conduit'
  | 'list_shards'
  | 'assign_shard'
  | 'games';

/** The status and the headers of a reply. */
export interface ReplyHead {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A reply of the platform with a status below 500. */
export interface PlatformReply extends ReplyHead {
  /** Parsed JSON. Undefined when the reply has no body, or has a status other than 2xx and a body that is not JSON. */
  body: unknown;
}

/** A reply of the platform with any status, as it was sent. */
export interface PassedReply extends ReplyHead {
  bytes: Buffer;
}

/** A call to the platform's API as the application. */
export interface PlatformCall {
  endpoint: Exclude<PlatformEndpoint, AuthorizationEndpoint | 'client_call'>;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  /** JSON text. */
  body?: string;
  priority: LookUpPriority;
}

/** Makes the calls of an `OutboundPlatform`: with a token, the shared rate budget, retries, and time limits. */
export interface PlatformCaller {
  /**
   * Makes a call and passes its reply to `read`. `askedAt` is when the request was sent, in milliseconds since 1970. Handles
   * 401 and the rate limit; `read` handles every other status below 500.
   *
   * @throws PlatformUnavailableError, or the database's error, within the call's time limit
   */
  call<T>(call: PlatformCall, read: (reply: PlatformReply, askedAt: number) => T): Promise<T>;
}

/** The credentials of the application on the platform. */
export interface PlatformCredentials {
  clientId: string;
  clientSecret: string;
}

/** Base URLs of the platform. */
export interface PlatformUrls {
  api: string;
  auth: string;
  subscriptions: string;
  /** The URL to which event sockets connect. */
  socket: string;
}

/** An access token as the platform issues it. */
export interface IssuedToken {
  token: string;
  expiresInMs: number;
}

/** The rate limit as the headers of a reply report it. */
export interface RateLimitReport {
  callsPerMinute: number;
  remaining: number;
}

/** The wire shapes that every call of a platform shares: tokens, authorization, rate limit, and error messages. */
export interface PlatformProtocol {
  /** Returns the request that exchanges the application's credentials for an access token. */
  tokenRequest(
    authUrl: string,
    credentials: PlatformCredentials,
  ): { method: 'POST'; url: string; headers: Record<string, string>; body: string };
  /** Whether a reply to the token request rejects the credentials. */
  isCredentialsRefusal(reply: PlatformReply): boolean;
  /** @throws PlatformCallError `malformed` */
  readToken(reply: PlatformReply): IssuedToken;
  /** Returns the headers that authorize a call to the API. */
  authorize(token: string, clientId: string): Record<string, string>;
  /** Returns undefined when the headers do not report the rate limit. */
  readRateLimit(reply: ReplyHead): RateLimitReport | undefined;
  /** Whether the reply rejects the call because of the rate limit. */
  isRateLimited(reply: ReplyHead): boolean;
  /** Returns the milliseconds until calls are possible again. */
  readResetMs(reply: ReplyHead): number;
  /** The names, in lower case, of the reply headers that the service passes to the client that made the call. */
  readonly passedHeaders: readonly string[];
  /** Returns the platform's explanation of a rejection, as readable text. */
  readErrorMessage(body: unknown): string;
}
