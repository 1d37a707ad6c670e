import { eventually } from '@stream-events/testing';
import type { Stack } from './stack.js';

/** A streamer in the API's form. */
export interface StreamerRecord {
  id: string;
  platform_username: string;
  platform_id: string;
  streaming: boolean;
  disabled: boolean;
  created: string;
  updated: string;
}

/** A stream in the API's form. */
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

/** The form of times in the API. */
export const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/;

/**
 * Starts monitoring a streamer. Sends the request again after a 503, because on a busy machine the first call to the platform can take too
 * long. The 503 does not tell whether the streamer was added, so a conflict then means success.
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

/** Returns the newest 100 streams of a streamer, newest first. */
export async function readStreams(stack: Stack, id: string): Promise<StreamRecord[]> {
  const { json } = await stack.request<StreamPage>('GET', `${streamersPath}/${id}/streams?page_size=100`);
  return json.results;
}

/** Returns the subscriptions to the events of a channel, according to the connector's records. */
export function subscriptionsOf(stack: Stack, userId: string): Promise<{ type: string; status: string }[]> {
  return stack.query<{ type: string; status: string }>(
    `SELECT type, status FROM platform_connector.subscriptions WHERE condition ->> 'broadcaster_user_id' = $1`,
    [userId],
  );
}

/** Waits until the platform sends the events that start and end a stream. */
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
