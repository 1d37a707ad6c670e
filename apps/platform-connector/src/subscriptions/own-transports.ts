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
 * How a subscription's transport relates to the wanted transport: it is the `wanted` transport, an `other` transport that also works, or a
 * `removed` transport, which is a webhook whose messages the gateways reject.
 */
export type TransportKind = 'wanted' | 'other' | 'removed';

/**
 * Which secret signs the messages to a callback: the `first` configured secret, an `other` configured secret, or a `removed` secret, whose
 * messages the gateways reject.
 */
export type SecretKind = 'first' | 'other' | 'removed';

/** The transports of this service. */
export class OwnTransports {
  /**
   * @param conduitId our conduit; null without a conduit. Other conduits of the application belong to other installations
   * @param sessions the sockets of users
   */
  constructor(
    private readonly declared: DeclaredTransports,
    private readonly conduitId: string | null = null,
    private readonly sessions: readonly UserSessionState[] = [],
  ) {}

  /** Returns the kind of a transport; undefined for a transport that is not ours. */
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
   * Whether subscriptions with this transport count toward the same limit as new subscriptions. Subscriptions over plain sockets count
   * toward the limit of their user, and all other subscriptions toward the limit of the application.
   */
  sharesLimit(transport: SubscriptionTransport | null): boolean {
    if (transport === null) return true;
    return (transport.method === 'websocket') === (this.declared.method === 'websocket');
  }

  /**
   * Returns the kind of a callback's secret; undefined for a callback that is not ours. Each webhook secret has its own callback. Older
   * versions had one plain callback for all secrets.
   */
  secretKindOf(callback: string): SecretKind | undefined {
    const { publicUrl, fingerprints, plainFingerprint } = this.declared;
    const found = publicUrl === null ? undefined : readCallback(publicUrl, callback);
    if (found === undefined) return undefined;
    const fingerprint = found === '' ? plainFingerprint : found;
    // The secret of the plain callback is unknown, so subscriptions with this callback move.
    if (fingerprint === '') return 'other';
    if (fingerprint === fingerprints[0]) return 'first';
    return fingerprints.includes(fingerprint) ? 'other' : 'removed';
  }
}

/** Reads which transports are ours, as declared by the instance that started last. */
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

  /** The wanted transport of all instances, which the instance that started last has declared. Null when no transport is configured. */
  async method(): Promise<TransportMethod | null> {
    const { transport } = this.settings;
    return transport && ((await this.schedule.readTransports()).method ?? transport);
  }

  /** Returns a function that chooses the transport of a new subscription by its condition; null while no transport is available. */
  async chooserForNew(): Promise<((condition: Condition) => NewTransport | null) | null> {
    if (this.settings.transport !== 'websocket') {
      const transport = await this.forNew();
      return transport && (() => transport);
    }
    const sessions = await this.sessions.ofConnected(this.settings.credentials?.clientId ?? '');
    return sessions.some(isUsable) ? (condition) => chooseSession(sessions, condition) : null;
  }

  /** The webhook or conduit of all new subscriptions; null while neither is available. */
  private async forNew(): Promise<NewTransport | null> {
    const { transport, webhook } = this.settings;
    if (transport === 'webhook' && webhook)
      return { method: 'webhook', callback: webhook.callback, secret: webhook.secret };
    const conduitId = transport === 'conduit' ? await this.findConduitId() : null;
    return conduitId === null ? null : { method: 'conduit', conduitId };
  }

  /** Reads our transports and the declaration; null when no transport is configured. */
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

  /** Whether messages can arrive over the configured transport. If not, subscriptions must not move to this transport. */
  async isWorking(): Promise<boolean> {
    const { transport, credentials } = this.settings;
    return (
      transport !== 'conduit' || (credentials !== undefined && this.conduits.isWorking(credentials.clientId))
    );
  }

  /** Retires the conduit when another transport is configured, and none of the listed subscriptions uses the conduit. */
  async retire(listed: readonly { transport: SubscriptionTransport | null }[]): Promise<void> {
    const clientId = this.settings.credentials?.clientId;
    if (clientId === undefined || this.settings.transport === 'conduit') return;
    // Null also when a conduit is wanted that the platform has not created.
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
 * Chooses the session for a subscription: the session of the user who reads or, otherwise, of another connected user in the condition,
 * because the platform accepts no other session. If none of these users is connected, chooses any session. Returns null while the chosen
 * user has no session.
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
