import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { components, EventRecord } from '@stream-events/client';
import { api, call } from '../api/api.js';
import { ApiError, retryInterval } from '../api/api-error.js';
import { cursorOf } from '../api/cursor-of.js';
import { streamersQuery } from '../api/queries.js';
import { markedTypes } from './stream-markers.js';

export type Streamer = components['schemas']['StreamerRecord'];
export type Stream = components['schemas']['StreamRecord'];
export type StreamSample = components['schemas']['StreamSample'];
export type StreamSummary = components['schemas']['StreamSummary'];

const pageSize = 100;
// Limits the pages of marked events, which are read in sequence. This is far more than a chart can mark separately.
const maxMarkedPages = 20;
const notFound = 404;
// Viewer counts change at most every 45 s, when the service reads them from the platform.
const viewersPollMs = 30_000;
// Poll rarely: for each summary, the service counts all events of the stream.
const summaryPollMs = 60_000;
// The platform lists a stream and its title some seconds after the start. Poll quickly until then.
const newStreamPollMs = 3_000;

/** The key starts with the key of the streamer list, so refreshing the list also refreshes this query. */
export const streamerQuery = (id: string) =>
  queryOptions({
    queryKey: [...streamersQuery.queryKey, id],
    queryFn: () => call(api().GET('/api/v1/streamers/{id}', { params: { path: { id } } })),
  });

/** The streamer's newest stream, or null. Polls while the streamer is live. */
export const latestStreamQuery = ({ id, streaming }: Pick<Streamer, 'id' | 'streaming'>) =>
  queryOptions({
    queryKey: ['streams', id, 'latest'],
    queryFn: async (): Promise<Stream | null> => {
      try {
        return await call(api().GET('/api/v1/streamers/{id}/streams/latest', { params: { path: { id } } }));
      } catch (error) {
        if (error instanceof ApiError && error.status === notFound) return null;
        throw error;
      }
    },
    refetchInterval: ({ state: { data, error } }) => {
      if (!streaming) return retryInterval(error);
      const isListed = data?.ended_at === null && data.title !== '';
      return isListed ? viewersPollMs : newStreamPollMs;
    },
  });

/** The streamer's streams, newest first. */
export const streamListQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['streams', id, 'list'],
    queryFn: ({ pageParam: cursor }) =>
      call(
        api().GET('/api/v1/streamers/{id}/streams', {
          params: { path: { id }, query: { page_size: pageSize, ...(cursor && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => cursorOf(next),
  });

export interface StreamPath {
  streamerId: string;
  streamId: string;
}

const pathOf = ({ streamerId, streamId }: StreamPath) => ({ id: streamerId, stream_id: streamId });

/** Viewers, titles, and categories over time. */
export const historyQuery = (stream: StreamPath, isRunning: boolean) =>
  queryOptions({
    queryKey: ['streams', stream.streamerId, 'history', stream.streamId],
    queryFn: () =>
      call(
        api().GET('/api/v1/streamers/{id}/streams/{stream_id}/history', {
          params: { path: pathOf(stream) },
        }),
      ),
    refetchInterval: ({ state: { error } }) => (isRunning ? viewersPollMs : retryInterval(error)),
  });

export const summaryQuery = (stream: StreamPath) =>
  queryOptions({
    queryKey: ['streams', stream.streamerId, 'summary', stream.streamId],
    queryFn: () =>
      call(
        api().GET('/api/v1/streamers/{id}/streams/{stream_id}/summary', {
          params: { path: pathOf(stream) },
        }),
      ),
    refetchInterval: ({ state: { data, error } }) =>
      data?.ended_at === null ? summaryPollMs : retryInterval(error),
  });

interface MarkedStream extends StreamPath {
  /** The streamer's platform id. */
  channelId: string;
  since: string;
  /** Undefined while the stream is running. */
  until: string | undefined;
}

export interface MarkedEvents {
  /** Newest first. */
  events: readonly EventRecord[];
  /** Whether the oldest events are missing because there are too many events. */
  isCut: boolean;
}

export const markedEventsQuery = ({ streamerId, streamId, channelId, since, until }: MarkedStream) =>
  queryOptions({
    queryKey: ['streams', streamerId, 'marked-events', streamId, until],
    queryFn: async (): Promise<MarkedEvents> => {
      const filters = { channel_id: channelId, event_types: markedTypes.join(','), since };
      const query = { ...filters, ...(until && { until }), origin: 'platform', page_size: pageSize };
      const events: EventRecord[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < maxMarkedPages; page += 1) {
        const params = { query: { ...query, ...(cursor && { cursor }) } };
        const { results, next } = await call(api().GET('/api/v1/platform-events', { params }));
        events.push(...results);
        cursor = cursorOf(next);
        if (cursor === undefined) return { events, isCut: false };
      }
      return { events, isCut: true };
    },
    refetchInterval: ({ state: { error } }) => (until === undefined ? viewersPollMs : retryInterval(error)),
  });
