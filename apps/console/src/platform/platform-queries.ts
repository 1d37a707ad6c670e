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

/** Starts the keys of all queries about the platform, so that a change reads all of them again. */
export const platformKey = ['platform'];

const consentPollMs = 5_000;

/** What the service is subscribed to about these channels. Reads it again while a page shows it, because it changes by itself. */
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

/** The API takes this many channels in a request. */
export const maxConsentChannels = 50;
