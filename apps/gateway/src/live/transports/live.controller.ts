import type { ServerResponse } from 'node:http';
import { Controller, Get, Headers, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Answers, RefusesWith, RequiresToken } from '../../http/api-decorators.js';
import { isAlone, keepOpen } from '../../http/requests-in-progress.js';
import { AllowAccess, CurrentTokenHash } from '../../users/access.guard.js';
import { LiveConnections } from '../connections/live-connections.service.js';
import { ServerSentEventsParameters, WebSocketParameters } from './live-parameters.js';
import { parseLiveFields, readLiveQuery } from './live-request.js';
import { ServerSentSink } from './server-sent.sink.js';
import { webSocketPath } from './web-sockets.service.js';
import { printCloseCodes } from '../close-codes.js';
import { stallLimitMs, webSocketLimits } from '../live-limits.js';

const exampleStream = [
  'id: 5f3a9c1e-1041-6a1f0c11',
  'data: {"id":"019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11","event_id":null,"event_type":"channel-raid",…}',
  '',
  '',
].join('\n');

@ApiTags('Live')
@Controller()
export class LiveController {
  constructor(private readonly connections: LiveConnections) {}

  @Get('api/v1/platform-events/stream')
  @ApiOperation({
    operationId: 'streamEvents',
    summary: 'Get events live, as server-sent events',
    description:
      'Each event is a message whose `data` is its record and whose `id` is its position; a replay has no id. Connect again ' +
      'with the last id to get what was missed: in order, without gaps or duplicates. Where that is impossible, a message of ' +
      'type `gap` says so, with a `reason`. Messages with an id only say where the stream is. Before the service ends the ' +
      'stream, a message of type `closed` says why, with a `code`. Browsers: use fetch, since EventSource cannot send the token.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    schema: { type: 'string' },
    description: 'The last position that the client has; it wins over `after`',
  })
  @ServerSentEventsParameters()
  @Answers(200, 'Events, for as long as the client reads', {
    example: exampleStream,
    mediaType: 'text/event-stream',
  })
  @RequiresToken()
  @RefusesWith({
    invalid: 'A parameter is wrong',
    too_many_requests: 'The token has too many live connections',
  })
  stream(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @CurrentTokenHash() tokenHash: string,
    @Headers('last-event-id') lastEventId: string | undefined,
  ): void {
    const query = readLiveQuery(request.url);
    const options = parseLiveFields({ ...query, ...(lastEventId && { after: lastEventId }) });
    // Its client has gone while the token was looked up.
    if (reply.raw.destroyed) return void reply.hijack();
    if (request.method === 'HEAD') return void beginStream(reply).end();
    // What waits behind a stream would wait for ever, and one that waits itself can be sent nothing.
    if (!isAlone(request))
      throw new ServiceError('invalid', 'A stream needs a connection on which no other request waits.');
    const connection = this.connections.open(options.request, {
      tokenHash,
      makeSink: () => new ServerSentSink(beginStream(reply)),
    });
    keepOpen(request);
    const { raw: response } = reply;
    response.once('close', () => connection.close('left'));
    // Also when so little is waiting that it would never be looked at.
    response.setTimeout(stallLimitMs, () => {
      if (response.writableLength > 0) connection.close('too_slow');
    });
  }

  @Get(webSocketPath)
  @AllowAccess('public')
  @ApiOperation({
    operationId: 'openWebSocket',
    summary: 'Get events live, over a WebSocket',
    description:
      `The first message is \`{"token": "<key>"}\`, within ${webSocketLimits.tokenMs / 1_000} seconds. It may also have the ` +
      'parameters below, by the same names, which win over those of the URL. When the handshake has the header ' +
      '`Authorization`, no message is read, and the parameters stand in the URL. Then every message is the record of an ' +
      `event.\n\nClose codes:\n\n${printCloseCodes()}`,
  })
  @WebSocketParameters()
  @Answers(101, 'The connection is a WebSocket now')
  @RefusesWith({
    invalid: 'The handshake is wrong',
    upgrade_required: 'The request asks for no WebSocket',
    unavailable: 'Too many connections wait for their token, or the service restarts',
  })
  webSocket(): never {
    throw new ServiceError(
      'upgrade_required',
      'This path is for WebSockets: connect with a WebSocket client.',
    );
  }
}

/** Begins an answer that stays open, with the headers that the reply has got so far. */
function beginStream(reply: FastifyReply): ServerResponse {
  reply.headers({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Proxies of this family collect answers otherwise.
    'x-accel-buffering': 'no',
    // When the stream ends, nothing else is on its way here.
    connection: 'close',
  });
  reply.hijack();
  const { raw: response } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  response.flushHeaders();
  return response;
}
