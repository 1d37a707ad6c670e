import { Inject, Injectable } from '@nestjs/common';
import type { TransportMethod } from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import type { MovesPlan } from './plan-moves.js';

const targets: Record<TransportMethod, string> = {
  webhook: 'webhooks with the first secret of PLATFORM_WEBHOOK_SECRET',
  conduit: 'the conduit',
  websocket: 'WebSocket sessions',
};
const noWebhooks = '. PUBLIC_URL and PLATFORM_WEBHOOK_SECRET are not needed to receive events';
const ends: Record<TransportMethod, string> = {
  webhook: '. You can remove the other secrets',
  conduit: noWebhooks,
  websocket: noWebhooks,
};

/** Logs the progress of moving subscriptions to the wanted transport. */
@Injectable()
export class MovesLog {
  /** The progress in the last log line. */
  private last = '';

  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  /** Logs the progress if it has changed. */
  report({ moved, total, replaced }: MovesPlan, method: TransportMethod): void {
    if (replaced > 0)
      this.logger.warn(
        { subscriptions: replaced },
        'replacing subscriptions whose webhook secret was removed from PLATFORM_WEBHOOK_SECRET, losing their messages until the new subscriptions are enabled',
      );
    const progress = `${moved} of ${total}`;
    if (progress === this.last) return;
    const wasMoving = this.last !== '';
    this.last = moved < total ? progress : '';
    const facts = { moved, total, transport: method };
    if (moved < total) this.logger.info(facts, `moving subscriptions to ${targets[method]}`);
    else if (wasMoving) this.logger.info(facts, `all subscriptions use ${targets[method]}${ends[method]}`);
  }
}
