import { createHmac, randomBytes } from 'node:crypto';

/** Signed platform notifications, POSTs of events, or requests for the event list. */
export type LoadKind = 'notifications' | 'posts' | 'lists';

/** Creates unique requests as HTTP/1.1 text. */
export type RequestMaker = () => string;

export interface Credentials {
  webhookSecret: string;
  token: string;
}

/** Channels and viewers of a load's events. Ids count up from the first id. Names end in a rank that counts from 0. */
export interface LoadPopulation {
  firstChannelId: number;
  channels: number;
  firstViewerId: number;
  viewers: number;
}

/** The requests of a load. */
export interface LoadRequests extends Credentials {
  kind: LoadKind;
  /** Default: one channel with 5,000 viewers. */
  population?: LoadPopulation | undefined;
  /** Paths of `lists`, in turns. Default: the first page of one type. */
  paths?: readonly string[] | undefined;
}

// Gives the indexes both repeated and new values, as on a busy channel.
const busyChannel: LoadPopulation = {
  firstChannelId: 4_711,
  channels: 1,
  firstViewerId: 100_000,
  viewers: 5_000,
};

const subscription = {
  id: '3b7a1f0c-11aa-4f1d-9d6f-0c8d1f3c2b10',
  status: 'enabled',
  type: 'channel.follow',
  version: '2',
  cost: 0,
  condition: { broadcaster_user_id: '4711', moderator_user_id: '4711' },
  transport: { method: 'webhook', callback: 'https://events.example.org/api/v1/platform-events/webhook' },
  created_at: '2026-11-21T07:00:00.123456789Z',
};

export function requestMaker({
  kind,
  webhookSecret,
  token,
  population = busyChannel,
  paths = ['/api/v1/platform-events?event_type=channel-follow'],
}: LoadRequests): RequestMaker {
  switch (kind) {
    case 'notifications':
      return notificationMaker(webhookSecret, population);
    case 'posts':
      return postMaker(token, population);
    case 'lists':
      return listMaker(token, paths);
  }
}

/** Expected status by kind. */
export const successStatus: Readonly<Record<LoadKind, number>> = {
  notifications: 204,
  posts: 201,
  lists: 200,
};

function notificationMaker(secret: string, population: LoadPopulation): RequestMaker {
  // Ids must be cheap, because the load shares two cores with the system under test. Each id is a prefix for this process, plus a number.
  const prefix = randomBytes(8).toString('hex');
  const beginning = `{"subscription":${JSON.stringify(subscription)},"event":`;
  let count = 0;
  return () => {
    count += 1;
    const messageId = `${prefix}-${count}`;
    const timestamp = new Date().toISOString();
    const body = `${beginning}${followEvent(count, timestamp, population)}}`;
    const signature = createHmac('sha256', secret)
      .update(messageId + timestamp + body)
      .digest('hex');
    return (
      'POST /api/v1/platform-events/webhook HTTP/1.1\r\nHost: events.example.org\r\nContent-Type: application/json\r\n' +
      `Twitch-Eventsub-Message-Id: ${messageId}\r\nTwitch-Eventsub-Message-Retry: 0\r\n` +
      'Twitch-Eventsub-Message-Type: notification\r\n' +
      `Twitch-Eventsub-Message-Signature: sha256=${signature}\r\nTwitch-Eventsub-Message-Timestamp: ${timestamp}\r\n` +
      'Twitch-Eventsub-Subscription-Type: channel.follow\r\nTwitch-Eventsub-Subscription-Version: 2\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body}`
    );
  };
}

function postMaker(token: string, population: LoadPopulation): RequestMaker {
  let count = 0;
  return () => {
    count += 1;
    const data = followEvent(count, new Date().toISOString(), population);
    const body = `{"event_type":"channel-follow","event_source":"PlatformSub","event_data":${data}}`;
    return (
      'POST /api/v1/platform-events HTTP/1.1\r\nHost: events.example.org\r\nContent-Type: application/json\r\n' +
      `Authorization: Token ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    );
  };
}

function listMaker(token: string, paths: readonly string[]): RequestMaker {
  const requests = paths.map((path) => printGet(path, token));
  let count = 0;
  return () => {
    count += 1;
    return requests[count % requests.length] ?? '';
  };
}

/** A GET request as HTTP/1.1 text. */
export function printGet(path: string, token: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: events.example.org\r\nAuthorization: Token ${token}\r\n\r\n`;
}

/** Follow event as JSON. ASCII only, so that its length is its size in bytes. */
function followEvent(count: number, followedAt: string, population: LoadPopulation): string {
  const { firstChannelId, channels, firstViewerId, viewers } = population;
  // The steps share no factor with the numbers of viewers and channels. All viewers and channels get events, in an irregular order.
  const viewer = (count * 1_237) % viewers;
  const channel = (count * 619) % channels;
  return (
    `{"user_id":"${firstViewerId + viewer}","user_login":"viewer_${viewer}","user_name":"Viewer_${viewer}",` +
    `"broadcaster_user_id":"${firstChannelId + channel}","broadcaster_user_login":"channel_${channel}",` +
    `"broadcaster_user_name":"Channel_${channel}","followed_at":"${followedAt}"}`
  );
}
