import { EventSender } from '../chaos/event-sender.js';
import { makeEvent } from '../chaos/fault-load.js';
import type { Credentials } from '../load/request-maker.js';
import type { GatewayClient } from './gateway-client.js';

export const probeKinds = ['heartbeat', 'list', 'webhook'] as const;
export type ProbeKind = (typeof probeKinds)[number];

/** Results over a period. */
export interface Speeds {
  /** Durations of successful requests, in milliseconds. */
  ms: Record<ProbeKind, number[]>;
  failures: number;
}

/** Requests per second of each kind. This load leaves the machine mostly idle. */
export const perSecond = 20;

const noSpeeds = (): Speeds => ({ ms: { heartbeat: [], list: [], webhook: [] }, failures: 0 });

/** Sends requests of each kind at a fixed rate, even if replies are late. Measures their durations. */
export class SpeedProbe {
  private readonly sender: EventSender;
  private readonly timers: NodeJS.Timeout[];
  private speeds = noSpeeds();
  private pending = new Set<Promise<void>>();

  constructor(
    private readonly client: GatewayClient,
    credentials: Credentials,
  ) {
    this.sender = new EventSender(credentials, { connectionsEach: perSecond, keepAlive: true });
    this.timers = probeKinds.map((kind) => setInterval(() => this.send(kind), 1_000 / perSecond));
  }

  /** Waits for pending replies. Returns the results since the last call. */
  async take(): Promise<Speeds> {
    const { speeds, pending } = this;
    this.speeds = noSpeeds();
    this.pending = new Set();
    await Promise.all(pending);
    return speeds;
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await this.take();
    this.sender.close();
  }

  private send(kind: ProbeKind): void {
    const { speeds, pending } = this;
    const sent = this.measure(kind, speeds).finally(() => pending.delete(sent));
    pending.add(sent);
  }

  private async measure(kind: ProbeKind, speeds: Speeds): Promise<void> {
    const startedAt = performance.now();
    // Any error counts as a failure of the service.
    const isSuccess = await this.attempt(kind).catch(() => false);
    if (isSuccess) speeds.ms[kind].push(performance.now() - startedAt);
    else speeds.failures += 1;
  }

  private async attempt(kind: ProbeKind): Promise<boolean> {
    switch (kind) {
      case 'heartbeat':
        return (await this.client.request('GET', '/api/v1/heartbeat')).status === 200;
      case 'list':
        return (await this.client.request('GET', '/api/v1/platform-events?page_size=50')).status === 200;
      case 'webhook':
        return (await this.sender.send(makeEvent('notification'), this.client.url)).kind === 'accepted';
    }
  }
}
