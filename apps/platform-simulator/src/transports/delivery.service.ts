import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  BadRequestException,
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { CONFIG, LOGGER, type Logger } from '@stream-events/service';
import { Agent, request } from 'undici';
import { PlatformLimits } from '../behavior/platform-limits.js';
import type { SimulatorConfig } from '../platform-simulator.config.js';
import { headersOf, type Envelope, type Message } from './message.js';

/** A callback's response. If there was none, `status` is 0 and `error` is the reason. */
export interface Reply {
  status: number;
  body: string;
  error?: 'timeout' | 'unreachable';
}

/** Totals over all notifications since the start. */
@Injectable()
export class DeliveryCounts {
  private accepted = 0;
  /** The set of keys is bounded: HTTP statuses, `timeout`, and `unreachable`. */
  private readonly refused: Record<string, number> = {};
  private givenUp = 0;
  private dropped = 0;

  countReply({ type }: Envelope, reply: Reply): void {
    if (type !== 'notification') return;
    const result = reply.error ?? reply.status;
    if (isAccepted(reply)) this.accepted += 1;
    else this.refused[result] = (this.refused[result] ?? 0) + 1;
  }

  countGivenUp({ type }: Envelope): void {
    if (type === 'notification') this.givenUp += 1;
  }

  countDropped({ type }: Envelope): void {
    if (type === 'notification') this.dropped += 1;
  }

  view() {
    const { accepted, refused, givenUp, dropped } = this;
    return {
      /** Requests that have ended, with or without a response (including retries), and socket frames. */
      sent: Object.values(refused).reduce((sum, count) => sum + count, accepted),
      /** 2xx responses, and frames on open sockets. */
      accepted,
      /**
       * Failed requests by HTTP status. Without a response, the key is `timeout` or `unreachable`. Frames to ended sessions count as
       * `unreachable`.
       */
      refused: { ...refused },
      /** Notifications whose last attempt failed. */
      given_up: givenUp,
      /** Conduit notifications lost because no suitable shard was enabled. */
      dropped,
    };
  }
}

// Maximum connections per origin of a callback. Equals `maxInFlight` in notification-generator.service.ts.
const maxConnections = 128;

// Time limit for a callback. The platform waits "a few seconds" (FACTS.md §1.4); its command-line tool waits 10 s.
const requestTimeoutMs = 10_000;

// Maximum length of a response. Valid ones are short: a challenge or an explanation. A longer response fails the delivery.
const maxReplyBytes = 64 * 1024;

const drainTimeoutMs = 5_000;

/** Sends messages to callbacks like the platform: with a timeout, with retries, and without following redirects. */
@Injectable()
export class DeliveryService implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly inFlight = new Set<Promise<Reply>>();
  private readonly closing = new AbortController();
  private readonly agent = new Agent({
    connections: maxConnections,
    connect: { timeout: requestTimeoutMs },
    maxResponseSize: maxReplyBytes,
  });

  constructor(
    @Inject(CONFIG) private readonly config: SimulatorConfig,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(DeliveryCounts) private readonly counts: DeliveryCounts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    setMaxListeners(0, this.closing.signal); // each pending retry adds a listener
  }

  /**
   * Rejects callbacks outside the configured gateways. Without this check, clients could use the simulator to reach other servers in its
   * network.
   *
   * @throws BadRequestException if the callback has another origin
   */
  checkCallback(callback: string): void {
    const allowed = this.config.SIMULATOR_CALLBACK_ORIGINS.map((url) => new URL(url).origin);
    if (URL.canParse(callback) && allowed.includes(new URL(callback).origin)) return;
    throw new BadRequestException(
      `the callback ${callback} is not on ${allowed.join(', ')}: set SIMULATOR_CALLBACK_ORIGINS to the addresses of the gateways`,
    );
  }

  /** Sends a message once. The caller must have called `checkCallback`. */
  send(message: Message, callback: string, retry = 0): Promise<Reply> {
    const sending = this.request(message, callback, retry);
    this.inFlight.add(sending);
    return sending.finally(() => this.inFlight.delete(sending));
  }

  /** Retries after each delay in `retry_delays_ms`. Returns true if the callback accepted the message. */
  async sendWithRetries(createCopy: () => Message, callback: string): Promise<boolean> {
    for (const [retry, delayMs] of [...this.limits.current.retry_delays_ms, null].entries()) {
      const copy = createCopy();
      const reply = await this.send(copy, callback, retry);
      if (isAccepted(reply)) return true;
      const goesOn = delayMs !== null && (await this.waitUnlessClosing(delayMs));
      if (goesOn) continue;
      this.counts.countGivenUp(copy);
      break;
    }
    return false;
  }

  /** Returns false if the service shuts down during the wait. */
  async waitUnlessClosing(delayMs: number): Promise<boolean> {
    try {
      return await delay(delayMs, true, { signal: this.closing.signal });
    } catch {
      return false; // only shutdown rejects the wait
    }
  }

  onModuleDestroy(): void {
    this.closing.abort();
  }

  /** Waits up to 5 s for messages in flight, and aborts the rest. */
  async beforeApplicationShutdown(): Promise<void> {
    const timeout = new AbortController();
    await Promise.race([
      Promise.allSettled([...this.inFlight]),
      // Only the abort below rejects this promise, after the race is over.
      delay(drainTimeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined),
    ]);
    timeout.abort();
    await this.agent.destroy();
  }

  private async request(message: Message, callback: string, retry: number): Promise<Reply> {
    const reply = await this.exchange(callback, headersOf(message, retry), message.body);
    const result = reply.error ?? String(reply.status);
    this.counts.countReply(message, reply);
    this.logger.debug(
      { messageId: message.id, type: message.subscription.type, retry, result },
      'message sent',
    );
    return reply;
  }

  private async exchange(callback: string, headers: Record<string, string>, body: string): Promise<Reply> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), requestTimeoutMs);
    try {
      // undici does not follow redirects, so a 3xx is a failure, as on the platform.
      const response = await request(callback, {
        method: 'POST',
        headers,
        body,
        dispatcher: this.agent,
        signal: abort.signal,
      });
      return { status: response.statusCode, body: await response.body.text() };
    } catch {
      // A failing callback is normal, so return the failure. The caller counts and logs it.
      return { status: 0, body: '', error: abort.signal.aborted ? 'timeout' : 'unreachable' };
    } finally {
      clearTimeout(timer);
    }
  }
}

export function isAccepted(reply: Reply): boolean {
  return reply.status >= 200 && reply.status < 300;
}
