import { EventEmitter } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import {
  PlatformUnavailableError,
  type ConduitOutcome,
  type OutboundConduits,
  type PlatformShard,
} from '@stream-events/platforms';
import { CONFIG, FailureLog, LOGGER, type Logger } from '@stream-events/service';
import type { PlatformConnectorConfig } from '../platform-connector.config.js';
import { PLATFORM, PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { ConduitsRepository, type OwnConduit } from './conduits.repository.js';
import { enabled } from './shard-rules.js';

// How often to poll the shards' states. Reports are not enough, because a conduit without a working shard cannot deliver them. 12 calls per
// minute are 1.5 % of the rate limit.
const checkMs = 5_000;
// How often to poll while a shard is lost, because the platform may drop that shard's events.
const lossCheckMs = 1_000;
const problemCheckMs = 60_000;
const maxFailurePauseMs = 30_000;
// How many pages of shards to read. With 100 shards per page, 200 pages hold the platform's maximum of 20,000 shards. A longer list means
// that paging does not end.
const maxPages = 200;

const limitProblem =
  'The application has reached the platform’s conduit limit, and none of its conduits belongs to this installation. Delete a conduit that no ' +
  'installation uses: GET /api/v1/platform/call/eventsub/conduits lists the conduits, GET …/conduits/shards?conduit_id=<id> shows whether ' +
  'the shards of a conduit are enabled, and DELETE …/conduits?id=<id> deletes a conduit. Or use another application (PLATFORM_CLIENT_ID), ' +
  'or set PUBLIC_URL to receive events by webhook.';

/**
 * Creates, checks, and deletes the conduit of this installation. One connector at a time does this. Other installations may share the
 * application, so only the conduit in our database is ours.
 *
 * ```
 *  wanted ──created──▶ checked every 5 s: the states of its shards ──no subscription left──▶ deleted
 *    ▲  │                    │
 *    │  └ limit: in 60 s     │ the platform has deleted it
 *    └───────────────────────┘
 * ```
 */
@Injectable()
export class ConduitUpkeep {
  readonly events = new EventEmitter<{ created: [] }>();
  private readonly failures: FailureLog;
  private startedAt = new Date(0);
  private lastProblem: string | null = null;
  /** The application's conduits before an attempt to create one. Kept until the attempt's outcome is saved. */
  private before: ReadonlySet<string> | undefined;

  constructor(
    private readonly conduits: ConduitsRepository,
    @Inject(PLATFORM) private readonly platform: OutboundConduits,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    @Inject(CONFIG) private readonly config: Pick<PlatformConnectorConfig, 'PLATFORM_CONDUIT_SHARDS'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  /** Makes a check due. If the transport needs a conduit, saves that a conduit is wanted. Returns whether a conduit exists or is wanted. */
  async start(): Promise<boolean> {
    const clientId = this.settings.credentials?.clientId;
    if (clientId === undefined) return false;
    this.startedAt = await this.conduits.start(clientId, this.isWanted ? this.shardCount : null);
    return (await this.read()) !== null;
  }

  /** Reads the conduit from the database. Returns null when no conduit exists and none is wanted. */
  async read(): Promise<OwnConduit | null> {
    const clientId = this.settings.credentials?.clientId;
    return clientId === undefined ? null : this.conduits.find(clientId, this.startedAt);
  }

  async checkSoon(): Promise<void> {
    await this.conduits.checkWithin(this.clientId, 0);
  }

  /** Checks the conduit if a check is due and no other connector has claimed it. Returns whether this connector ran the check. */
  async checkIfDue(): Promise<boolean> {
    const startedAt = await this.conduits.claimCheck(this.clientId);
    if (startedAt) await this.conduits.checkWithin(this.clientId, await this.check(startedAt));
    return startedAt !== undefined;
  }

  private get isWanted(): boolean {
    return this.settings.transport === 'conduit';
  }

  private get shardCount(): number {
    return this.config.PLATFORM_CONDUIT_SHARDS;
  }

  private get clientId(): string {
    const { credentials } = this.settings;
    if (!credentials) throw new Error('cannot maintain a conduit: no application is configured');
    return credentials.clientId;
  }

  /** Creates, checks, or deletes the conduit. Returns how long to wait before the next check, in milliseconds. */
  private async check(startedAt: Date): Promise<number> {
    const conduit = await this.read();
    if (!conduit) return problemCheckMs;
    // A saved conduit, even from another connector, makes the list from before this connector's attempt obsolete.
    if (conduit.id !== null) this.before = undefined;
    try {
      if (conduit.isRetired) return await this.delete(conduit);
      return conduit.id === null
        ? await this.create()
        : await this.checkShards(conduit.id, conduit, startedAt);
    } catch (error) {
      if (!(error instanceof PlatformUnavailableError)) throw error;
      this.failures.warn('cannot check the conduit, retrying within 30 s', { err: error });
      return Math.min(error.retryAfterSeconds * 1_000, maxFailurePauseMs);
    }
  }

  private async create(): Promise<number> {
    const outcome = await this.findOrCreate();
    if (outcome.kind === 'limit_reached') {
      this.before = undefined;
      await this.conduits.saveProblem(this.clientId, limitProblem);
      if (this.lastProblem !== limitProblem)
        this.logger.error({ reason: outcome.message }, `cannot create a conduit. ${limitProblem}`);
      this.lastProblem = limitProblem;
      return problemCheckMs;
    }
    const { conduit } = outcome;
    this.lastProblem = null;
    const isSaved = await this.conduits.saveCreated(this.clientId, conduit);
    this.before = undefined;
    if (!isSaved) {
      if ((await this.read())?.id !== conduit.id) await this.platform.deleteConduit(conduit.id);
      return 0;
    }
    this.logger.info({ conduitId: conduit.id, shards: conduit.shardCount }, 'conduit created');
    this.events.emit('created');
    return 0;
  }

  /**
   * Creates a conduit. If the last attempt's outcome is unknown, first looks for a conduit that the attempt may have created: a new one
   * without a working shard. A new conduit of another installation would have working shards, because that installation assigns them
   * immediately.
   */
  private async findOrCreate(): Promise<ConduitOutcome> {
    const listed = await this.platform.listConduits();
    for (const conduit of listed) {
      const isNew = this.before?.has(conduit.id) === false && conduit.shardCount === this.shardCount;
      const shards = isNew ? await this.listShards(conduit.id) : null;
      if (shards?.every(({ sessionId, status }) => sessionId === null && status !== enabled))
        return { kind: 'created', conduit };
    }
    this.before = new Set(listed.map(({ id }) => id));
    return this.platform.createConduit(this.shardCount);
  }

  private async checkShards(id: string, { shardCount }: OwnConduit, startedAt: Date): Promise<number> {
    const wanted = this.isWanted ? this.shardCount : shardCount;
    const isThere = wanted === shardCount || (await this.platform.resizeConduit(id, wanted));
    const shards = isThere ? await this.listShards(id) : null;
    if (!shards) {
      this.logger.warn({ conduitId: id }, 'the platform has deleted the conduit, creating another one');
      await this.conduits.saveGone(this.clientId, id);
      return 0;
    }
    if (wanted !== shardCount) await this.conduits.saveShardCount(this.clientId, { id, shardCount: wanted });
    return (await this.conduits.saveListing(id, shards, startedAt)) ? checkMs : lossCheckMs;
  }

  /** Lists all shards. Returns null when the conduit does not exist. */
  private async listShards(conduitId: string): Promise<PlatformShard[] | null> {
    const shards: PlatformShard[] = [];
    let next: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const reply = await this.platform.listShards(conduitId, next);
      if (!reply) return null;
      shards.push(...reply.shards);
      if (reply.next === null) return shards;
      next = reply.next;
    }
    throw new Error(
      `cannot list the shards of conduit ${conduitId}: paging did not end after ${maxPages} pages`,
    );
  }

  private async delete({ id }: OwnConduit): Promise<number> {
    if (id !== null) {
      // Deleting a conduit requires an app access token, which the service cannot get without the client secret.
      const canDelete = this.settings.credentials?.clientSecret !== undefined;
      if (canDelete) await this.platform.deleteConduit(id);
      await this.conduits.saveGone(this.clientId, id);
      this.logger.info(
        { conduitId: id },
        canDelete
          ? 'conduit deleted, because no subscription uses it'
          : 'conduit not deleted, because there is no client secret; the platform deletes the conduit 72 h after its shards are gone',
      );
    }
    await this.conduits.remove(this.clientId);
    return problemCheckMs;
  }
}
