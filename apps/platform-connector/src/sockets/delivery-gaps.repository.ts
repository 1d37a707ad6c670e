import { Injectable } from '@nestjs/common';
import type { DeliveryGapMessage } from '@stream-events/contracts';
import { DataSource } from 'typeorm';

/** Where messages come from: a socket transport and one of its sockets. */
export interface DeliverySource {
  transport: DeliveryGapMessage['transport'];
  /** The name of the socket, such as `shard 0`. */
  source: string;
}

/** A period in which a source's messages may be missing. Times are milliseconds since 1970. */
export interface DeliveryGap extends DeliverySource {
  /** UUIDv7. */
  id: string;
  from: number;
  /** Null while the gap is open. */
  until: number | null;
  /** How many messages arrived but could not be stored. Null for a gap in which messages may not even have arrived. */
  lost: number | null;
  reason: string;
}

/** The end of a source's open gaps that began at or before `until`. */
export interface GapEnd extends DeliverySource {
  until: number;
}

// How many gaps to keep. This is enough for years of ordinary losses.
const maxKept = 1_000;

@Injectable()
export class DeliveryGapsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Saves new and changed gaps. Idempotent by the gap's id. */
  async save(gaps: readonly DeliveryGap[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO delivery_gaps (id, transport, source, from_at, until_at, lost, reason)
       SELECT id, transport, source, to_timestamp(from_at / 1000), to_timestamp(until_at / 1000), lost, reason
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::float[], $5::float[], $6::int[], $7::text[])
         AS input (id, transport, source, from_at, until_at, lost, reason)
       ON CONFLICT (id) DO UPDATE SET from_at = excluded.from_at, until_at = excluded.until_at, lost = excluded.lost`,
      [
        gaps.map(({ id }) => id),
        gaps.map(({ transport }) => transport),
        gaps.map(({ source }) => source),
        gaps.map(({ from }) => from),
        gaps.map(({ until }) => until),
        gaps.map(({ lost }) => lost),
        gaps.map(({ reason }) => reason),
      ],
    );
    await this.dataSource.query(
      'DELETE FROM delivery_gaps WHERE id IN (SELECT id FROM delivery_gaps ORDER BY from_at DESC, id OFFSET $1)',
      [maxKept],
    );
  }

  /** Ends a source's open gaps, including those of instances that have stopped. */
  async end({ transport, source, until }: GapEnd): Promise<void> {
    await this.dataSource.query(
      `UPDATE delivery_gaps SET until_at = to_timestamp($3::float / 1000)
       WHERE transport = $1 AND source = $2 AND until_at IS NULL AND from_at <= to_timestamp($3::float / 1000)`,
      [transport, source, until],
    );
  }

  /** Returns the newest gaps, newest first. */
  async newest(limit: number): Promise<DeliveryGapMessage[]> {
    return this.dataSource.query<DeliveryGapMessage[]>(
      `SELECT transport, source, floor(extract(epoch FROM from_at) * 1000)::float AS "from",
              floor(extract(epoch FROM until_at) * 1000)::float AS until, lost, reason
       FROM delivery_gaps ORDER BY from_at DESC, id LIMIT $1`,
      [limit],
    );
  }
}
