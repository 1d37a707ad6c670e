import { Inject, Injectable } from '@nestjs/common';
import {
  FailureLog,
  LOGGER,
  Registry,
  startAtZero,
  WorkerLoop,
  type Counter,
  type Logger,
} from '@stream-events/service';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { AlarmPosts, type ClaimedPost } from './alarm-posts.repository.js';
import { ALARM_TIMES, type AlarmTimes } from './alarm-times.js';
import { ALERT_WEBHOOK, type AlertWebhook } from './alert-webhook.js';
import { connectorMetrics } from '../metrics.js';

const idleMs = 1_000;
const maxBackoffMs = 10_000;
// How much of a reply's body to read. The content does not matter, but reading to the end lets the next post reuse the connection.
const maxReplyBytes = 16 * 1024;

/**
 * Posts alarms to the alert webhook, signed according to Standard Webhooks. Instances share the work: each claims a message before it posts
 * the message. If an instance crashes, another posts its message again with the same `webhook-id`.
 * ```
 *  due ──claimed──▶ posting ──2xx──▶ removed
 *   ▲                  │ any other reply, or none
 *   └── 5 s … 5 min ◀──┴── after 17 attempts: given up
 * ```
 */
@Injectable()
export class AlarmPoster {
  // undici follows no redirects, so messages reach only the configured host.
  private readonly agent = new Agent({ connections: 1 });
  private readonly failures: FailureLog;
  private readonly loop: WorkerLoop;
  private readonly postsTotal: Counter<'result'>;

  constructor(
    private readonly posts: AlarmPosts,
    @Inject(ALERT_WEBHOOK) private readonly webhook: AlertWebhook | null,
    @Inject(ALARM_TIMES) private readonly times: AlarmTimes,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: () => this.postNext(),
      idleMs,
      maxBackoffMs,
      onFailure: (err) => this.failures.warn('cannot read the alarms to post, retrying within 10 s', { err }),
    });
    this.postsTotal = connectorMetrics.alarm_posts_total.create(metrics);
    startAtZero(this.postsTotal, [{ result: 'posted' }, { result: 'failed' }, { result: 'given_up' }]);
  }

  start(): void {
    if (this.webhook) this.loop.start();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await this.agent.close();
  }

  private async postNext(): Promise<boolean> {
    const post = await this.posts.claim();
    if (!post || !this.webhook) return false;
    try {
      await this.send(post, this.webhook);
    } catch (error) {
      await this.onFailed(post, error);
      return true;
    }
    this.postsTotal.inc({ result: 'posted' });
    await this.posts.remove(post.sequence);
    return true;
  }

  private async send({ id, body }: ClaimedPost, { url, secret }: AlertWebhook): Promise<void> {
    const now = new Date();
    const { statusCode, body: reply } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'stream-events',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, now, body),
      },
      body,
      dispatcher: this.agent,
      signal: AbortSignal.timeout(this.times.posting.timeoutMs),
    });
    await reply.dump({ limit: maxReplyBytes });
    if (statusCode < 200 || statusCode > 299) throw new Error(`the receiver replied with ${statusCode}`);
  }

  private async onFailed({ sequence, id, attempts }: ClaimedPost, error: unknown): Promise<void> {
    const { minPauseMs, maxPauseMs, maxAttempts } = this.times.posting;
    // Do not log the URL, which can contain a secret. undici's errors do not contain the URL.
    const details = { err: error, webhookId: id, attempts };
    if (attempts >= maxAttempts) {
      this.postsTotal.inc({ result: 'given_up' });
      this.logger.error(details, 'cannot post an alarm to ALERT_WEBHOOK_URL, giving up');
      await this.posts.remove(sequence);
      return;
    }
    this.postsTotal.inc({ result: 'failed' });
    this.failures.warn('cannot post an alarm to ALERT_WEBHOOK_URL, retrying', details);
    await this.posts.postpone(sequence, Math.min(minPauseMs * 2 ** (attempts - 1), maxPauseMs));
  }
}
