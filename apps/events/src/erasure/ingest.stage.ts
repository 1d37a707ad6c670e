import { Injectable } from '@nestjs/common';
import { ingestStreamName, receivedAt } from '@stream-events/contracts';
import { unwrapText, readOrWrap } from '../dead-letters/unreadable-message.js';
import { IngestStream } from '../ingest/ingest-stream.js';
import { EventsRepository } from '../store/events.repository.js';
import { receivedMessageKey } from '../store/received-message-key.js';
import { addCounts, fieldsNaming, type ErasureStep, type SoughtUser, type Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';
import { StreamMessages, type StoredMessage } from './stream-messages.js';

interface Position {
  /** The next sequence to read. */
  next: number;
  /** The stream's last sequence when the stage began. The drain keeps the user's later messages out of the store. */
  end: number;
}

const maxRead = 500;

/**
 * Erases the user's messages that are waiting on the INGEST stream. The drain passes the messages that it has already received to
 * `EventsRepository`, which does not store the user's events.
 */
@Injectable()
export class IngestStage implements Stage {
  readonly name = 'ingest';
  private readonly messages: StreamMessages;

  constructor(
    ingest: IngestStream,
    private readonly events: EventsRepository,
  ) {
    this.messages = new StreamMessages(ingest.connection, ingestStreamName);
  }

  async run(erasure: RunningErasure, user: SoughtUser): Promise<ErasureStep> {
    // Safe cast: this stage wrote the position.
    const position = erasure.position as Position | null;
    const extent = await this.messages.find();
    if (!extent) return { isComplete: true };
    const { next, end } = position ?? { next: 1, end: extent.lastSequence };
    const from = Math.max(next, extent.firstSequence);
    const count = Math.min(maxRead, end - from + 1);
    if (count <= 0) return { isComplete: true };
    const found = (await this.messages.readEach(Array.from({ length: count }, (_, index) => from + index)))
      .map((message) => ({ message, ...inspect(message, user, erasure.erasesUntil.getTime()) }))
      .filter(({ fields }) => fields.length > 0);
    if (!erasure.isDryRun && found.length > 0) {
      // Keep the keys: the platform may still redeliver the messages.
      await this.events.rememberReceived(found.map(({ key, eventId }) => ({ key, eventId })));
      await this.messages.erase(found.map(({ message }) => message.sequence));
    }
    return {
      isComplete: false,
      position: { next: from + count, end } satisfies Position,
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
