import { Inject, Injectable } from '@nestjs/common';
import { PLATFORM } from '../platform/platform-settings.js';
import {
  PlatformUnavailableError,
  type CreateOutcome,
  type OutboundPlatform,
  type PlatformSubscription,
} from '@stream-events/platforms';
import type { OwnSubscription } from '../subscriptions/own-subscription.js';
import { OwnTransportsReader } from '../subscriptions/own-transports.js';

/** All subscriptions of the application on the platform. */
export interface PlatformListing {
  subscriptions: PlatformSubscription[];
  maxCost: number;
}

// With 100 per page, this allows a million subscriptions. A longer list means that paging does not end.
const maxPages = 10_000;

/** Lists, creates, and deletes subscriptions on the platform. All methods throw PlatformUnavailableError. */
@Injectable()
export class PlatformSubscriptions {
  constructor(
    @Inject(PLATFORM) private readonly platform: OutboundPlatform,
    private readonly transports: OwnTransportsReader,
  ) {}

  /** Returns all pages or fails. */
  async list(signal: AbortSignal): Promise<PlatformListing> {
    const subscriptions: PlatformSubscription[] = [];
    let next: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      signal.throwIfAborted();
      const reply = await this.platform.listSubscriptions(next);
      subscriptions.push(...reply.subscriptions);
      if (reply.next === null) return { subscriptions, maxCost: reply.maxTotalCost };
      next = reply.next;
    }
    throw new Error(`cannot list the platform’s subscriptions: paging did not end after ${maxPages} pages`);
  }

  async create({ type, version, condition }: OwnSubscription): Promise<CreateOutcome> {
    const transport = await this.transports.forNew();
    // It was lost after the plan was made.
    if (!transport) throw new PlatformUnavailableError('There is no transport for new subscriptions.', 1);
    return this.platform.createSubscription({ type, version, condition, transport });
  }

  async delete(subscriptionId: string): Promise<void> {
    await this.platform.deleteSubscription(subscriptionId);
  }
}
