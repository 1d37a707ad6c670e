import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { PictureDownloads } from './picture-downloads.service.js';
import { PictureLookUps } from './picture-look-ups.service.js';
import { PicturesRepository, type CacheLimits, type PictureKey } from './pictures.repository.js';
import type { RasterImage } from './raster-image.js';

const dayMs = 24 * 3_600_000;

/** How long to use cached pictures, and how large the cache may become. */
export interface PictureRules {
  limits: CacheLimits;
  /** How long to use a picture before looking it up again. A changed picture appears within this time. */
  freshMs: number;
  /** How long to remember that a user or category has no picture. A picture may be added later. */
  missingFreshMs: number;
}

// A picture of 300 × 300 pixels takes about 10 KiB, so the cache usually reaches its limit on the number of pictures first.
const defaultRules: PictureRules = {
  limits: { count: 10_000, bytes: 256 * 1024 * 1024 },
  freshMs: dayMs,
  missingFreshMs: dayMs / 24,
};

/**
 * Gets the pictures of users and categories from the cache or the platform.
 *
 * ```
 *  cached, fresh ────────────────────────────────────────────▶ the picture, or `not_found`
 *  not cached, or stale ──▶ look-up ──▶ download ──▶ cached ──▶ the picture, or `not_found`
 *                               └──────────┴─ failed ──▶ the stale picture; without one: unavailable
 * ```
 */
@Injectable()
export class Pictures {
  /** The look-ups in progress, by kind and id. Requests for the same picture share one. */
  private readonly finding = new Map<string, Promise<RasterImage | null>>();
  private readonly failures: FailureLog;

  constructor(
    private readonly repository: PicturesRepository,
    private readonly lookUps: PictureLookUps,
    private readonly downloads: PictureDownloads,
    @Inject(LOGGER) logger: Logger,
    @Optional() private readonly rules: PictureRules = defaultRules,
  ) {
    this.failures = new FailureLog(logger);
  }

  /** @throws ServiceError `not_found`, `unavailable`; PlatformUnavailableError */
  async get(key: PictureKey): Promise<RasterImage> {
    const image = await this.findOnce(key);
    if (image) return image;
    throw new ServiceError('not_found', `The platform has no picture of this ${key.kind}.`);
  }

  private findOnce(key: PictureKey): Promise<RasterImage | null> {
    const name = `${key.kind} ${key.id}`;
    const known = this.finding.get(name);
    if (known) return known;
    const finding = this.find(key).finally(() => this.finding.delete(name));
    this.finding.set(name, finding);
    return finding;
  }

  private async find(key: PictureKey): Promise<RasterImage | null> {
    const { freshMs, missingFreshMs } = this.rules;
    const cached = await this.repository.find(key);
    if (cached && cached.ageMs < (cached.image ? freshMs : missingFreshMs)) return cached.image;
    try {
      return await this.fetch(key);
    } catch (error) {
      if (!cached) throw error;
      this.failures.warn('cannot refresh a picture, using the cached picture', {
        err: error,
        kind: key.kind,
        id: key.id,
      });
      return cached.image;
    }
  }

  private async fetch(key: PictureKey): Promise<RasterImage | null> {
    const address = await this.lookUps.addressOf(key.kind, key.id);
    const image = address === null ? null : await this.downloads.download(address);
    await this.repository.save(key, image, this.rules.limits);
    return image;
  }
}
