import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { errorResponses, tokenScheme } from '../http/api-decorators.js';
import { Problem } from '../http/problem.dto.js';

/** Where the description is served. */
const docsPath = 'api/docs';
const openApiPath = 'api/openapi.json';

// The types of this library are those of OpenAPI 3.0, whose license has no SPDX identifier.
const license: { name: string } = { name: 'MIT License', ...{ identifier: 'MIT' } };

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Describes the HTTP API of a gateway: OpenAPI 3.1, derived from its controllers. */
export function describeApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Stream Event Service')
    .setDescription(
      'Stores every event of a streaming platform once, lists and filters events, delivers them live; monitors streamers and ' +
        'their streams. What it sends on WebSockets and on NATS is described in [/api/asyncapi.json](/api/asyncapi.json). Send ' +
        '`Authorization: Token <key>`; a token comes from `POST /api-token-auth`. Every path takes one optional trailing slash. ' +
        'Paths with the platform’s brand in place of `platform` (`/api/v1/twitch-events`, `/api/v1/twitch/scopes`, ' +
        '`/api/v1/twitch/helix-endpoints`) are the same. ' +
        'Errors are problem documents (RFC 9457); beside those of each path, a wrong method is 405 with `Allow`, an unknown path ' +
        '404. Every GET answers HEAD too. Every answer has an `X-Request-Id`, which the logs name.',
    )
    .setVersion('1')
    .addServer('/', 'This gateway')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Token <key>`' },
      tokenScheme,
    )
    .addTag('Events', 'What happened on the platform, and what clients added')
    .addTag('Live', 'Events as they come, to any number of clients')
    .addTag('Replays', 'Events that go out to live clients once more')
    .addTag('Dead letters', 'Events that the database refused, kept aside until an owner decides')
    .addTag('Streamers', 'Who is monitored, and their streams')
    .addTag(
      'Platform',
      'The connection to the platform: its state, its subscriptions, and where the platform sends its messages',
    )
    .addTag('Scopes', 'Permissions that users of the platform can grant')
    .addTag(
      'API endpoints',
      'The endpoints of the platform’s API, each with the token and the scope that it takes',
    )
    .addTag('Users', 'Who may use the API')
    .addTag('Health', 'For monitoring')
    .build();
  const document = SwaggerModule.createDocument(app, config, { extraModels: [Problem] });
  delete document.info.contact;
  document.info.license = license;
  document.components = { ...document.components, responses: errorResponses() };
  for (const path of Object.values(document.paths)) for (const method of methods) markAsPublic(path[method]);
  return document;
}

/** Says explicitly that an operation needs no authentication, instead of leaving it to a missing field. */
function markAsPublic(operation: { security?: unknown[] } | undefined): void {
  if (operation) operation.security ??= [];
}

/** Serves the description as JSON and as a page for people. */
export function serveApiDescription(app: INestApplication): void {
  SwaggerModule.setup(docsPath, app, () => describeApi(app), {
    jsonDocumentUrl: openApiPath,
    customSiteTitle: 'Stream Event Service API',
    raw: ['json'],
    swaggerOptions: { persistAuthorization: false, displayRequestDuration: true },
  });
}
