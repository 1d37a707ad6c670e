/** What the command line says when it cannot do what was asked. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

const requestTimeoutMs = 30_000;

/** Talks to the control interface of a running simulator. */
export class ControlClient {
  constructor(private readonly url: string) {}

  /** Calls a path under /simulator. */
  async call<Reply>(method: string, path: string, body?: object): Promise<Reply> {
    const response = await this.fetch(method, `${this.url}/simulator${path}`, body);
    const text = await response.text();
    if (response.headers.get('x-platform-simulation') !== 'true') {
      throw new CommandError(`${this.url} answers, but it is not the simulated platform: is --url right?`);
    }
    const reply: unknown = text === '' ? null : JSON.parse(text);
    if (!response.ok) throw new CommandError(`Refused with ${response.status}: ${messageOf(reply)}`);
    return reply as Reply; // holds: the simulator of this very package answers, as the header says
  }

  private async fetch(method: string, url: string, body: object | undefined): Promise<Response> {
    try {
      return await fetch(url, {
        method,
        signal: AbortSignal.timeout(requestTimeoutMs),
        ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
    } catch (error) {
      const advice = 'does it run? npm start says where; another address goes with --url';
      throw new CommandError(`No simulator answers at ${this.url}: ${advice}.`, { cause: error });
    }
  }
}

function messageOf(reply: unknown): string {
  const { message } = Object(reply) as { message?: unknown };
  return typeof message === 'string' ? message : 'it does not say why';
}
