import { Inject, Injectable } from '@nestjs/common';
import type { BudgetMessage, PlatformStatusReply } from '@stream-events/contracts';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { ConduitStatus } from '../conduits/conduit-status.service.js';
import { AppTokens } from '../platform/app-tokens.service.js';
import { PlatformErrors } from '../platform/platform-errors.service.js';
import { PlatformHealth } from '../platform/platform-health.service.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import type { Bucket } from '../platform/rate-budget.js';
import { RateBudgets } from '../platform/rate-budgets.service.js';
import { DeliveryGapsRepository } from '../sockets/delivery-gaps.repository.js';
import { SubscriptionStatus } from '../subscriptions/subscription-status.service.js';

// The status shows only this many of the latest gaps, not a history.
const maxGaps = 20;

/** Reports the status of the platform. The circuit breaker's state is that of this process; all instances share the other data. */
@Injectable()
export class PlatformStatusService {
  constructor(
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    private readonly tokens: AppTokens,
    private readonly budgets: RateBudgets,
    private readonly errors: PlatformErrors,
    private readonly health: PlatformHealth,
    private readonly subscriptions: SubscriptionStatus,
    private readonly gaps: DeliveryGapsRepository,
    private readonly conduits: ConduitStatus,
    private readonly alarms: AlarmsRepository,
  ) {}

  /** Reads the status without calling the platform. */
  async read(): Promise<PlatformStatusReply> {
    const [credentials, bucket, lastError, subscriptions, deliveryGaps, conduit, alarms] = await Promise.all([
      this.tokens.status(),
      this.budgets.read(),
      this.errors.read(),
      this.subscriptions.read(),
      this.gaps.newest(maxGaps),
      this.conduits.read(),
      this.alarms.list(),
    ]);
    const { platform, transport, webhook } = this.settings;
    return {
      platform,
      credentials,
      budget: bucket?.isReported ? toMessage(bucket) : null,
      circuit: this.health.circuitState,
      callback: transport === 'webhook' ? (webhook?.callback ?? null) : null,
      deliveryGaps,
      alarms: alarms.open,
      lastError,
      ...subscriptions,
      transport: {
        ...subscriptions.transport,
        problem: conduit?.problem ?? subscriptions.transport.problem,
        conduit,
      },
    };
  }
}

function toMessage({ callsPerMinute, remaining, blockedUntil }: Bucket): BudgetMessage {
  return { limit: callsPerMinute, remaining: Math.floor(remaining), blockedUntil };
}
