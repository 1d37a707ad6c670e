import { Injectable, Optional } from '@nestjs/common';
import { firstIdAt, receivedAt, userKeyEnd } from '@stream-events/contracts';
import { sqlState } from '@stream-events/database';
import { DataSource } from 'typeorm';
import { addCounts, fieldsNaming, type ErasureStep, type SoughtUser, type Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

/** The searched part of the store: from the first event up to `after`. */
interface Position {
  first: string;
  after: string;
}

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

// Maximum number of events that one statement searches. The statement returns up to `maxFound` of them, with up to 256 KiB of data each. If
// it exceeds its time limit of 10 s (large events, or a slow database), the next statement searches half as many events.
const maxPieceSize = 5_000;
const minPieceSize = 50;
const maxFound = 200;
// After a search faster than this, the next one covers twice as many events and still stays well below the time limit.
const fastSearchMs = 2_000;
const timeLimitExceeded = '57014';
// Between searches, the stage pauses for as long as the search took, within these limits, so that other requests get the database.
const minPauseMs = 5;
const maxPauseMs = 250;
const lowestId = '00000000-0000-0000-0000-000000000000';

/**
 * Erases the user's events from the store: searches the whole table, oldest first. Indexes do not help, because any field can name the
 * user: as a moderator, a gifter, or the target of a ban. PostgreSQL filters the text of the events by the id (or by `userKeyEnd`, if
 * only the hash is known), and the service parses only the matches.
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
    // A full result may lack some matches, so continue after the last one returned.
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

  /** Searches the next events. After a timeout, retries with half as many. */
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

  /** Returns up to `maxFound` events that may name the user, from those after `after` up to and including `last`. */
  private search(after: string, last: string, { id }: SoughtUser): Promise<Candidate[]> {
    return this.dataSource.query(
      `SELECT id, data FROM (
         -- OFFSET 0 makes PostgreSQL decompress each event once instead of once per condition.
         SELECT id, event_data::text AS data FROM events WHERE id > $1 AND id <= $2 ORDER BY id OFFSET 0
       ) AS event
       -- Escapes may spell the id.
       WHERE strpos(data, $3) > 0 OR strpos(data, '\\u00') > 0
       ORDER BY id LIMIT ${maxFound}`,
      [after, last, id ?? userKeyEnd],
    );
  }
}

function progressOf(first: string, after: string, end: string): number {
  const [from, at, to] = [receivedAt(first), receivedAt(after), receivedAt(end)];
  return to <= from ? 1 : Math.min(1, Math.max(0, (at - from) / (to - from)));
}
