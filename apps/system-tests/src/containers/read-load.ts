import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** One path for the gateway, and one for each service behind it. */
const paths = [
  '/api/v1/platform-events?page_size=5', // events
  '/api/v1/streamers', // streamer monitor
  '/api/v1/platform/subscriptions', // platform connector
  '/api/v1/users/me', // gateway
];

const answerLimitMs = 10_000;

/** Responses with status 200, and failures by path and reason. */
export interface ReadCounts {
  succeeded: number;
  failures: Map<string, number>;
}

/** Clients that read through the proxy, one request after the other. Half of them keep their connections open. */
export class ReadLoad {
  private counts: ReadCounts = { succeeded: 0, failures: new Map() };
  private running: Promise<unknown> = Promise.resolve();
  private isStopped = true;

  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly clients = 4,
    private readonly pauseMs = 40,
  ) {}

  start(): void {
    this.isStopped = false;
    this.running = Promise.all(Array.from({ length: this.clients }, (_, index) => this.runClient(index)));
  }

  /** Waits for the last responses. Returns the counts since the start. */
  async stop(): Promise<ReadCounts> {
    this.isStopped = true;
    await this.running;
    const { counts } = this;
    this.counts = { succeeded: 0, failures: new Map() };
    return counts;
  }

  private async runClient(index: number): Promise<void> {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
    for (let turn = index; !this.isStopped; turn += 1) {
      const path = paths[turn % paths.length] ?? '/';
      const answer = await this.get(path, agent);
      if (answer === '200') this.counts.succeeded += 1;
      else {
        const name = `${path.replace(/\?.*/, '')}: ${answer}`;
        this.counts.failures.set(name, (this.counts.failures.get(name) ?? 0) + 1);
      }
      await wait(this.pauseMs);
    }
    agent.destroy();
  }

  /** Resolves with the status, and with the reason if the request failed. Without a response, resolves with the error. */
  private get(path: string, agent: Agent): Promise<string> {
    return new Promise((resolve) => {
      const options = { agent, headers: { authorization: `Token ${this.token}` }, timeout: answerLimitMs };
      const outgoing = request(this.url + path, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', (error) => resolve(`broken (${error.message})`));
        response.once('end', () => resolve(describe(response.statusCode, Buffer.concat(chunks).toString())));
      });
      outgoing.once('timeout', () => outgoing.destroy(new Error('no response in time')));
      outgoing.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      outgoing.end();
    });
  }
}

/** Returns the status. For a failure, adds the gateway's error text, or "by the proxy" if there is none. */
function describe(status: number | undefined, body: string): string {
  if (status === 200) return '200';
  const detail = /"detail":"([^"]*)"/.exec(body)?.[1];
  return `${status} (${detail ?? 'by the proxy'})`;
}
