import { Injectable } from '@nestjs/common';
import { eventsStreamName, parseStreamDescription, receivedAt } from '@stream-events/contracts';
import { validate as isUuid } from 'uuid';
import { EventsStream } from '../relay/events-stream.js';
import { ErasedMessagesRepository } from './erased-messages.repository.js';
import { addCounts, fieldsNaming, type ErasureStep, type SoughtUser, type Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';
import { StreamMessages, type StoredMessage } from './stream-messages.js';

interface Position {
  /** The epoch of the sequences. Sequences of different epochs are unrelated. */
  epoch: string;
  next: number;
  /**
   * The last sequence to read. Set once no old batch can be in flight anymore. Without this limit, the stage would never end, because
   * events keep arriving.
   */
  end?: number;
}

// Maximum number of messages per step. Each step also creates a consumer and saves the position, which takes as long as reading hundreds of
// messages, so smaller steps would be slow.
const maxRead = 5_000;
/**
 * Within 10 s, a relay publishes or drops each batch in its memory (see `RelayQueue`). It then waits up to 5 s for the acknowledgement.
 * After this time, the stream contains every batch that a relay had read before the events were erased from the store.
 */
const inFlightMs = 16_000;
const intervalMs = 500;
const minPauseMs = 1;
const prefix = 'event_data.';

/**
 * Erases the messages of the user from the EVENTS stream: reads the whole stream, and then the batches that the relays still publish from
 * memory. Records the sequence of each message before it erases the message, so that a client that resumes at this sequence gets no gap.
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
    // The events service has not created the stream or not set its epoch yet.
    if (!extent || epoch === undefined) return { isComplete: false, position: null, pauseMs: intervalMs };
    const position = erasure.position as Position | null; // Safe cast: this stage wrote the position.
    const known = position?.epoch === epoch ? position : undefined;
    const next = Math.max(known?.next ?? 1, extent.firstSequence);
    // The stage's age was read before the stream's last sequence. If `isSettled`, all old batches are therefore at or below the last
    // sequence.
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
  // Most messages name other users. Parse only messages that contain the id, or escapes that may spell the id.
  if (user.id !== null && !bytes.includes(user.id) && !bytes.includes('\\u00')) return [];
  return fieldsNaming(user, bytes.toString()).map((field) =>
    field.startsWith(prefix) ? field.slice(prefix.length) : field,
  );
}
