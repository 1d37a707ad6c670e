import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { maxLookUp, ServiceError, type PictureKind } from '@stream-events/contracts';
import type { OutboundPlatform } from '@stream-events/platforms';
import { PLATFORM } from '../platform/platform-settings.js';

/** The ids that the next call looks up. */
interface Batch {
  ids: Set<string>;
  addresses: Promise<Map<string, string>>;
}

// A page requests its pictures within a few milliseconds.
const collectMs = 20;
const maxBatches = 10;

/** Looks up the addresses of pictures: those that are requested together, with one call of the platform. */
@Injectable()
export class PictureLookUps {
  private readonly open = new Map<PictureKind, Batch>();
  /** Ends when the last look-up has ended: meanwhile, the next one collects ids. */
  private last: Promise<unknown> = Promise.resolve();
  private running = 0;

  constructor(@Inject(PLATFORM) private readonly platform: OutboundPlatform) {}

  /**
   * Null when there is no picture.
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
    // The callers of this batch get its failure; the next batch only waits until this one is over.
    this.last = batch.addresses.catch(() => undefined);
    this.open.set(kind, batch);
    return batch;
  }

  private async lookUp(
    kind: PictureKind,
    ids: Set<string>,
    previous: Promise<unknown>,
  ): Promise<Map<string, string>> {
    this.running += 1;
    try {
      await Promise.all([wait(collectMs), previous]);
      if (this.open.get(kind)?.ids === ids) this.open.delete(kind);
      const addresses = await this.platform.lookUpPictures(kind, [...ids]);
      return new Map(addresses.map(({ id, url }) => [id, url]));
    } finally {
      this.running -= 1;
    }
  }
}
