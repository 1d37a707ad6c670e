import { Inject, Injectable } from '@nestjs/common';
import type { ConduitMessage, ShardMessage } from '@stream-events/contracts';
import { FailureLog, LOGGER, readForGauge, Registry, type Logger } from '@stream-events/service';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { ConduitsRepository } from './conduits.repository.js';
import { connecting, enabled, foreign } from './shard-rules.js';
import { ShardsRepository, type ListedShard } from './shards.repository.js';
import { connectorMetrics } from '../metrics.js';

const foreignProblem =
  'Another installation, which uses a copy of this database, is connected to a shard of the conduit. Give each installation its own ' +
  'database, or stop one of them.';

/** Reports the conduit and its shards, for the status and for the metrics. */
@Injectable()
export class ConduitStatus {
  constructor(
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    private readonly conduits: ConduitsRepository,
    private readonly shards: ShardsRepository,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    const failureLog = new FailureLog(logger);
    connectorMetrics.platform_conduit_shards.create(metrics, async (gauge) => {
      gauge.reset();
      const counts = await readForGauge(gauge, failureLog, () => this.countByState());
      for (const [state, count] of Object.entries(counts ?? {})) gauge.set({ state }, count);
    });
  }

  /**
   * Reads the service's own records, without a call to the platform. Returns null when no conduit exists and none is wanted, or when the
   * conduit will be deleted.
   */
  async read(): Promise<ConduitMessage | null> {
    const clientId = this.settings.credentials?.clientId;
    const conduit = clientId === undefined ? null : await this.conduits.find(clientId);
    if (!conduit || conduit.isRetired) return null;
    const shards = conduit.id === null ? [] : (await this.shards.describe(conduit.id)).map(toMessage);
    const isForeign = shards.some(({ state }) => state === 'foreign');
    return { id: conduit.id, shards, problem: isForeign ? foreignProblem : conduit.problem };
  }

  private async countByState(): Promise<Record<string, number>> {
    const conduit = await this.read();
    if (!conduit) return {};
    const counts: Record<string, number> = { enabled: 0, connecting: 0, lost: 0, foreign: 0 };
    for (const { state } of conduit.shards) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }
}

function toMessage({ id, status, holder, since }: ListedShard): ShardMessage {
  return { id, state: stateOf(status), status, holder, since };
}

function stateOf(status: string): ShardMessage['state'] {
  switch (status) {
    case enabled:
      return 'enabled';
    case connecting:
      return 'connecting';
    case foreign:
      return 'foreign';
    default:
      return 'lost';
  }
}
