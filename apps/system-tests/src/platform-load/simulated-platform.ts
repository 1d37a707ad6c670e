import type { PlatformSide } from '../system/platform-side.js';
import { expectSuccess, requestJson } from './json-request.js';

export interface SimulatedUser {
  id: string;
  login: string;
}

/** A stream as it really was. Times are in milliseconds since 1970. */
export interface TrueStream {
  id: string;
  userId: string;
  startedAt: number;
  endedAt: number | null;
}

export interface ApiFault {
  mode: 'ok' | 'down' | 'slow' | 'garbage' | 'error' | 'rate_limited';
  delay_ms?: number;
  for_ms?: number;
}

/** Total cost of the subscriptions, and the platform's limit. */
export interface Cost {
  total: number;
  max: number;
}

export interface SimulatedSubscription {
  type: string;
  status: string;
  condition: Record<string, string>;
}

interface SubscriptionPage {
  data: SimulatedSubscription[];
  total_cost: number;
  max_total_cost: number;
  pagination: { cursor?: string };
}

/** Controls the simulated platform and reads the true streams. Bypasses the tap, so that these calls do not count. */
export class SimulatedPlatform {
  private accessToken: string | undefined;

  constructor(private readonly side: Pick<PlatformSide, 'simulator' | 'application' | 'controlSecret'>) {}

  private get url(): string {
    return this.side.simulator.url;
  }

  async addUsers(count: number): Promise<SimulatedUser[]> {
    const { users } = await this.control<{ users: SimulatedUser[] }>('POST', '/users', { count });
    return users;
  }

  setLimits(limits: { rate_limit?: number; max_total_cost?: number }): Promise<unknown> {
    return this.control('POST', '/limits', limits);
  }

  setApiFault(api: ApiFault): Promise<unknown> {
    return this.control('PATCH', '', { faults: { api } });
  }

  setNotificationFaults(notifications: Record<string, number>): Promise<unknown> {
    return this.control('PATCH', '', { faults: { notifications } });
  }

  revokeTokens(): Promise<unknown> {
    return this.control('POST', '/tokens/revoke');
  }

  goLive(userId: string): Promise<unknown> {
    return this.control('POST', '/streams', { user_id: userId });
  }

  goOffline(userId: string): Promise<unknown> {
    return this.control('DELETE', `/streams/${userId}`, {});
  }

  /** All streams of a user, past and present. */
  async readStreams(userId: string): Promise<TrueStream[]> {
    const streams = await this.control<
      { id: string; user_id: string; started_at: string; ended_at: string | null }[]
    >('GET', `/streams?user_id=${userId}`);
    return streams.map(({ id, user_id, started_at, ended_at }) => ({
      id,
      userId: user_id,
      startedAt: Date.parse(started_at),
      endedAt: ended_at === null ? null : Date.parse(ended_at),
    }));
  }

  /** Calls to the platform's API so far, by `METHOD path`. */
  async readRequests(): Promise<Record<string, number>> {
    return (await this.control<{ requests: Record<string, number> }>('GET', '')).requests;
  }

  /** As the platform reports it. */
  async readCost(): Promise<Cost> {
    const { total_cost, max_total_cost } = await this.readPage();
    return { total: total_cost, max: max_total_cost };
  }

  /** All subscriptions of the application. */
  async readSubscriptions(): Promise<SimulatedSubscription[]> {
    const subscriptions: SimulatedSubscription[] = [];
    let after: string | undefined;
    do {
      const page = await this.readPage(after);
      subscriptions.push(...page.data);
      after = page.pagination.cursor;
    } while (after !== undefined);
    return subscriptions;
  }

  private async readPage(after?: string): Promise<SubscriptionPage> {
    const path = '/helix/eventsub/subscriptions';
    this.accessToken ??= await this.fetchToken();
    const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
    const { clientId } = this.side.application;
    const headers = { 'client-id': clientId, authorization: `Bearer ${this.accessToken}` };
    return expectSuccess(
      path,
      await requestJson<SubscriptionPage>('GET', this.url + path + query, { headers }),
    );
  }

  private async fetchToken(): Promise<string> {
    const { clientId, clientSecret } = this.side.application;
    const query = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      grant_type: 'client_credentials',
    });
    const answer = await requestJson<{ access_token: string }>(
      'POST',
      `${this.url}/oauth2/token?${query.toString()}`,
    );
    return expectSuccess('/oauth2/token', answer).access_token;
  }

  private async control<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await requestJson<Body>(method, `${this.url}/simulator${path}`, {
      headers: { authorization: `Bearer ${this.side.controlSecret}` },
      ...(body !== undefined && { body }),
    });
    return expectSuccess(`${method} /simulator${path}`, answer);
  }
}
