import { setTimeout as wait } from 'node:timers/promises';
import type { JsMsg } from '@nats-io/jetstream';

type Message = Pick<JsMsg, 'data'>;

const maxMessages = 100;
// Maximum size of a batch. A larger message is a batch of its own.
const maxBytes = 2 * 1024 ** 2;
const gatherMs = 500;

/**
 * Yields the messages of a fetch in order, in batches of at most 100 messages and 2 MiB. A batch ends when it is full, 0.5 s after its
 * first message, or with the fetch. While the caller handles a batch, more messages arrive, so read to the end.
 *
 * @throws the error that ended the fetch, if no message has arrived; otherwise ignores the error, which shows again at the next fetch if it
 * persists
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
    this.ended.catch(() => undefined); // until someone awaits `ended`, Node would treat its error as unhandled
  }

  /** Waits until the waiting messages meet the condition, or the fetch has ended. */
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

/** Returns how many of the first messages fit in one batch; at least one. */
function countOfBatch(messages: readonly Message[]): number {
  let bytes = 0;
  const end = messages.findIndex(
    ({ data }, index) => index === maxMessages || ((bytes += data.length) > maxBytes && index > 0),
  );
  return end === -1 ? messages.length : end;
}
