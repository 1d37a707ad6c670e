import { Injectable } from '@nestjs/common';
import type { NewEvent } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { unwrapText } from '../dead-letters/unreadable-message.js';
import { addCounts, fieldsNaming, type ErasureStep, type SoughtUser, type Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

interface Position {
  eventId: string;
  key: string;
}

// Dead letters per page. A dead letter can be as large as 512 KiB, so a page uses up to 50 MiB of memory.
const pageSize = 100;
const lowest = '00000000-0000-0000-0000-000000000000';

/**
 * Erases the dead letters that name the user. Keeps their deduplication keys as received messages, so that the store recognizes
 * redeliveries of these messages.
 */
@Injectable()
export class DeadLettersStage implements Stage {
  readonly name = 'dead_letters';

  constructor(private readonly dataSource: DataSource) {}

  async run(erasure: RunningErasure, user: SoughtUser): Promise<ErasureStep> {
    // Safe cast: this stage wrote the position.
    const position = (erasure.position as Position | null) ?? { eventId: lowest, key: lowest };
    const rows = await this.dataSource.query<{ key: string; eventId: string; message: Buffer }[]>(
      `SELECT key, event_id AS "eventId", message FROM dead_letters
       WHERE (event_id, key) > ($1, $2) ORDER BY event_id, key LIMIT ${pageSize}`,
      [position.eventId, position.key],
    );
    const found = rows
      .map(({ key, message }) => ({ key, fields: fieldsOf(user, message) }))
      .filter(({ fields }) => fields.length > 0);
    const last = rows.at(-1);
    const keys = found.map(({ key }) => key);
    return {
      isComplete: rows.length < pageSize,
      position: last ? { eventId: last.eventId, key: last.key } : position,
      counts: addCounts(
        erasure.counts,
        'dead_letters',
        found.map(({ fields }) => fields),
      ),
      ...(keys.length > 0 &&
        !erasure.isDryRun && {
          apply: async (transaction) => {
            await transaction.query(
              `WITH erased AS (DELETE FROM dead_letters WHERE key = ANY($1::uuid[]) RETURNING key, event_id)
               INSERT INTO received_messages (key, event_id) SELECT key, event_id FROM erased ORDER BY key
               ON CONFLICT (key) DO NOTHING`,
              [keys],
            );
          },
        }),
    };
  }
}

function fieldsOf(user: SoughtUser, message: Buffer): string[] {
  const event = JSON.parse(message.toString()) as NewEvent; // Safe cast: `DeadLettersRepository.add` wrote it.
  return fieldsNaming(user, unwrapText(event));
}
