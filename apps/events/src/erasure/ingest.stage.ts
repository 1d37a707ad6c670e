import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { unwrapText, readOrWrap } from '../dead-letters/unreadable-message.js';
import { IngestStream } from '../ingest/ingest-stream.js';
import { IntakeStream } from '../ingest/intake-stream.js';
import { EventsRepository } from '../store/events.repository.js';
import { receivedMessageKey } from '../store/received-message-key.js';
import { addCounts, fieldsNaming, type ErasureStep, type SoughtUser, type Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';
import { StreamMessages, type StoredMessage } from './stream-messages.js';

/** Where the stage continues: the stream (0 is INGEST, 1 is INTAKE) and the next sequence to read. */
interface Position {
  stream: 0 | 1;
  next: number;
  /** The stream's last sequence when the stage began to read this stream. The drain keeps the user's later messages out of the store. */
  end?: number;
}

const maxRead = 500;

/**
 * Erases the user's messages that are waiting on the INGEST stream, and on the INTAKE stream of version 0.1.0. The drain passes the
 * messages that it has already received to `EventsRepository`, which does not store the user's events.
 */
@Injectable()
export class IngestStage implements Stage {
  readonly name = 'ingest';
  private readonly streams: readonly [StreamMessages, StreamMessages];

  constructor(
    ingest: IngestStream,
    intake: IntakeStream,
    private readonly events: EventsRepository,
  ) {
    this.streams = [
      new StreamMessages(ingest.connection, ingest.name),
      new StreamMessages(intake.connection, intake.name),
    ];
  }

  async run(erasure: RunningErasure, user: SoughtUser): Promise<ErasureStep> {
    // Safe cast: this stage wrote the position.
    const { stream, next, end: known } = (erasure.position as Position | null) ?? { stream: 0, next: 1 };
    const messages = this.streams[stream];
    const extent = await messages.find();
    const from = Math.max(next, extent?.firstSequence ?? next);
    const end = known ?? extent?.lastSequence ?? 0;
    const count = Math.min(maxRead, end - from + 1);
    if (!extent || count <= 0)
      return { isComplete: stream === 1, position: { stream: 1, next: 1 } satisfies Position };
    const found = (await messages.readEach(Array.from({ length: count }, (_, index) => from + index)))
      .map((message) => ({ message, ...inspect(message, user, erasure.erasesUntil.getTime()) }))
      .filter(({ fields }) => fields.length > 0);
    if (!erasure.isDryRun && found.length > 0) {
      // Keep the keys: the platform may still redeliver the messages.
      await this.events.rememberReceived(found.map(({ key, eventId }) => ({ key, eventId })));
      await messages.erase(found.map(({ message }) => message.sequence));
    }
    return {
      isComplete: false,
      position: { stream, next: from + count, end } satisfies Position,
      counts: addCounts(
        erasure.counts,
        'ingest_messages',
        found.map(({ fields }) => fields),
      ),
      progress: Math.min(1, (from + count) / (end + 1)),
    };
  }
}

/** Returns the fields that name the user; none if the event was received after `until`. */
function inspect({ data }: StoredMessage, user: SoughtUser, until: number) {
  const { event, fault } = readOrWrap(data);
  // `readOrWrap` gave an unreadable message a new id just now, so its time of receipt is unknown. Skip the time check for such a message:
  // erase it if it names the user, even if it arrived after `until`.
  const isInTime = fault !== undefined || receivedAt(event.id) <= until;
  const fields = isInTime ? fieldsNaming(user, unwrapText(event)) : [];
  return { key: receivedMessageKey(event), eventId: event.id, fields };
}
