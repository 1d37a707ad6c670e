import { Injectable, Optional } from '@nestjs/common';
import { firstIdAt, receivedAt } from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { DataSource } from 'typeorm';
import { addCounts, fieldsNaming, type ErasureStep, type SoughtUser, type Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

/** The part of the store that has been searched: from the first event to `after`. */
interface Position {
  first: string;
  after: string;
}

/** The result of one search. */
interface Piece {
  /** The id of the last searched event; undefined when the search reached the end. */
  boundary: string | undefined;
  /** Up to `maxFound` events that may name the user. */
  candidates: readonly Candidate[];
}

interface Candidate {
  id: string;
  data: string;
}

// One statement searches up to `maxPieceSize` events, and returns up to `maxFound` of them, with up to 256 KiB of data each. If the
// statement exceeds its time limit of 10 s, because the events are large or the database is slow, the next statement searches half as many
// events.
const maxPieceSize = 5_000;
const minPieceSize = 50;
const maxFound = 200;
// After a search that takes less time than this, the next search covers twice as many events and still stays well below the time limit.
const fastSearchMs = 2_000;
const timeLimitExceeded = '57014';
// The pause after a search is as long as the search took, within these limits, so that other requests can use the database.
const minPauseMs = 5;
const maxPauseMs = 250;
const lowestId = '00000000-0000-0000-0000-000000000000';

/**
 * Erases the events of the user from the store: searches the whole table, oldest first. The indexed columns do not help, because the user
 * can be named in any field: as a moderator, a gifter, or the target of a ban. PostgreSQL searches the text of the events for the id (or
 * for `user_id`, if only the hash of the id is known), and the service parses only the matching events.
 */
@Injectable()
export class StoreStage implements Stage {
  readonly name = 'store';
  /** The number of events that one statement searches. */
  private pieceSize = maxPieceSize;

  constructor(
    private readonly dataSource: DataSource,
    @Optional() private readonly fastMs: number = fastSearchMs,
  ) {}

  async run(erasure: RunningErasure, user: SoughtUser): Promise<ErasureStep> {
    const beganAt = performance.now();
    // Safe cast: this stage wrote the position.
    const position = (erasure.position as Position | null) ?? (await this.begin());
    const end = firstIdAt(erasure.erasesUntil.getTime() + 1);
    const { boundary, candidates } = await this.searchPiece(position.after, end, user);
    const found = candidates
      .map(({ id, data }) => ({ id, fields: fieldsNaming(user, data) }))
      .filter(({ fields }) => fields.length > 0);
    // If `maxFound` may have cut off candidates, continue after the last returned candidate.
    const isFull = candidates.length === maxFound;
    const after = (isFull ? candidates.at(-1)?.id : boundary) ?? end;
    const ids = found.map(({ id }) => id);
    return {
      isComplete: !isFull && boundary === undefined,
      position: { ...position, after },
      progress: progressOf(position.first, after, end),
      counts: addCounts(
        erasure.counts,
        'events',
        found.map(({ fields }) => fields),
      ),
      pauseMs: Math.min(Math.max(performance.now() - beganAt, minPauseMs), maxPauseMs),
      ...(ids.length > 0 &&
        !erasure.isDryRun && {
          apply: async (transaction) => {
            await transaction.query('DELETE FROM events WHERE id = ANY($1::uuid[])', [ids]);
          },
        }),
    };
  }

  private async begin(): Promise<Position> {
    const [row] = await this.dataSource.query<{ id: string }[]>('SELECT id FROM events ORDER BY id LIMIT 1');
    return { first: row?.id ?? lowestId, after: lowestId };
  }

  /** Searches the next events, and fewer of them after each search that exceeds the time limit. */
  private async searchPiece(after: string, end: string, user: SoughtUser): Promise<Piece> {
    for (;;) {
      const begunAt = performance.now();
      try {
        const boundary = await this.findBoundary(after, end);
        const candidates = await this.search(after, boundary ?? end, user);
        if (performance.now() < begunAt + this.fastMs)
          this.pieceSize = Math.min(2 * this.pieceSize, maxPieceSize);
        return { boundary, candidates };
      } catch (error) {
        if (sqlState(error) !== timeLimitExceeded || this.pieceSize === minPieceSize) throw error;
        this.pieceSize = Math.max(Math.floor(this.pieceSize / 2), minPieceSize);
      }
    }
  }

  /** Returns the id of the last of the next `pieceSize` events; undefined when fewer are left. */
  private async findBoundary(after: string, end: string): Promise<string | undefined> {
    const [row] = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM events WHERE id > $1 AND id < $2 ORDER BY id OFFSET ${this.pieceSize - 1} LIMIT 1`,
      [after, end],
    );
    return row?.id;
  }

  /** Returns up to `maxFound` events after `after`, and not beyond `last`, that may name the user. */
  private search(after: string, last: string, { id }: SoughtUser): Promise<Candidate[]> {
    return this.dataSource.query(
      `SELECT id, data FROM (
         -- OFFSET makes PostgreSQL decompress the data of each event once, instead of once per condition.
         SELECT id, event_data::text AS data FROM events WHERE id > $1 AND id <= $2 ORDER BY id OFFSET 0
       ) AS event
       -- Escapes may spell the id.
       WHERE strpos(data, $3) > 0 OR strpos(data, '\\u00') > 0
       ORDER BY id LIMIT ${maxFound}`,
      [after, last, id ?? 'user_id'],
    );
  }
}

function progressOf(first: string, after: string, end: string): number {
  const [from, at, to] = [receivedAt(first), receivedAt(after), receivedAt(end)];
  return to <= from ? 1 : Math.min(1, Math.max(0, (at - from) / (to - from)));
}
