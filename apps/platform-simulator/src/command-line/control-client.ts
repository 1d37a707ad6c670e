/** A failed command. The user sees the message. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

const requestTimeoutMs = 30_000;

export interface ControlAddress {
  /** Base URL of the simulator, such as `http://127.0.0.1:8100`. */
  url: string;
  controlSecret: string;
}

export class ControlClient {
  constructor(private readonly address: ControlAddress) {}

  /** @param path path below /simulator */
  async call<Reply>(method: string, path: string, body?: object): Promise<Reply> {
    const { url } = this.address;
    const { response, text } = await this.fetch(method, `${url}/simulator${path}`, body);
    if (response.headers.get('x-platform-simulation') !== 'true') {
      throw new CommandError(`${url} is not a simulated platform. Check --url.`);
    }
    const reply: unknown = text === '' ? null : JSON.parse(text);
    if (!response.ok)
      throw new CommandError(`The simulator responded with ${response.status}: ${messageOf(reply)}`);
    return reply as Reply; // Safe cast: the header proves that a simulator replied.
  }

  private async fetch(
    method: string,
    url: string,
    body: object | undefined,
  ): Promise<{ response: Response; text: string }> {
    try {
      const response = await fetch(url, {
        method,
        redirect: 'manual', // the control API never redirects, and another server must not receive the secret
        signal: AbortSignal.timeout(requestTimeoutMs),
        headers: {
          authorization: `Bearer ${this.address.controlSecret}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { response, text: await response.text() };
    } catch (error) {
      throw new CommandError(
        `Cannot reach a simulator at ${this.address.url}. Start a simulator with npm start, or check --url.`,
        { cause: error },
      );
    }
  }
}

function messageOf(reply: unknown): string {
  const { message } = Object(reply) as { message?: unknown };
  return typeof message === 'string' ? message : 'no reason in the response';
}
