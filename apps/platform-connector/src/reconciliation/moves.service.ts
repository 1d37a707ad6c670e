import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import type { TransportMethod } from '@stream-events/platforms';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { SubscriptionMoves, type SubscriptionMove } from '../subscriptions/subscription-moves.repository.js';
import { EventsClient } from './events.client.js';
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

/** Stores the moves of subscriptions to the wanted transport, and announces their overlaps to the events services. */
@Injectable()
export class Moves {
  private readonly failureLog: FailureLog;
  /** The progress in the last log line. */
  private progress = '';

  constructor(
    private readonly moves: SubscriptionMoves,
    private readonly events: EventsClient,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
  }

  /**
   * Returns the moves. For moves that are not ready, first repeats the announcement, and marks them as ready when all events services are
   * ready.
   */
  async read(): Promise<SubscriptionMove[]> {
    const moves = await this.moves.all();
    const announced = moves.filter(({ isReady }) => !isReady);
    if (announced.length === 0 || !(await this.announce(announced))) return moves;
    const ready = announced.map((move) => ({ ...move, isReady: true }));
    await this.moves.save(ready);
    return [...moves.filter(({ isReady }) => isReady), ...ready];
  }

  /** Whether subscriptions are moving. If so, another listing must follow soon. */
  async areUnderWay(): Promise<boolean> {
    return (await this.moves.count()).count > 0;
  }

  /** Saves and announces the steps of a plan. Call this before the plan's actions run. */
  async save(plan: MovesPlan, { now, method }: { now: number; method: TransportMethod }): Promise<void> {
    const { save, ending, end, replaced } = plan;
    this.report(plan, method);
    if (replaced > 0)
      this.logger.warn(
        { subscriptions: replaced },
        'replacing subscriptions whose webhook secret was removed from PLATFORM_WEBHOOK_SECRET, losing their messages until the new subscriptions are enabled',
      );
    await this.moves.save(save);
    const announced = save.filter(({ isReady }) => !isReady);
    if (announced.length > 0) await this.announce(announced);
    if (ending.length > 0) await this.announceEnd(ending);
    if (end.length > 0) await this.end(end, now);
  }

  /** Logs the progress if it has changed. */
  private report({ moved, total }: MovesPlan, method: TransportMethod): void {
    const progress = `${moved} of ${total}`;
    if (progress === this.progress) return;
    const wasMoving = this.progress !== '';
    this.progress = moved < total ? progress : '';
    const facts = { moved, total, transport: method };
    if (moved < total) this.logger.info(facts, `moving subscriptions to ${targets[method]}`);
    else if (wasMoving) this.logger.info(facts, `all subscriptions use ${targets[method]}${ends[method]}`);
  }

  /** Announces moves. Returns whether all events services already pair the deliveries of these subscriptions. */
  private async announce(moves: readonly SubscriptionMove[]): Promise<boolean> {
    const readyInMs = await this.try(() => this.events.beginOverlaps(moves.map(({ key }) => key)));
    return readyInMs === 0;
  }

  /** Announces the end of overlaps, then saves it. */
  private async announceEnd(ending: MovesPlan['ending']): Promise<void> {
    const overlaps = ending.map(({ move, keptSince }) => ({ subscription: move.key, keptSince }));
    const endsAt = ending[0]?.move.endsAt ?? 0;
    if (await this.isDone(() => this.events.endOverlaps(overlaps, endsAt)))
      await this.moves.save(ending.map(({ move }) => move));
  }

  private async end(keys: readonly string[], now: number): Promise<void> {
    const overlaps = keys.map((subscription) => ({ subscription, keptSince: 0 }));
    if (await this.isDone(() => this.events.endOverlaps(overlaps, now))) await this.moves.remove(keys);
  }

  private async isDone(request: () => Promise<void>): Promise<boolean> {
    return (await this.try(() => request().then(() => true))) ?? false;
  }

  /** Makes a request. Returns undefined when the events service does not reply; the next round with a listing then repeats the request. */
  private async try<T>(request: () => Promise<T>): Promise<T | undefined> {
    try {
      return await request();
    } catch (err) {
      if (!(err instanceof ServiceError)) throw err;
      this.failureLog.warn('cannot announce overlapping subscriptions to the events service, retrying', {
        err,
      });
      return undefined;
    }
  }
}
