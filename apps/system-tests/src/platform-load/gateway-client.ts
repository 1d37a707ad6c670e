import { expectSuccess, requestJson, type JsonReply } from './json-request.js';

/** The API's format. */
interface StreamerRecord {
  id: string;
  platform_id: string;
  created: string;
}

export interface Streamer {
  id: string;
  platformId: string;
  /** Milliseconds since 1970, in whole seconds. */
  createdAt: number;
}

/** Times are in milliseconds since 1970, in whole seconds. */
export interface RecordedStream {
  /** Id in the service. */
  id: string;
  /** Id on the platform. */
  streamId: string;
  startedAt: number;
  endedAt: number | null;
}

export interface PlatformStatus {
  subscriptions: Record<string, number>;
  streamers: { monitored: number; subscribed: number; polled_only: number };
}

interface Page<Record> {
  next: string | null;
  results: Record[];
}

interface StreamRecord {
  id: string;
  stream_id: string;
  started_at: string;
  ended_at: string | null;
}

/** Calls the public API with the owner's token. */
export class GatewayClient {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  request<Body>(method: string, path: string, body?: unknown): Promise<JsonReply<Body>> {
    return requestJson<Body>(method, new URL(path, this.url).href, {
      headers: { authorization: `Token ${this.token}` },
      ...(body !== undefined && { body }),
    });
  }

  addStreamer(login: string): Promise<JsonReply<unknown>> {
    return this.request('POST', '/api/v1/streamers', { platform_username: login });
  }

  /** Oldest first. */
  async listStreamers(): Promise<Streamer[]> {
    const records = await this.read<StreamerRecord[]>('/api/v1/streamers');
    return records.map(({ id, platform_id, created }) => ({
      id,
      platformId: platform_id,
      createdAt: parseTime(created),
    }));
  }

  readStatus(): Promise<PlatformStatus> {
    return this.read('/api/v1/platform/status');
  }

  /** Deactivates all other event types. */
  async activateOnly(wanted: readonly string[]): Promise<void> {
    const types = await this.read<{ type: string; active: boolean }[]>('/api/v1/platform/event-types');
    const others = types.filter(({ type, active }) => active && !wanted.includes(type));
    for (const { type } of others) {
      const path = `/api/v1/platform/event-types/${type}`;
      expectSuccess(`PUT ${path}`, await this.request('PUT', path, { active: false }));
    }
  }

  /** Newest first. */
  async readStreams(streamerId: string): Promise<RecordedStream[]> {
    const records = await this.readPages<StreamRecord>(
      `/api/v1/streamers/${streamerId}/streams?page_size=100`,
    );
    return records.map(({ id, stream_id, started_at, ended_at }) => ({
      id,
      streamId: stream_id,
      startedAt: parseTime(started_at),
      endedAt: ended_at === null ? null : parseTime(ended_at),
    }));
  }

  /** When a poll first saw the stream (milliseconds since 1970, in whole seconds). Undefined if no poll saw it. */
  async readFirstSighting(streamerId: string, streamId: string): Promise<number | undefined> {
    const path = `/api/v1/streamers/${streamerId}/streams/${streamId}/history`;
    const [first] = await this.read<{ at: string }[]>(path);
    return first && parseTime(first.at);
  }

  private async readPages<Record>(path: string): Promise<Record[]> {
    const records: Record[] = [];
    let next: string | null = path;
    while (next !== null) {
      const page: Page<Record> = await this.read(next);
      records.push(...page.results);
      next = page.next;
    }
    return records;
  }

  private async read<Body>(path: string): Promise<Body> {
    return expectSuccess(`GET ${path}`, await this.request<Body>('GET', path));
  }
}

/** Returns milliseconds since 1970. Replaces `+0000`, because not every `Date` can parse an offset without a colon. */
function parseTime(time: string): number {
  return Date.parse(time.replace('+0000', 'Z'));
}
