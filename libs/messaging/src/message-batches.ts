import { setTimeout as wait } from 'node:timers/promises';
import type { JsMsg } from '@nats-io/jetstream';

type Message = Pick<JsMsg, 'data'>;

const maxMessages = 100;
// Maximum size of a batch. A larger message forms a batch by itself.
const maxBytes = 2 * 1024 ** 2;
const gatherMs = 500;

/**
 * Yields the messages of a fetch in batches of at most 100 messages and 2 MiB, in their order. A batch ends when it is full, 0.5 s after its
 * first message arrived, or with the fetch. Messages continue to arrive while the caller handles a batch, so read to the end.
 *
 * @throws the error that ended the fetch, when no message has arrived. Otherwise, the error occurs again at the next fetch.
 */
export async function* batchesOf<T extends Message>(
  fetched: AsyncIterable<T>,
): AsyncGenerator<T[], undefined> {
  const arrivals = new Arrivals(fetched);
  for (;;) {
    await arrivals.wait((waiting) => waiting.length > 0);
    if (arrivals.waiting.length === 0) break;
    await Promise.race([wait(gatherMs, undefined, { ref: false }), arrivals.wait(hasFullBatch)]);
    yield arrivals.waiting.splice(0, countOfBatch(arrivals.waiting));
  }
  await arrivals.ended;
}

/** Collects the messages of a fetch in the background. */
class Arrivals<T extends Message> {
  readonly waiting: T[] = [];
  /** Rejects when the fetch failed before its first message. */
  readonly ended: Promise<void>;
  private hasEnded = false;
  private onChange = (): void => undefined;

  constructor(fetched: AsyncIterable<T>) {
    this.ended = this.collect(fetched);
    this.ended.catch(() => undefined); // its error counts as unhandled until somebody awaits it
  }

  /** Waits until the condition is true for the waiting messages, or the fetch has ended. */
  wait(isTrue: (waiting: readonly T[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.onChange = () => {
        if (this.hasEnded || isTrue(this.waiting)) resolve();
      };
      this.onChange();
    });
  }

  private async collect(fetched: AsyncIterable<T>): Promise<void> {
    let hasMessage = false;
    try {
      for await (const message of fetched) {
        hasMessage = true;
        this.waiting.push(message);
        this.onChange();
      }
    } catch (error) {
      if (!hasMessage) throw error;
    } finally {
      this.hasEnded = true;
      this.onChange();
    }
  }
}

function hasFullBatch(messages: readonly Message[]): boolean {
  return messages.length >= maxMessages || countOfBatch(messages) < messages.length;
}

/** Counts the first messages that form one batch: at least one message. */
function countOfBatch(messages: readonly Message[]): number {
  let bytes = 0;
  const end = messages.findIndex(
    ({ data }, index) => index === maxMessages || ((bytes += data.length) > maxBytes && index > 0),
  );
  return end === -1 ? messages.length : end;
}
