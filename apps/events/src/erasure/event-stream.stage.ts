import { Injectable } from '@nestjs/common';
import { eventsStreamName, parseStreamDescription, receivedAt } from '@stream-events/contracts';
import { validate as isUuid } from 'uuid';
import { EventsStream } from '../relay/events-stream.js';
import { ErasedMessagesRepository } from './erased-messages.repository.js';
import { addCounts, fieldsNaming, type ErasureStep, type SoughtUser, type Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';
import { StreamMessages, type StoredMessage } from './stream-messages.js';

interface Position {
  /** The epoch that `next` and `end` belong to. Sequences of different epochs are not comparable. */
  epoch: string;
  next: number;
  /**
   * The last sequence to read, set once no relay can still publish an old batch. Without this limit, the stage would chase new events
   * forever.
   */
  end?: number;
}

// Maximum number of messages per step. Creating a consumer and saving the position take as long as reading hundreds of messages, so small
// steps would be slow.
const maxRead = 5_000;
/**
 * How long a relay may still publish events that it read before they were erased from the store. A relay publishes or drops each batch in
 * its memory within 10 s (see `RelayQueue`), and then waits up to 5 s for the acknowledgement.
 */
const inFlightMs = 16_000;
const intervalMs = 500;
const minPauseMs = 1;
const prefix = 'event_data.';

/**
 * Erases the user's messages from the EVENTS stream: reads the whole stream, including the batches that relays still publish from memory.
 * Records each sequence before erasing its message, so that a client that resumes at this sequence is not told about a gap.
 */
@Injectable()
export class EventStreamStage implements Stage {
  readonly name = 'event_stream';
  private readonly messages: StreamMessages;

  constructor(
    private readonly stream: EventsStream,
    private readonly erasedMessages: ErasedMessagesRepository,
  ) {
    this.messages = new StreamMessages(stream.connection, eventsStreamName);
  }

  async run(erasure: RunningErasure, user: SoughtUser): Promise<ErasureStep> {
    const beganAt = performance.now();
    const extent = await this.messages.find();
    const epoch = extent && parseStreamDescription(extent.description)?.epoch;
    // The stream does not exist yet, or has no epoch yet.
    if (!extent || epoch === undefined) return { isComplete: false, position: null, pauseMs: intervalMs };
    const position = erasure.position as Position | null; // Safe cast: this stage wrote the position.
    const known = position?.epoch === epoch ? position : undefined;
    const next = Math.max(known?.next ?? 1, extent.firstSequence);
    // `stageAgeMs` was read before `lastSequence`. If `isSettled`, every old batch is therefore at or below `lastSequence`.
    const isSettled = erasure.isDryRun || erasure.stageAgeMs > inFlightMs;
    const end = known?.end ?? (isSettled ? extent.lastSequence : undefined);
    const reached = (from: number): Position => ({ epoch, next: from, ...(end !== undefined && { end }) });
    if (end !== undefined && next > end)
      return {
        isComplete: true,
        position: reached(next),
        apply: (transaction) => this.erasedMessages.forgetOld(transaction, epoch, this.stream.maxAgeMs),
      };
    if (next > extent.lastSequence)
      return { isComplete: false, position: reached(next), pauseMs: intervalMs };
    const messages = await this.messages.read({ from: next, until: extent.lastSequence }, maxRead);
    const found = messages
      .map((message) => ({ message, fields: fieldsOf(message, user, erasure.erasesUntil.getTime()) }))
      .filter(({ fields }) => fields.length > 0);
    const sequences = found.map(({ message }) => message.sequence);
    if (!erasure.isDryRun && sequences.length > 0) {
      await this.erasedMessages.add(epoch, sequences);
      await this.messages.erase(sequences);
    }
    const after = (messages.at(-1)?.sequence ?? extent.lastSequence) + 1;
    const last = end ?? extent.lastSequence;
    return {
      isComplete: false,
      position: reached(after),
      progress: Math.min(1, (after - extent.firstSequence) / (last - extent.firstSequence + 1)),
      counts: addCounts(
        erasure.counts,
        'event_stream_messages',
        found.map(({ fields }) => fields),
      ),
      pauseMs: Math.max(performance.now() - beganAt, minPauseMs),
    };
  }
}

function fieldsOf({ messageId, data }: StoredMessage, user: SoughtUser, until: number): string[] {
  if (isUuid(messageId) && receivedAt(messageId) > until) return [];
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  // Most messages name other users, so avoid parsing them. A message can only match if it contains the id, or Unicode escapes that may
  // spell the id.
  if (user.id !== null && !bytes.includes(user.id) && !bytes.includes('\\u00')) return [];
  return fieldsNaming(user, bytes.toString()).map((field) =>
    field.startsWith(prefix) ? field.slice(prefix.length) : field,
  );
}
