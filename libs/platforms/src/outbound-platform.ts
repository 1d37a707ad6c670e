import type {
  LookUpPriority,
  PictureKind,
  PlatformStreamMessage,
  PlatformUserMessage,
} from '@stream-events/contracts';

/** What a subscription is about, with the platform's keys (`broadcaster_user_id`, …). */
export type Condition = Readonly<Record<string, string>>;

/** How a subscription's messages reach the service. */
export type SubscriptionTransport =
  | { method: 'webhook'; callback: string }
  | { method: 'conduit'; conduitId: string }
  | { method: 'websocket'; sessionId: string };

export const transportMethods = ['webhook', 'conduit', 'websocket'] as const;
export type TransportMethod = (typeof transportMethods)[number];

/** The transport of a new subscription. `secret` is the signing key for webhook messages: 10 to 100 ASCII characters. */
export type NewTransport =
  | { method: 'webhook'; callback: string; secret: string }
  | Exclude<SubscriptionTransport, { method: 'webhook' }>;

/** A subscription, as the platform lists it. */
export interface PlatformSubscription {
  id: string;
  /** `enabled`, or the reason why the subscription is not enabled. The platform may add values without notice. */
  status: string;
  type: string;
  version: string;
  condition: Condition;
  /** How much the subscription counts toward the platform's cost limit. */
  cost: number;
  /** Null when this version does not know the transport method. */
  transport: SubscriptionTransport | null;
}

/** One page of the application's subscriptions, including those that other programs created. */
export interface PlatformSubscriptionPage {
  subscriptions: PlatformSubscription[];
  /** The argument for the next page; null on the last page. */
  next: string | null;
  totalCost: number;
  maxTotalCost: number;
}

export interface NewSubscription {
  type: string;
  version: string;
  condition: Condition;
  transport: NewTransport;
}

export type CreateOutcome =
  | { kind: 'created'; subscription: PlatformSubscription }
  /** A subscription with this type, condition, and transport already exists. `id` is null when the platform does not return its id. */
  | { kind: 'exists'; id: string | null }
  /** The platform's limit on subscriptions or their cost is reached. */
  | { kind: 'limit_reached'; message: string }
  /** The platform rejects the subscription, for example because consent is missing (403), or the version no longer exists (410). */
  | { kind: 'refused'; status: number; message: string };

export interface Authorization {
  userId: string;
  /** Empty when the user has never given consent or has withdrawn it. */
  scopes: string[];
}

/** The URL of the picture of a user or a category. */
export interface PictureAddress {
  id: string;
  url: string;
}

export const maxAuthorizationUsers = 10;

/** Subscriptions send their messages to a conduit, which spreads the messages over its shards. */
export interface PlatformConduit {
  id: string;
  shardCount: number;
}

export interface PlatformShard {
  /** From 0 to the shard count minus one. */
  id: number;
  /** `enabled`, or the reason why the shard is not enabled. The platform may add values without notice. */
  status: string;
  /** The session that receives the shard's messages. Null when the shard's transport is not a WebSocket. */
  sessionId: string | null;
}

/** One page of a conduit's shards. Omits shards that never had a transport. */
export interface PlatformShardPage {
  shards: PlatformShard[];
  /** The argument for the next page; null on the last page. */
  next: string | null;
}

/** The platform's report that a shard has stopped receiving messages. */
export interface DisabledShard extends PlatformShard {
  conduitId: string;
}

export type ConduitOutcome =
  | { kind: 'created'; conduit: PlatformConduit }
  /** The platform's limit on conduits is reached. */
  | { kind: 'limit_reached'; message: string };

export type ShardOutcome =
  | { kind: 'assigned' }
  /** The platform rejects the session, for example because it is closed or already serves another shard. */
  | { kind: 'refused'; message: string }
  /** The conduit does not exist. */
  | { kind: 'gone' };

/** The calls that manage conduits. They throw the same errors as all other calls of an `OutboundPlatform`. */
export interface OutboundConduits {
  /** Returns all conduits of the application, including those of other installations. */
  listConduits(): Promise<PlatformConduit[]>;
  /** Makes a single attempt. When no reply arrives, the platform may or may not have created a conduit. */
  createConduit(shardCount: number): Promise<ConduitOutcome>;
  /** Returns false when the conduit does not exist. */
  resizeConduit(id: string, shardCount: number): Promise<boolean>;
  /** Deletes a conduit. Succeeds even when the conduit does not exist. */
  deleteConduit(id: string): Promise<void>;
  /** Returns one page of a conduit's shards, or null when the conduit does not exist. For `page`, pass `next` of the previous page. */
  listShards(conduitId: string, page?: string): Promise<PlatformShardPage | null>;
  assignShard(conduitId: string, shardId: number, sessionId: string): Promise<ShardOutcome>;
}

