import type { ConfigOf } from '@stream-events/service';
import type { ConsentProtocol } from './consent-protocol.js';
import type { InboundPlatform } from './inbound-platform.js';
import { createNoPlatform } from './no-platform.js';
import type {
  OutboundPlatform,
  PlatformCaller,
  PlatformProtocol,
  PlatformUrls,
} from './outbound-platform.js';
import type { PlatformName, platformVariables } from './platform-variables.js';
import { pictureOrigins } from './twitch/pictures.external.js';
import { twitchConsent } from './twitch/consent.external.js';
import { twitchInbound } from './twitch/twitch-inbound.js';
import { TwitchOutbound } from './twitch/twitch-outbound.js';
import { twitchProtocol } from './twitch/twitch-protocol.js';
import { addressesBelow, twitchUrls } from './twitch/twitch-urls.js';

/** How to call the platform that `PLATFORM` selects. */
export interface PlatformDefinition {
  protocol: PlatformProtocol;
  consent: ConsentProtocol;
  urls: PlatformUrls;
  createOutbound(caller: PlatformCaller, urls: PlatformUrls): OutboundPlatform;
  /** The origins from which the service may fetch pictures. */
  pictureOrigins(urls: PlatformUrls): readonly string[];
}

const twitch: PlatformDefinition = {
  protocol: twitchProtocol,
  consent: twitchConsent,
  urls: twitchUrls,
  createOutbound: (caller, urls) => new TwitchOutbound(caller, urls),
  pictureOrigins: () => pictureOrigins,
};

/** Returns the URLs of a simulator that runs at this base URL. */
export function simulatorUrls(baseUrl: string): PlatformUrls {
  return addressesBelow(baseUrl);
}

/** The outbound implementation of each platform. The simulator uses Twitch's protocol. */
export const platforms: Readonly<Record<PlatformName, PlatformDefinition>> = {
  twitch,
  simulator: {
    ...twitch,
    urls: simulatorUrls('http://127.0.0.1:8100'),
    pictureOrigins: ({ api }) => [new URL(api).origin],
  },
  none: { ...twitch, createOutbound: createNoPlatform },
};

/** Returns the base URLs from the environment. By default, these are the URLs of the platform that `PLATFORM` selects. */
export function readPlatformUrls(config: ConfigOf<typeof platformVariables>): PlatformUrls {
  const { urls } = platforms[config.PLATFORM];
  const api = config.PLATFORM_API_URL ?? urls.api;
  return {
    api,
    auth: config.PLATFORM_AUTH_URL ?? urls.auth,
    subscriptions: config.PLATFORM_EVENTSUB_URL ?? `${api}/eventsub`,
    socket: config.PLATFORM_SOCKET_URL ?? urls.socket,
  };
}

/** Returns the environment variables that set these base URLs. */
export function toPlatformEnvironment(urls: PlatformUrls): Record<string, string> {
  return {
    PLATFORM_API_URL: urls.api,
    PLATFORM_AUTH_URL: urls.auth,
    PLATFORM_EVENTSUB_URL: urls.subscriptions,
    PLATFORM_SOCKET_URL: urls.socket,
  };
}

/** The inbound implementation. It does not depend on `PLATFORM`, because all current platforms use the same protocol. */
export const inbound: InboundPlatform = twitchInbound;
