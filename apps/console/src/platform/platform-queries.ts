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

/** Key prefix of all platform queries. Invalidating it refreshes them all. */
export const platformKey = ['platform'];

const consentPollMs = 5_000;

/**
 * Consent of these channels and the states of their event types. Polls while a page shows it, because states change without user actions.
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

/** The API accepts at most this many channels per request. */
export const maxConsentChannels = 50;
