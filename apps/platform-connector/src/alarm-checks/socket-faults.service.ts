import { Inject, Injectable } from '@nestjs/common';
import type { AlarmKey, ConduitMessage, ShardMessage } from '@stream-events/contracts';
import { ConduitStatus } from '../conduits/conduit-status.service.js';
import { ConnectionsRepository } from '../connections/connections.repository.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { UserSessionsRepository, type UserSessionState } from '../sockets/user-sessions.repository.js';
import { waiting } from '../subscriptions/own-subscription.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';

export const conduitDown = 'transport_down:conduit';
export const socketsDown = 'transport_down:websocket';
// Maximum number of alarms of each kind. More faults probably share one cause, and more alarms would not help to find it.
const maxEach = 5;

const whatToCheck =
  'The connectors keep trying. Check that they can reach the platform (PLATFORM_SOCKET_URL, PLATFORM_API_URL). ' +
  '`transport` and `last_error` in GET /api/v1/platform/status show details.';
const noConduit = `There is no conduit yet, so no platform events arrive. ${whatToCheck}`;
const noShard = `No shard of the conduit has a connection, so no platform events arrive. ${whatToCheck}`;
const noSocket = `No event socket is connected, so no platform events arrive. ${whatToCheck}`;
const noUser =
  'No channel is connected, so there is no event socket, and no platform events arrive. Connect a channel with ' +
  'POST /api/v1/platform/connections.';

/** The message of each fault, by the key of its alarm. */
export type Faults = Map<AlarmKey, string>;

/**
 * Finds the sockets that have no connection to the platform. Reads the state that all connectors save in the database, so any connector can
 * check for all of them.
 *
 * | without a connection           | alarm                                |
 * |--------------------------------|--------------------------------------|
 * | some shards of the conduit     | `shard_lost:<shard>`                 |
 * | all shards, or the conduit     | `transport_down:conduit`             |
 * | the sockets of some users      | `transport_down:websocket:<user id>` |
 * | the sockets of all users       | `transport_down:websocket`           |
 */
@Injectable()
export class SocketFaults {
  constructor(
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    private readonly conduits: ConduitStatus,
    private readonly sessions: UserSessionsRepository,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly connections: ConnectionsRepository,
  ) {}

  async find(): Promise<Faults> {
    const ofConduit = findConduitFaults(await this.conduits.read());
    return new Map([...ofConduit, ...(await this.findSocketFaults())]);
  }

  /** Finds users' sockets that are not connected although a subscription uses or needs them. */
  private async findSocketFaults(): Promise<Faults> {
    const sessions = await this.sessions.all();
    const down: string[] = [];
    for (const { userId, sessionId } of sessions.filter((session) => !isConnected(session))) {
      const needs = await this.subscriptions.countOfSession(userId, sessionId ?? '');
      if (needs.active + needs.waiting > 0) down.push(userId);
    }
    if (sessions.some(isConnected)) return this.describeSockets(down);
    if (down.length === 0 && !(await this.isAnyWaiting())) return new Map();
    return new Map([[socketsDown, sessions.length === 0 ? noUser : noSocket]]);
  }

  private async describeSockets(userIds: readonly string[]): Promise<Faults> {
    if (userIds.length === 0) return new Map();
    const logins = new Map((await this.connections.list()).map(({ userId, login }) => [userId, login]));
    return new Map(
      userIds
        .slice(0, maxEach)
        .map((userId) => [
          `${socketsDown}:${userId}` as const,
          `The event socket of ${logins.get(userId) ?? userId} is not connected, so the events of this channel do not arrive. ${whatToCheck}`,
        ]),
    );
  }

  /** Whether any subscription waits for a socket. A subscription for a channel without a connected user could use any user's socket. */
  private async isAnyWaiting(): Promise<boolean> {
    if (this.settings.transport !== 'websocket') return false;
    return (await this.subscriptions.count()).some(({ status }) => status === waiting);
  }
}

function findConduitFaults(conduit: ConduitMessage | null): Faults {
  if (!conduit) return new Map();
  const { id, shards, problem } = conduit;
  const lost = shards.filter((shard) => !isServed(shard));
  if (id === null) return new Map([[conduitDown, problem ?? noConduit]]);
  if (lost.length === shards.length) return new Map([[conduitDown, problem ?? noShard]]);
  const counts = `${lost.length} of ${shards.length} shards of the conduit have no connection`;
  return new Map(
    lost
      .slice(0, maxEach)
      .map((shard) => [`shard_lost:${shard.id}` as const, describeShard(shard, { counts, problem })]),
  );
}

function describeShard(
  { id, state, status }: ShardMessage,
  { counts, problem }: { counts: string; problem: string | null },
): string {
  // When a conduit has shards, its only possible problem is a foreign shard.
  if (state === 'foreign' && problem !== null) return `Shard ${id}: ${problem}`;
  const reason = state === 'enabled' ? 'its connector has stopped' : status;
  return (
    `${counts}, including shard ${id} (${reason}). For each event of these shards, the platform tries one other ` +
    `shard, and drops the event if that shard has no connection either. ${whatToCheck}`
  );
}

function isServed({ state, holder }: ShardMessage): boolean {
  return state === 'enabled' && holder !== null;
}

function isConnected({ sessionId, isHeld }: UserSessionState): boolean {
  return sessionId !== null && isHeld;
}
