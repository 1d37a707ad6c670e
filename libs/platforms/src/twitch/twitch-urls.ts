import type { PlatformUrls } from '../outbound-platform.js';

/** Twitch's base URLs (FACTS.md §2, §4). */
export const twitchUrls: PlatformUrls = {
  api: 'https://api.twitch.tv/helix',
  auth: 'https://id.twitch.tv/oauth2',
  subscriptions: 'https://api.twitch.tv/helix/eventsub',
  socket: 'wss://eventsub.wss.twitch.tv/ws',
};

/** Returns the base URLs of a server that has the same paths as Twitch. */
export function addressesBelow(baseUrl: string): PlatformUrls {
  return {
    api: `${baseUrl}/helix`,
    auth: `${baseUrl}/oauth2`,
    subscriptions: `${baseUrl}/helix/eventsub`,
    socket: `${baseUrl.replace(/^http/, 'ws')}/ws`,
  };
}
