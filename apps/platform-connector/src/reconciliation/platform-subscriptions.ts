import { Inject, Injectable } from '@nestjs/common';
import { PLATFORM, PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import {
  type CreateOutcome,
  type OutboundPlatform,
  type PlatformSubscription,
} from '@stream-events/platforms';
import type { OwnSubscription } from '../subscriptions/own-subscription.js';

/** All that the platform has for this application. */
export interface PlatformListing {
  subscriptions: PlatformSubscription[];
  maxCost: number;
}

// 100 a page: a million. A list that goes on after that has no end.
const maxPages = 10_000;

/** The platform's subscriptions, pointing at our callback. All methods throw PlatformUnavailableError. */
@Injectable()
export class PlatformSubscriptions {
  constructor(
    @Inject(PLATFORM) private readonly platform: OutboundPlatform,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** Where the platform's messages go; empty when it cannot be told. */
  get callback(): string {
    return this.settings.webhook?.callback ?? '';
  }

  /** All pages or nothing. */
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
    throw new Error(`the platform’s list of subscriptions did not end after ${maxPages} pages`);
  }

  async create({ type, version, condition }: OwnSubscription): Promise<CreateOutcome> {
    const { webhook } = this.settings;
    if (!webhook) throw new Error('a subscription cannot be created without a callback and a secret');
    return this.platform.createSubscription({ type, version, condition, ...webhook });
  }

  async delete(subscriptionId: string): Promise<void> {
    await this.platform.deleteSubscription(subscriptionId);
  }
}
