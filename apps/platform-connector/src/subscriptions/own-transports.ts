import { Inject, Injectable } from '@nestjs/common';
import {
  readCallback,
  type Condition,
  type NewTransport,
  type SubscriptionTransport,
  type TransportMethod,
} from '@stream-events/platforms';
import { ConduitsRepository } from '../conduits/conduits.repository.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { UserSessionsRepository, type UserSessionState } from '../sockets/user-sessions.repository.js';
import { ReconciliationSchedule, type DeclaredTransports } from './reconciliation-schedule.repository.js';

/**
 * How a subscription's transport relates to the `wanted` one. `other`: another transport that also works. `removed`: a webhook whose
 * messages the gateways reject.
 */
export type TransportKind = 'wanted' | 'other' | 'removed';

/**
 * Which secret signs the messages to a callback: the `first` configured one, an `other` configured one, or a `removed` one, whose messages
 * the gateways reject.
 */
export type SecretKind = 'first' | 'other' | 'removed';

/** Recognizes the transports of this service. */
export class OwnTransports {
  /**
   * @param conduitId our conduit, or null. The application's other conduits belong to other installations
   *
   * @param sessions the users' sockets
   */
  constructor(
    private readonly declared: DeclaredTransports,
    private readonly conduitId: string | null = null,
    private readonly sessions: readonly UserSessionState[] = [],
  ) {}

  /** Returns the kind of a transport, or undefined when the transport is not ours. */
  kindOf(transport: SubscriptionTransport | null): TransportKind | undefined {
    const { method } = this.declared;
    switch (transport?.method) {
      case 'webhook': {
        const kind = this.secretKindOf(transport.callback);
        if (kind !== 'first') return kind;
        return method === 'webhook' ? 'wanted' : 'other';
      }
      case 'conduit':
        if (transport.conduitId !== this.conduitId) return undefined;
        return method === 'conduit' ? 'wanted' : 'other';
      case 'websocket':
        if (!this.sessions.some(({ sessionId }) => sessionId === transport.sessionId)) return undefined;
        return method === 'websocket' ? 'wanted' : 'other';
      default:
        return undefined;
    }
  }

  /**
   * Whether subscriptions with this transport count toward the same limit as new ones. Subscriptions over plain sockets count toward their
   * user's limit, all others toward the application's.
   */
  sharesLimit(transport: SubscriptionTransport | null): boolean {
    if (transport === null) return true;
    return (transport.method === 'websocket') === (this.declared.method === 'websocket');
  }

  /** Returns the kind of a callback's secret, or undefined when the callback is not ours. Each webhook secret has its own callback. */
  secretKindOf(callback: string): SecretKind | undefined {
    const { publicUrl, fingerprints } = this.declared;
    const fingerprint = publicUrl === null ? undefined : readCallback(publicUrl, callback);
    if (fingerprint === undefined) return undefined;
    if (fingerprint === fingerprints[0]) return 'first';
    return fingerprints.includes(fingerprint) ? 'other' : 'removed';
  }
}

/** Reads which transports are ours, as the last instance to start has declared them. */
@Injectable()
export class OwnTransportsReader {
  constructor(
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    private readonly schedule: ReconciliationSchedule,
    private readonly conduits: ConduitsRepository,
    private readonly sessions: UserSessionsRepository,
  ) {}

  /** Declares the transport and the secrets of this instance. */
  async declare(): Promise<void> {
    const { transport: method, webhook, webhookFingerprints: fingerprints } = this.settings;
    if (method !== null)
      await this.schedule.declareTransports({ method, publicUrl: webhook?.publicUrl ?? null, fingerprints });
  }

  /**
   * Returns false when an instance with another transport, public URL, or secrets has started later. This instance must then not move
   * subscriptions to its own transport.
   */
  async isCurrent(): Promise<boolean> {
    return this.isDeclared(await this.schedule.readTransports());
  }

  /**
   * Returns the transport that all instances want: the one that the last instance to start has declared. Null when no transport is
   * configured.
   */
  async method(): Promise<TransportMethod | null> {
    const { transport } = this.settings;
    return transport && ((await this.schedule.readTransports()).method ?? transport);
  }

