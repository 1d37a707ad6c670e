import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { maxLookUp, ServiceError, type PictureKind } from '@stream-events/contracts';
import type { OutboundPlatform } from '@stream-events/platforms';
import { PLATFORM } from '../platform/platform-settings.js';

/** The ids that one call to the platform looks up. */
interface Batch {
  ids: Set<string>;
  addresses: Promise<Map<string, string>>;
}

// How long a batch collects ids. A page requests all its pictures within a few milliseconds.
const collectMs = 20;
const maxBatches = 10;

// The budget of look-ups: one call every 2 s after a burst of 10 calls. This is 4 % of the application's usual rate budget of 800 calls per
// minute, and 3,000 pictures per minute.
const callIntervalMs = 2_000;
const burstCalls = 10;

/** The time, and how look-ups wait. Tests control both. */
export interface LookUpClock {
  now(): number;
  wait(ms: number): Promise<unknown>;
}

const realClock: LookUpClock = { now: () => performance.now(), wait };

/**
 * Looks up the addresses of pictures. Requests that arrive at about the same time share one call to the platform. Look-ups have a small
 * budget of their own, so that clients that load many pictures leave the application's rate budget to other calls. Look-ups beyond this
 * budget wait.
 */
@Injectable()
export class PictureLookUps {
  private readonly open = new Map<PictureKind, Batch>();
  /** Resolves when the latest look-up has ended. Until then, the next batch keeps collecting ids. */
  private last: Promise<unknown> = Promise.resolve();
  private running = 0;
  /** When the budget is full again. In the past if it is full now. */
  private fullAt = 0;

  constructor(
    @Inject(PLATFORM) private readonly platform: Pick<OutboundPlatform, 'lookUpPictures'>,
    @Optional() private readonly clock: LookUpClock = realClock,
  ) {}

  /**
   * Returns the address of a picture, or null when there is none.
   *
   * @throws PlatformUnavailableError, ServiceError `unavailable`
   */
  async addressOf(kind: PictureKind, id: string): Promise<string | null> {
    const batch = this.open.get(kind) ?? this.begin(kind);
    batch.ids.add(id);
    if (batch.ids.size >= maxLookUp) this.open.delete(kind);
    return (await batch.addresses).get(id) ?? null;
  }

  private begin(kind: PictureKind): Batch {
    if (this.running >= maxBatches)
      throw new ServiceError(
        'unavailable',
        'Too many pictures are being looked up. Retry after the time in `Retry-After`.',
      );
    const ids = new Set<string>();
    const batch = { ids, addresses: this.lookUp(kind, ids, this.last) };
    // An error reaches only the callers of this batch. The next batch waits for the end of this one, whether it succeeds or fails.
    this.last = batch.addresses.catch(() => undefined);
    this.open.set(kind, batch);
    return batch;
  }

  /** Takes a call from the budget, after waiting until one is left. */
  private async takeCall(): Promise<void> {
    const now = this.clock.now();
    this.fullAt = Math.max(this.fullAt, now) + callIntervalMs;
    const waitMs = this.fullAt - now - burstCalls * callIntervalMs;
    if (waitMs > 0) await this.clock.wait(waitMs);
  }

  private async lookUp(
    kind: PictureKind,
    ids: Set<string>,
    previous: Promise<unknown>,
  ): Promise<Map<string, string>> {
    this.running += 1;
    try {
      await Promise.all([this.clock.wait(collectMs), previous]);
      await this.takeCall();
      if (this.open.get(kind)?.ids === ids) this.open.delete(kind);
      const addresses = await this.platform.lookUpPictures(kind, [...ids]);
      return new Map(addresses.map(({ id, url }) => [id, url]));
    } finally {
      this.running -= 1;
    }
  }
}
