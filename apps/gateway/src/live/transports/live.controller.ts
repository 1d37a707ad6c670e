import type { ServerResponse } from 'node:http';
import { Controller, Get, Headers, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../../access/allow-access.decorator.js';
import { StaysOpen } from '../../access/stays-open.decorator.js';
import { CurrentUser, type Caller } from '../../access/caller.js';
import { Answers, RefusesWith } from '../../http/api-decorators.js';
import { stopCounting } from '../../http/client-limits.js';
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
  @AllowAccess('events:live')
  @StaysOpen()
  @ApiOperation({
    operationId: 'streamEvents',
    summary: 'Stream live events as server-sent events',
    description:
      'Messages without an `event` field carry an event: `data` is the record, `id` the position. A replayed event has no `id`. To ' +
      'resume, reconnect with the last `id`: you receive the missed events in order, without gaps or duplicates. If the service ' +
      'cannot send all missed events, `event: gap` gives the `reason`. A message with only an `id` reports the current position. ' +
      'The `code` of `event: closed` says why the service ends the stream. In browsers, use `fetch`: `EventSource` cannot send ' +
      'the token.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    schema: { type: 'string' },
    description:
      'The last position you received. Delivery resumes after this position. Takes precedence over `after`',
  })
  @ServerSentEventsParameters()
  @Answers(200, 'The stream of events, which stays open', {
    example: exampleStream,
    mediaType: 'text/event-stream',
  })
  @RefusesWith({
    invalid: 'A parameter is invalid',
    too_many_requests: 'The user has too many live connections',
  })
  stream(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @CurrentUser() caller: Caller,
    @Headers('last-event-id') lastEventId: string | undefined,
  ): void {
    const query = readLiveQuery(request.url);
    const options = parseLiveFields({ ...query, ...(lastEventId && { after: lastEventId }) });
    // The client can have disconnected while the gateway checked the token.
    if (reply.raw.destroyed) return void reply.hijack();
    if (request.method === 'HEAD') return void beginStream(reply).end();
    const connection = this.connections.open(options.request, {
      caller,
      address: request.ip,
      makeSink: () => new ServerSentSink(beginStream(reply)),
    });
    stopCounting(request.raw.socket);
    const { raw: response } = reply;
    response.once('close', () => connection.leave());
    // LiveConnection detects a stalled client only when much data is buffered. This timeout also covers clients with little buffered data.
    response.setTimeout(stallLimitMs, () => {
      if (response.writableLength > 0) connection.close('too_slow');
    });
  }

  @Get(webSocketPath)
  @AllowAccess('public')
  @ApiOperation({
    operationId: 'openWebSocket',
    summary: 'Stream live events over a WebSocket',
    description:
      `Send \`{"token": "<key>"}\` as the first message, within ${webSocketLimits.tokenMs / 1_000} seconds. This message can also ` +
      'contain the parameters below, under the same names. Its values take precedence over the query string. If the handshake contains ' +
      'an `Authorization` header, the service ignores your messages: put the parameters in the query string. By default, every ' +
      `message from the service is the record of an event.\n\nClose codes:\n\n${printCloseCodes()}`,
  })
  @WebSocketParameters()
  @Answers(101, 'The connection is now a WebSocket')
  @RefusesWith({
    invalid: 'The handshake is invalid',
    upgrade_required: 'The request is not a WebSocket handshake',
    too_many_requests: 'Too many connections from this address sent an invalid token',
    unavailable: 'Too many connections have not sent their token yet, or the service is restarting',
  })
  webSocket(): never {
    throw new ServiceError(
      'upgrade_required',
      'This path accepts WebSockets only: connect with a WebSocket client.',
    );
  }
}

/** Sends the headers, including those already set on the reply, and keeps the response open. */
function beginStream(reply: FastifyReply): ServerResponse {
  reply.headers({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Without this header, nginx buffers the response.
    'x-accel-buffering': 'no',
    // Do not reuse the connection after the stream.
    connection: 'close',
  });
  reply.hijack();
  const { raw: response } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  response.flushHeaders();
  return response;
}
