import { Inject, Injectable } from '@nestjs/common';
import { maxPictureBytes } from '@stream-events/contracts';
import { PlatformUnavailableError } from '@stream-events/platforms';
import { ConcurrencyLimit } from '@stream-events/service';
import { Agent, request } from 'undici';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { readRasterImage, type RasterImage } from './raster-image.js';

// How many downloads may run, and how many may wait. A page shows up to 100 pictures, and a download takes about 100 ms, so all of them
// arrive within about 3 s.
const running = 4;
const waiting = 100;
const timeoutMs = 4_000;
const retryAfterSeconds = 30;

/**
 * Downloads pictures from the platform's own hosts, without credentials. Rejects all other hosts: an address in a platform reply could lead
 * to any host, even in the internal network.
 */
@Injectable()
export class PictureDownloads {
  private readonly limit = new ConcurrencyLimit({
    running,
    waiting,
    refusal: 'Too many pictures are being fetched. Retry after the time in `Retry-After`.',
  });
  // undici does not follow redirects by default.
  private readonly agent = new Agent({
    connections: running,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxPictureBytes,
  });
  private readonly origins: readonly string[];

  constructor(@Inject(PLATFORM_SETTINGS) { definition, urls }: PlatformSettings) {
    this.origins = definition.pictureOrigins(urls);
  }

  /**
   * Downloads a picture. Returns null when the address is not on one of the platform's hosts, or when it does not lead to a raster image of
   * at most 512 KiB.
   *
   * @throws PlatformUnavailableError, ServiceError `unavailable`
   */
  async download(address: string): Promise<RasterImage | null> {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || !this.origins.includes(url.origin) || url.username !== '') return null;
    return this.limit.run(() => this.fetch(url));
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async fetch(url: URL): Promise<RasterImage | null> {
    try {
      const { statusCode, body } = await request(url, {
        dispatcher: this.agent,
        headers: { accept: 'image/*', 'user-agent': 'stream-events' },
        signal: AbortSignal.timeout(timeoutMs),
      });
      const bytes = Buffer.from(await body.arrayBuffer());
      if (statusCode === 429 || statusCode >= 500) throw unavailable(`status ${statusCode}`);
      return statusCode === 200 ? readRasterImage(bytes) : null;
    } catch (error) {
      if (error instanceof PlatformUnavailableError) throw error;
      // Do not use `instanceof Error`: under Jest, Node's errors come from another realm.
      const { code, name } = error as { code?: string; name?: string }; // Safe cast: undici and Node throw objects.
      if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return null;
      throw unavailable(code ?? name ?? 'unknown error', error);
    }
  }
}

function unavailable(reason: string, cause?: unknown): PlatformUnavailableError {
  const message = `The platform’s picture server failed (${reason}).`;
  return new PlatformUnavailableError(message, retryAfterSeconds, { cause });
}