  /** Returns a function that chooses a transport for a new subscription by its condition. Returns null while no transport is available. */
  async chooserForNew(): Promise<((condition: Condition) => NewTransport | null) | null> {
    if (this.settings.transport !== 'websocket') {
      const transport = await this.forNew();
      return transport && (() => transport);
    }
    const sessions = await this.sessions.ofConnected(this.settings.credentials?.clientId ?? '');
    return sessions.some(isUsable) ? (condition) => chooseSession(sessions, condition) : null;
  }

  /** Returns the webhook or conduit for all new subscriptions, or null while neither is available. */
  private async forNew(): Promise<NewTransport | null> {
    const { transport, webhook } = this.settings;
    if (transport === 'webhook' && webhook)
      return { method: 'webhook', callback: webhook.callback, secret: webhook.secret };
    const conduitId = transport === 'conduit' ? await this.findConduitId() : null;
    return conduitId === null ? null : { method: 'conduit', conduitId };
  }

  /** Reads our transports and the declaration. Returns null when no transport is configured. */
  async read(): Promise<{
    own: OwnTransports;
    method: TransportMethod;
    isCurrent: boolean;
    hasOtherSecrets: boolean;
  } | null> {
    const { transport } = this.settings;
    if (transport === null) return null;
    const [declared, conduitId, sessions] = await Promise.all([
      this.schedule.readTransports(),
      this.findConduitId(),
      this.sessions.all(),
    ]);
    return {
      own: new OwnTransports(declared, conduitId, sessions),
      method: declared.method ?? transport,
      isCurrent: this.isDeclared(declared),
      hasOtherSecrets: declared.fingerprints.length > 1,
    };
  }

  /** Returns false while the configured transport is a conduit whose shards are not all enabled. Then no subscription may move to it. */
  async isWorking(): Promise<boolean> {
    const { transport, credentials } = this.settings;
    return (
      transport !== 'conduit' || (credentials !== undefined && this.conduits.isWorking(credentials.clientId))
    );
  }

  /** Retires the conduit when another transport is configured and none of the listed subscriptions uses the conduit. */
  async retire(listed: readonly { transport: SubscriptionTransport | null }[]): Promise<void> {
    const clientId = this.settings.credentials?.clientId;
    if (clientId === undefined || this.settings.transport === 'conduit') return;
    // Also null when a conduit is wanted but not created yet.
    const conduitId = await this.findConduitId();
    const isUsed = listed.some(
      ({ transport }) => transport?.method === 'conduit' && transport.conduitId === conduitId,
    );
    if (!isUsed) await this.conduits.retire(clientId);
  }

  private isDeclared({ method, publicUrl, fingerprints }: DeclaredTransports): boolean {
    const { transport, webhook, webhookFingerprints } = this.settings;
    return (
      method === transport &&
      fingerprints.join() === webhookFingerprints.join() &&
      (!webhook || webhook.publicUrl === publicUrl)
    );
  }

  private async findConduitId(): Promise<string | null> {
    const clientId = this.settings.credentials?.clientId;
    return clientId === undefined ? null : this.conduits.findId(clientId);
  }
}

/**
 * Chooses whose session a subscription uses. If the condition names connected users, picks one of them, because the platform may reject the
 * session of any other user: first the user who reads, then the moderator, then the rest. If none of them is connected, picks any user.
 * Returns null while the chosen user has no session.
 */
export function chooseSession(
  sessions: readonly UserSessionState[],
  condition: Condition,
): NewTransport | null {
  const { user_id: reader, moderator_user_id: moderator, ...others } = condition;
  const users = [reader, moderator, ...Object.values(others)];
  const [theirs] = users.flatMap((user) => sessions.find(({ userId }) => userId === user) ?? []);
  const session = theirs ?? sessions.find(isUsable);
  if (!session || !isUsable(session) || session.sessionId === null) return null;
  return { method: 'websocket', sessionId: session.sessionId };
}

function isUsable({ sessionId, isHeld }: UserSessionState): boolean {
  return sessionId !== null && isHeld;
}
