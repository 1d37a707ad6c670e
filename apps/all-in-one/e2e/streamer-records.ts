import { eventually } from '@stream-events/testing';
import type { Stack } from './stack.js';

export interface StreamerRecord {
  id: string;
  platform_username: string;
  platform_id: string;
  streaming: boolean;
  disabled: boolean;
  created: string;
  updated: string;
}

export interface StreamRecord {
  id: string;
  stream_id: string;
  user_id: string;
  user_login: string;
  user_name: string;
  game_id: string;
  game_name: string;
  type: string;
  title: string;
  viewer_count: number;
  started_at: string;
  ended_at: string | null;
  language: string;
  thumbnail_url: string;
  tag_ids: string | null;
  is_mature: boolean;
}

export interface StreamPage {
  count: number;
  next: string | null;
  previous: string | null;
  results: StreamRecord[];
}

export const streamersPath = '/api/v1/streamers';

/** Format of times in the API. */
export const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/;

/**
 * Starts monitoring a streamer. On a busy machine, the first call to the platform can time out, so retries after 503. A 503 leaves open
 * whether the streamer was added, so a conflict after it means success.
 */
export async function monitorStreamer(stack: Stack, platform_username: string): Promise<StreamerRecord> {
  const add = () => stack.request<StreamerRecord>('POST', streamersPath, { body: { platform_username } });
  let isRepeated = false;
  const { status, text, json } = await eventually(
    async () => {
      const answer = await add();
      isRepeated ||= answer.status === 503;
      expect(answer.status).not.toBe(503);
      return answer;
    },
    { timeoutMs: 60_000 },
  );
  if (status === 201) return json;
  const known = isRepeated && status === 409 ? await findStreamer(stack, platform_username) : undefined;
  if (!known) throw new Error(`${platform_username} is not monitored: ${status} ${text}`);
  return known;
}

async function findStreamer(stack: Stack, platform_username: string): Promise<StreamerRecord | undefined> {
  const { json } = await stack.request<StreamerRecord[]>('GET', streamersPath);
  return json.find((streamer) => streamer.platform_username === platform_username);
}

export async function readStreamer(stack: Stack, id: string): Promise<StreamerRecord> {
  return (await stack.request<StreamerRecord>('GET', `${streamersPath}/${id}`)).json;
}

/** Returns up to 100 streams, newest first. */
export async function readStreams(stack: Stack, id: string): Promise<StreamRecord[]> {
  const { json } = await stack.request<StreamPage>('GET', `${streamersPath}/${id}/streams?page_size=100`);
  return json.results;
}

/** Returns a channel's subscriptions from the connector's records. */
export function subscriptionsOf(stack: Stack, userId: string): Promise<{ type: string; status: string }[]> {
  return stack.query<{ type: string; status: string }>(
    `SELECT type, status FROM platform_connector.subscriptions WHERE condition ->> 'broadcaster_user_id' = $1`,
    [userId],
  );
}

/** Waits for the subscriptions to the events that start and end a stream. */
export function untilSubscribed(stack: Stack, userId: string): Promise<void> {
  return eventually(
    async () => {
      const enabled = (await subscriptionsOf(stack, userId)).filter(({ status }) => status === 'enabled');
      expect(enabled.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['stream.online', 'stream.offline']),
      );
    },
    { timeoutMs: 60_000 },
  );
}
