import { Injectable } from '@nestjs/common';
import { maxStoredUsersPage, type PictureKind } from '@stream-events/contracts';
import { takeAdvisoryLock } from '@stream-events/database';
import { DataSource } from 'typeorm';
import { Picture } from './picture.entity.js';
import type { RasterImage } from './raster-image.js';

/** Identifies the picture of a user or category. */
export interface PictureKey {
  kind: PictureKind;
  id: string;
}

export interface CachedPicture {
  /** Null when no picture exists. */
  image: RasterImage | null;
  /** The age of the entry in milliseconds. */
  ageMs: number;
}

interface PictureRow {
  bytes: Buffer | null;
  mediaType: string | null;
  hash: string | null;
  ageMs: number;
  isRecentlyUsed: boolean;
}

export interface CacheLimits {
  count: number;
  bytes: number;
}

// How long an unused picture is kept. Users whose pictures the console no longer shows drop out of the cache.
const unusedDays = 30;

/** Stores pictures. Above the limits, removes the least recently used ones. */
@Injectable()
export class PicturesRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find({ kind, id }: PictureKey): Promise<CachedPicture | undefined> {
    const [row] = await this.dataSource.query<PictureRow[]>(
      `SELECT bytes, media_type AS "mediaType", hash,
         extract(epoch FROM now() - fetched_at)::float * 1000 AS "ageMs",
         used_at > now() - interval '1 hour' AS "isRecentlyUsed"
       FROM pictures WHERE kind = $1 AND id = $2`,
      [kind, id],
    );
    if (!row) return undefined;
    // To save writes, update `used_at` at most once an hour per picture.
    if (!row.isRecentlyUsed) await this.touch({ kind, id });
    const { bytes, mediaType, hash, ageMs } = row;
    const image = bytes && mediaType !== null && hash !== null ? { bytes, mediaType, hash } : null;
    return { image, ageMs };
  }

  async save({ kind, id }: PictureKey, image: RasterImage | null, limits: CacheLimits): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await takeAdvisoryLock(manager, 'pictures');
      await manager.query(
        `INSERT INTO pictures (kind, id, bytes, media_type, hash, fetched_at, used_at)
         VALUES ($1, $2, $3, $4, $5, now(), now())
         ON CONFLICT (kind, id) DO UPDATE SET bytes = excluded.bytes, media_type = excluded.media_type,
           hash = excluded.hash, fetched_at = excluded.fetched_at, used_at = excluded.used_at`,
        [kind, id, image?.bytes ?? null, image?.mediaType ?? null, image?.hash ?? null],
      );
      await manager.query(
        `DELETE FROM pictures USING (
           SELECT kind, id, row_number() OVER used AS count, sum(length(bytes)) OVER used AS total
           FROM pictures WINDOW used AS (ORDER BY used_at DESC, fetched_at DESC, kind, id)
         ) AS ranked
         WHERE pictures.kind = ranked.kind AND pictures.id = ranked.id
           AND (ranked.count > $1 OR ranked.total > $2 OR used_at < now() - interval '${unusedDays} days')`,
        [limits.count, limits.bytes],
      );
    });
  }

  /** Returns the next page of users that have a picture, or are known to have none. */
  async listUsers(after: string): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM pictures WHERE kind = 'user' AND id > $1 ORDER BY id LIMIT ${maxStoredUsersPage}`,
      [after],
    );
    return rows.map(({ id }) => id);
  }

  /** Erases the user's picture, or only counts it. Returns 0 or 1. */
  async eraseUser(id: string, isDryRun: boolean): Promise<number> {
    if (isDryRun) return this.dataSource.manager.countBy(Picture, { kind: 'user', id });
    const { affected } = await this.dataSource.manager.delete(Picture, { kind: 'user', id });
    return affected ?? 0;
  }

  private async touch({ kind, id }: PictureKey): Promise<void> {
    await this.dataSource.query('UPDATE pictures SET used_at = now() WHERE kind = $1 AND id = $2', [
      kind,
      id,
    ]);
  }
}
