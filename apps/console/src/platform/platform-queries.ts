import { queryOptions } from '@tanstack/react-query';
import type { components } from '@stream-events/client';
import { api, call } from '../api/api.js';

type Schemas = components['schemas'];
export type Connection = Schemas['ConnectionRecord'];
export type EventType = Schemas['EventTypeRecord'];
export type PlatformStatus = Schemas['PlatformStatus'];
export type Subscription = Schemas['SubscriptionRecord'];
export type ChannelConsent = Schemas['ChannelConsentRecord'];
export type Streamer = Schemas['StreamerRecord'];

/** The first part of the keys of all queries about the platform, so that a change refreshes all of these queries. */
export const platformKey = ['platform'];

const consentPollMs = 5_000;

/**
 * The consent of these channels, and the states of their event types. Refreshes regularly while a page shows the result, because states
 * change without user actions.
 */
export function consentQuery(channelIds: readonly string[]) {
  return queryOptions({
    queryKey: [...platformKey, 'consent', channelIds],
    queryFn: () =>
      call(
        api().GET('/api/v1/platform/consent', { params: { query: { channel_ids: channelIds.join(',') } } }),
      ),
    refetchInterval: consentPollMs,
  });
}

/** The maximum number of channels that the API accepts in one request. */
export const maxConsentChannels = 50;
