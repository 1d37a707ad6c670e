import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { natsUsers, type JsonObject } from '@stream-events/contracts';
import { liveChannel, liveMessages } from './live-channel.js';
import { natsChannels, natsMessages } from './nats-channels.js';
import { describeApi, serveDescription } from './open-api.js';
import { describeRecords } from './record-schemas.js';

const asyncApiPath = '/api/asyncapi.json';

/**
 * Builds the AsyncAPI 3.0 description of the events that the service sends. Derived from the contracts, the live frames, and the event
 * record of the HTTP API.
 */
export function describeStreams(openApi: OpenAPIObject): JsonObject {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Stream Event Service: live events and event stream',
      version: openApi.info.version,
      description:
        'Delivers every event of a streaming platform: on NATS to your own services, and on a WebSocket to bots and overlays. ' +
        'Operations are named from the service’s point of view: the service sends events, and you receive them. For examples, see ' +
        'docs/events.md (NATS) and docs/live.md (WebSocket). For server-sent events, see the OpenAPI description at /api/openapi.json.',
    },
    defaultContentType: 'application/json',
    servers: describeServers(),
    channels: { ...natsChannels, live: liveChannel },
    operations: {
      sendEvents: operation('send', 'events', Object.keys(natsChannels.events.messages)),
      sendReplays: operation('send', 'replays', Object.keys(natsChannels.replays.messages)),
      receiveRequest: operation('receive', 'live', ['request']),
      sendLive: operation(
        'send',
        'live',
        Object.keys(liveMessages).filter((name) => name !== 'request'),
      ),
    },
    components: {
      securitySchemes: describeSecurity(),
      messages: { ...natsMessages, ...liveMessages },
      schemas: describeRecords(openApi),
    },
  };
}

/** Serves the AsyncAPI description. Builds it on the first request. */
export function serveStreamDescription(app: NestFastifyApplication): void {
  serveDescription(app, asyncApiPath, () => describeStreams(describeApi(app)));
}

function describeServers(): JsonObject {
  const at = (address: string) => ({
    host: '{address}',
    variables: { address: { default: address, description: 'Host and port' } },
  });
  return {
    nats: {
      ...at('127.0.0.1:4222'),
      protocol: 'nats',
      title: 'NATS with JetStream',
      description:
        'For your own services. `npm start` prints the address, and the path of the file with the password of the user ' +
        `\`${natsUsers.subscriber.name}\`.`,
      security: [{ $ref: '#/components/securitySchemes/natsUser' }],
    },
    gateway: {
      ...at('127.0.0.1:8000'),
      protocol: 'ws',
      title: 'Gateway',
      description: 'For bots and overlays. Use `wss` if a proxy in front of the gateway terminates TLS.',
      security: [{ $ref: '#/components/securitySchemes/token' }],
    },
  };
}

function describeSecurity(): JsonObject {
  return {
    natsUser: {
      type: 'userPassword',
      description: `The user \`${natsUsers.subscriber.name}\` can read the EVENTS stream and replays, and nothing else.`,
    },
    token: {
      type: 'httpApiKey',
      in: 'header',
      name: 'Authorization',
      description:
        'Send `Token <key>` in the handshake, or the key in the first message. Never put the key in the URL, because URLs are logged.',
    },
  };
}

function operation(action: 'send' | 'receive', channel: string, messages: string[]): JsonObject {
  return {
    action,
    channel: { $ref: `#/channels/${channel}` },
    messages: messages.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  };
}