/**
 * The calls that the service makes to a platform. Every method throws PlatformUnavailableError when the platform does not reply in time,
 * rejects the call unexpectedly, or sends a malformed reply.
 */
export interface OutboundPlatform extends OutboundConduits {
  /** Looks up users by id and by login, at most 100 in total. Omits unknown users. */
  lookUpUsers(
    ids: readonly string[],
    logins: readonly string[],
    priority: LookUpPriority,
  ): Promise<PlatformUserMessage[]>;
  /** Looks up which of these users, at most 100, are live. Runs at background priority. */
  lookUpStreams(userIds: readonly string[]): Promise<{ streams: PlatformStreamMessage[]; askedAt: number }>;
  /** Returns one page of all subscriptions. For `page`, pass `next` of the previous page. */
  listSubscriptions(page?: string): Promise<PlatformSubscriptionPage>;
  createSubscription(wanted: NewSubscription): Promise<CreateOutcome>;
  /** Deletes a subscription. Succeeds even when the subscription does not exist. */
  deleteSubscription(id: string): Promise<void>;
  /** Returns the scopes that these users, at most 10, have granted to the application. Omits unknown users. Runs at background priority. */
  listAuthorizations(userIds: readonly string[]): Promise<Authorization[]>;
  /** Returns the URLs of the pictures of at most 100 users or categories. Omits unknown ids and those without a picture. */
  lookUpPictures(kind: PictureKind, ids: readonly string[]): Promise<PictureAddress[]>;
}

/** Requests to the authorization server, as metrics and logs name them. */
export type AuthorizationEndpoint = 'token' | 'device_code' | 'user_token' | 'validate' | 'revoke';

/** Calls, as metrics and logs name them. */
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

export interface ReplyHead {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The platform's reply, with a status below 500. */
export interface PlatformReply extends ReplyHead {
  /** Parsed JSON. Undefined when the reply has no body, or when a reply other than 2xx has a body that is not JSON. */
  body: unknown;
}

/** The platform's reply with any status, with its body unparsed. */
export interface PassedReply extends ReplyHead {
  bytes: Buffer;
}

/** A call to the platform's API. `PlatformCaller` adds the token. */
export interface PlatformCall {
  endpoint: Exclude<PlatformEndpoint, AuthorizationEndpoint | 'client_call'>;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  /** JSON text. */
  body?: string;
  priority: LookUpPriority;
}

/** Makes calls for an `OutboundPlatform`. Adds the token, waits for the shared rate budget, retries, and enforces time limits. */
export interface PlatformCaller {
  /**
   * Makes a call and passes its reply to `read`. `askedAt` is when the request was sent, in milliseconds since 1970. Handles status 401,
   * rate limiting, and status 500 and above itself; `read` handles every other status.
   *
   * @throws PlatformUnavailableError, or the database's own error, within the call's time limit
   */
  call<T>(call: PlatformCall, read: (reply: PlatformReply, askedAt: number) => T): Promise<T>;
}

export interface PlatformCredentials {
  clientId: string;
  clientSecret: string;
}

export interface PlatformUrls {
  api: string;
  auth: string;
  subscriptions: string;
  /** The WebSocket URL for event sockets. */
  socket: string;
}

export interface IssuedToken {
  token: string;
  expiresInMs: number;
}

/** The rate limit, as the headers of a reply report it. */
export interface RateLimitReport {
  callsPerMinute: number;
  remaining: number;
}

/** The parts that all calls to a platform share: tokens, authorization, rate limit, and error messages. */
export interface PlatformProtocol {
  /** Returns the request that exchanges the application's credentials for an access token. */
  tokenRequest(
    authUrl: string,
    credentials: PlatformCredentials,
  ): { method: 'POST'; url: string; headers: Record<string, string>; body: string };
  /** Whether the reply to a token request means that the credentials are wrong. */
  isCredentialsRefusal(reply: PlatformReply): boolean;
  /** @throws PlatformCallError `malformed` */
  readToken(reply: PlatformReply): IssuedToken;
  authorize(token: string, clientId: string): Record<string, string>;
  /** Returns undefined when the reply does not report the rate limit. */
  readRateLimit(reply: ReplyHead): RateLimitReport | undefined;
  isRateLimited(reply: ReplyHead): boolean;
  /** Returns how long to wait until the platform accepts calls again, in milliseconds. */
  readResetMs(reply: ReplyHead): number;
  /** The reply headers, in lower case, that the service passes on to the client that made the call, in addition to `content-type`. */
  readonly passedHeaders: readonly string[];
  /** Returns the platform's explanation of a rejection as readable text. */
  readErrorMessage(body: unknown): string;
}
