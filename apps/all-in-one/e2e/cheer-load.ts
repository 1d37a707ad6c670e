import type { SimulatedUser } from './simulated-platform.js';
import type { Stack } from './stack.js';

const perSecond = 50;
// Equal cheers are this many cheers (0.4 s) apart. The store may count equal cheers within 25 ms of the end of an overlap as one (see
// `edgeMs`).
const differentCheers = 20;
// An equal cheer is left out until this long after the response, because a busy machine delays some cheers.
const equalAfterMs = 300;

/** Sends cheers at a steady rate. They have no ids, and many cheers are equal. */
export class CheerLoad {
  private readonly happened: Record<string, number> = {};
  private readonly requests = new Set<Promise<unknown>>();
  private readonly failures: unknown[] = [];
  /** The payloads that were sent so recently that an equal one is left out. */
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

  /** Ends the load, even after a failed test. */
  end(): void {
    clearInterval(this.timer);
  }

  /** Ends the load. Returns how often each payload has happened. */
  async stop(): Promise<Record<string, number>> {
    clearInterval(this.timer);
    await Promise.all(this.requests);
    expect(this.failures).toEqual([]);
    return this.happened;
  }

  /** Returns the number of deliveries that the simulator still retries. Fails when the simulator has given up on a delivery. */
  async countUnfinished(): Promise<number> {
    const { json } = await this.stack.simulate<{ notifications: { accepted: number; given_up: number } }>(
      'GET',
      '/simulator',
    );
    const { accepted, given_up } = json.notifications;
    expect(given_up).toBe(0);
    return this.deliveries - accepted;
  }

  /** Returns how often each payload is stored. */
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
