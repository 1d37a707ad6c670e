import type { INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { errorResponses, tokenScheme } from '../http/api-decorators.js';
import { pathAliases } from '../http/paths.js';
import { Problem } from '../http/problem.dto.js';

const docsPath = 'api/docs';
const openApiPath = '/api/openapi.json';

// The types of @nestjs/swagger describe OpenAPI 3.0, in which a license has no SPDX identifier.
const license: { name: string } = { name: 'MIT License', ...{ identifier: 'MIT' } };

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Builds the OpenAPI 3.1 description of the HTTP API from its controllers. */
export function describeApi(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Stream Event Service')
    .setDescription(
      'Stores every event of a streaming platform once, lists and filters events, and delivers them live. Monitors streamers ' +
        'and their streams. For the messages on WebSockets and on NATS, see [/api/asyncapi.json](/api/asyncapi.json).\n\n' +
        '**Authentication:** get a token from `POST /api-token-auth`, and send it as `Authorization: Token <key>`. Give each ' +
        'application its own named token with `POST /api/v1/tokens`. The `security` field of each operation lists the scopes that a ' +
        'named token needs. `x-access` shows who may use an operation: for example, operations with `owner` and `account` reject named ' +
        'tokens.\n\n' +
        '**Paths:** every path accepts one optional trailing slash, and every path with GET also accepts HEAD. Aliases: ' +
        `${printAliases()}.\n\n` +
        '**Limits:** each user has a limit on requests per second and a limit on writes per second. A named token can use half of ' +
        'its user’s limits, so the user always has the other half. The headers `RateLimit-Policy` and `RateLimit` report the limits ' +
        'and the remaining allowance. An address can send 100 requests per second without a valid token, and up to 300 at once. A ' +
        'request above a limit gets 429 with `Retry-After`.\n\n' +
        '**Errors:** errors are problem documents (RFC 9457). Any request can also get 404 (unknown path), 405 with `Allow` ' +
        '(unsupported method), or 500. Every response has an `X-Request-Id`. Search the logs for this id to find the cause of an error.',
    )
    .setVersion('1')
    .addServer('/', 'This gateway')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Token <key>`' },
      tokenScheme,
    )
    .addTag('Events', 'Events from the platform, and events that clients add')
    .addTag('Live', 'Events delivered to clients as they happen')
    .addTag('Replays', 'Stored events that are sent to live clients again')
    .addTag('Rehearsals', 'Replays with the original timing, to your own connections')
    .addTag(
      'Dead letters',
      'Events that the service accepted but cannot store, kept until an owner retries or discards them',
    )
    .addTag('Streamers', 'The monitored streamers and their streams')
    .addTag(
      'Platform',
      'The connection to the platform: its state, its subscriptions, and the webhook callback',
    )
    .addTag('Scopes', 'Permissions that users of the platform can grant')
    .addTag(
      'API endpoints',
      'The endpoints of the platform’s API, each with the token and the scope that it needs',
    )
    .addTag('Users', 'Users of the API and their main tokens')
    .addTag('Tokens', 'Named tokens with scopes and limits, and sessions for web pages')
    .addTag('Erasures', 'Permanent deletion of everything that names one user of the platform')
    .addTag('Audit log', 'Who did what, to which object, when, and from where')
    .addTag('System', 'The instances of all services, the live connections, and the alarms')
    .addTag('Health', 'Probes and metrics for monitoring')
    .build();
  const document = SwaggerModule.createDocument(app, config, { extraModels: [Problem] });
  delete document.info.contact;
  document.info.license = license;
  document.components = { ...document.components, responses: errorResponses() };
  for (const path of Object.values(document.paths)) for (const method of methods) markAsPublic(path[method]);
  return document;
}

/** Marks an operation without authentication with `security: []`. If the field is missing, client generators disagree about its meaning. */
function markAsPublic(operation: { security?: unknown[] } | undefined): void {
  if (operation) operation.security ??= [];
}

function printAliases(): string {
  return pathAliases.map(([alias, canonical]) => `\`${alias}\` for \`${canonical}\``).join(', ');
}

/** Serves the description as JSON and as a web page. */
export function serveApiDescription(app: NestFastifyApplication): void {
  serveDescription(app, openApiPath, () => describeApi(app));
  SwaggerModule.setup(docsPath, app, () => describeApi(app), {
    customSiteTitle: 'Stream Event Service API',
    raw: false,
    swaggerOptions: { persistAuthorization: false, displayRequestDuration: true },
  });
}

/** Serves a description as JSON. All responses share one buffer, so clients that do not read them cost no memory. */
export function serveDescription(app: NestFastifyApplication, path: string, describe: () => object): void {
  let bytes: Buffer | undefined;
  app
    .getHttpAdapter()
    .getInstance()
    .get(path, (_request, reply) => {
      bytes ??= Buffer.from(`${JSON.stringify(describe())}\n`);
      return reply.type('application/json; charset=utf-8').send(bytes);
    });
}
