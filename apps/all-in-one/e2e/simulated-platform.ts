import { randomBytes } from 'node:crypto';
import type { Stack } from './stack.js';

export interface SimulatedUser {
  id: string;
  login: string;
  display_name: string;
}

/** A stream in the simulator's own records. */
export interface TrueStream {
  id: string;
  user_id: string;
  started_at: string;
  ended_at: string | null;
}

export interface ApiFault {
  mode: 'ok' | 'down' | 'slow' | 'garbage' | 'error' | 'rate_limited';
  delay_ms?: number;
  for_ms?: number;
}

/** Controls the simulated platform. Throws when the simulator rejects a request. */
export class SimulatedPlatform {
  constructor(private readonly stack: Stack) {}

  /** Adds a user. The default login is unique to the test. */
  async addUser(login = uniqueLogin()): Promise<SimulatedUser> {
    const { users } = await this.call<{ users: SimulatedUser[] }>('POST', '/simulator/users', {
      login,
      display_name: login.toUpperCase(),
    });
    return users[0]!;
  }

  rename(userId: string, login: string): Promise<unknown> {
    return this.call('PATCH', `/simulator/users/${userId}`, { login });
  }

  goLive(userId: string, options: Record<string, unknown> = {}): Promise<TrueStream> {
    return this.call('POST', '/simulator/streams', { user_id: userId, ...options });
  }

  change(userId: string, fields: Record<string, unknown>): Promise<unknown> {
    return this.call('PATCH', `/simulator/streams/${userId}`, fields);
  }

  goOffline(userId: string, options: Record<string, unknown> = {}): Promise<unknown> {
    return this.call('DELETE', `/simulator/streams/${userId}`, options);
  }

  /** Returns running and ended streams. */
  streamsOf(userId: string): Promise<TrueStream[]> {
    return this.call('GET', `/simulator/streams?user_id=${userId}`);
  }

  setFaults(faults: {
    api?: ApiFault;
    notifications?: Record<string, number>;
    oauth?: Record<string, number>;
  }): Promise<unknown> {
    return this.call('PATCH', '/simulator', { faults });
  }

  revokeTokens(): Promise<unknown> {
    return this.call('POST', '/simulator/tokens/revoke');
  }

  setLimits(limits: Record<string, number>): Promise<unknown> {
    return this.call('POST', '/simulator/limits', limits);
  }

  /** Answers a device code as the user. */
  decide(
    userCode: string,
    decision: { decision: 'allow'; login: string } | { decision: 'deny' },
  ): Promise<unknown> {
    return this.call('POST', '/simulator/device-codes', { user_code: userCode, ...decision });
  }

  /** Gives consent on the platform's page as this user. Returns the URL to which the platform redirects. */
  async authorize(page: string, login: string): Promise<URL> {
    const { search } = new URL(page);
    const { url = '' } = this.stack.simulator ?? {};
    const response = await fetch(`${url}/oauth2/authorize`, {
      method: 'POST',
      headers: { origin: url },
      body: new URLSearchParams(`${search}&login=${login}&decision=allow`),
      redirect: 'manual',
    });
    return new URL(response.headers.get('location') ?? '');
  }

  /** Revokes the application's access as the user. */
  disconnect(login: string): Promise<unknown> {
    return this.call('DELETE', '/simulator/grants', { login });
  }

  /** Returns the number of calls per platform endpoint. */
  async requests(): Promise<Record<string, number>> {
    return (await this.call<{ requests: Record<string, number> }>('GET', '/simulator')).requests;
  }

  private async call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.stack.simulate<Body>(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  }
}

export function uniqueLogin(): string {
  return `user_${randomBytes(6).toString('hex')}`;
}
