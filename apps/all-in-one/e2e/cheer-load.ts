import type { SimulatedUser } from './simulated-platform.js';
import type { Stack } from './stack.js';

const perSecond = 50;
// Minimum distance between equal cheers, in cheers (0.4 s). Within 25 ms of the end of an overlap, the store can count equal cheers as one
// (see `edgeMs`).
const differentCheers = 20;
// After each response, the load sends no equal cheer for this long, because a busy machine delays some cheers.
const equalAfterMs = 300;

/** Sends cheers without ids at a steady rate. Many cheers are equal. */
export class CheerLoad {
  private readonly happened: Record<string, number> = {};
  private readonly requests = new Set<Promise<unknown>>();
  private readonly failures: unknown[] = [];
  /** Payloads sent recently. The load skips cheers that equal one of these. */
  private readonly recent = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private deliveries = 0;
  private count = 0;

  constructor(
    private readonly stack: Stack,
    private readonly streamers: readonly SimulatedUser[],
  ) {
    this.timer = setInterval(() => this.happen(), 1_000 / perSecond);
  }

  /** Stops sending without any checks, so that cleanup works after a failed test. */
  end(): void {
    clearInterval(this.timer);
  }

  /** Stops sending and returns how often each payload occurred. */
  async stop(): Promise<Record<string, number>> {
    clearInterval(this.timer);
    await Promise.all(this.requests);
    expect(this.failures).toEqual([]);
    return this.happened;
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

  async countStored(): Promise<Record<string, number>> {
    const counts = await this.stack.query<{ payload: string; count: number }>(
      `SELECT concat(broadcaster_user_id, ' ', event_data->>'bits') AS payload, count(*)::int AS count
       FROM events.events WHERE event_type = 'channel-cheer' GROUP BY 1`,
    );
    return Object.fromEntries(counts.map(({ payload, count }) => [payload, count]));
  }

  private happen(): void {
    const streamer = this.streamers[this.count % this.streamers.length]!;
    const bits = 1 + (this.count % differentCheers);
    this.count += 1;
    const payload = `${streamer.id} ${bits}`;
    if (this.recent.has(payload)) return;
    this.recent.add(payload);
    const event = { is_anonymous: true, bits, message: 'Cheer', broadcaster_user_id: streamer.id };
    const request = this.stack
      .simulate<{ subscriptions: number }>('POST', '/simulator/occurrences', { type: 'channel.cheer', event })
      .then(({ status, json }) => {
        if (status !== 202) throw new Error(`the simulator answered ${status}`);
        this.deliveries += json.subscriptions;
        this.happened[payload] = (this.happened[payload] ?? 0) + 1;
      })
      .catch((error: unknown) => this.failures.push(error))
      .finally(() => {
        this.requests.delete(request);
        setTimeout(() => this.recent.delete(payload), equalAfterMs).unref();
      });
    this.requests.add(request);
  }
}
