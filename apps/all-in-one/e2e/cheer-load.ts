import { eventually } from '@stream-events/testing';
import type { SimulatedUser } from './simulated-platform.js';
import type { Stack } from './stack.js';

const perSecond = 50;

/** Sends cheers without ids at a steady rate. Each cheer has another number of bits. */
export class CheerLoad {
  private readonly requests = new Set<Promise<unknown>>();
  private readonly failures: unknown[] = [];
  private readonly timer: NodeJS.Timeout;
  private deliveries = 0;
  /** The number of cheers so far, and the bits of the last one. */
  private count = 0;

  constructor(
    private readonly stack: Stack,
    private readonly streamers: readonly SimulatedUser[],
  ) {
    this.timer = setInterval(() => this.cheer(), 1_000 / perSecond);
  }

  /** Stops sending without any checks, so that cleanup works after a failed test. */
  end(): void {
    clearInterval(this.timer);
  }

  /** Waits for more cheers. Returns the number of the first cheer after the call. */
  async untilMore(cheers: number): Promise<number> {
    const next = this.count + 1;
    await eventually(() => expect(this.count).toBeGreaterThan(next + cheers), { timeoutMs: 60_000 });
    return next;
  }

  /** Stops sending, after the simulator has accepted every cheer. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.requests);
    expect(this.failures).toEqual([]);
  }

  /** Returns the number of deliveries that the simulator still retries. Fails if the simulator gave up on a delivery. */
  async countUnfinished(): Promise<number> {
    const { json } = await this.stack.simulate<{ notifications: { accepted: number; given_up: number } }>(
      'GET',
      '/simulator',
    );
    const { accepted, given_up } = json.notifications;
    expect(given_up).toBe(0);
    return this.deliveries - accepted;
  }

  /**
   * Checks that every cheer is stored. While a subscription moves, its messages arrive twice under different ids, so a cheer may be stored
   * twice. From the cheer number `from` on, no subscription was moving, so every cheer must be stored once.
   */
  async expectStored(from: number): Promise<void> {
    const rows = await this.stack.query<{ bits: number; count: number }>(
      `SELECT (event_data->>'bits')::int AS bits, count(*)::int AS count
       FROM events.events WHERE event_type = 'channel-cheer' GROUP BY 1`,
    );
    const stored = new Map(rows.map(({ bits, count }) => [bits, count]));
    const sent = Array.from({ length: this.count }, (_, index) => index + 1);
    const missing = sent.filter((bits) => !stored.has(bits));
    const repeated = sent.filter((bits) => (stored.get(bits) ?? 0) > (bits < from ? 2 : 1));
    expect({ missing, repeated }).toEqual({ missing: [], repeated: [] });
  }

  private cheer(): void {
    const streamer = this.streamers[this.count % this.streamers.length]!;
    this.count += 1;
    const event = {
      is_anonymous: true,
      bits: this.count,
      message: 'Cheer',
      broadcaster_user_id: streamer.id,
    };
    const request = this.stack
      .simulate<{ subscriptions: number }>('POST', '/simulator/occurrences', { type: 'channel.cheer', event })
      .then(({ status, json }) => {
        if (status !== 202) throw new Error(`the simulator answered ${status}`);
        this.deliveries += json.subscriptions;
      })
      .catch((error: unknown) => this.failures.push(error))
      .finally(() => this.requests.delete(request));
    this.requests.add(request);
  }
}
