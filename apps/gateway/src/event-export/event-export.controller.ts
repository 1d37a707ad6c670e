import type { ServerResponse } from 'node:http';
import { applyDecorators, Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { exportFormats, ServiceError, type ExportFormat } from '@stream-events/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { StaysOpen } from '../access/stays-open.decorator.js';
import { CurrentUser, type Caller } from '../access/caller.js';
import { DescribesText, filterParameters } from '../event-filters/event-filter-parameters.js';
import { EventsService, type EventReader } from '../events/events.service.js';
import { RefusesWith } from '../http/api-decorators.js';
import { isEventId, parseEventExportQuery } from './event-export.query.js';
import { EventExports } from './event-exports.service.js';
import { exportLimits } from './export-limits.js';

const mediaTypes: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
};

const example: Readonly<Record<ExportFormat, string>> = {
  ndjson:
    '{"id":"019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11","event_id":null,"event_type":"stream-offline","event_source":"PlatformSub",' +
    '"event_data":{"broadcaster_user_id":"47019283"},"created":"2025-11-21T00:12:38.622Z","origin":"platform"}\n',
  csv:
    'id,event_id,event_type,event_source,created,origin,event_data\r\n' +
    '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11,,stream-offline,PlatformSub,2025-11-21T00:12:38.622Z,platform,' +
    '"{""broadcaster_user_id"":""47019283""}"\r\n',
};

@ApiTags('Events')
@Controller('api/v1/platform-events/export')
export class EventExportController {
  constructor(
    private readonly exports: EventExports,
    private readonly events: EventsService,
  ) {}

  @Get()
  @AllowAccess('events:read')
  @StaysOpen()
  @ApiOperation({
    operationId: 'exportEvents',
    summary: 'Export events, oldest first',
    description:
      'Streams all matching events that the service had received when the request arrived, as newline-delimited JSON (one event ' +
      'record per line) or as CSV. The export is complete only when the response ends normally. After an incomplete ' +
      'response, drop the last line if it has no line end, and continue with `after`. CSV starts with a line of column names, unless ' +
      "`after` is given. In CSV, text that a spreadsheet would run as a formula gets an apostrophe (`'`) as a prefix. NDJSON contains " +
      `all text as it was sent. \`created\` has another form than in lists: RFC 3339 in UTC with milliseconds, for all events. Each user can run ${exportLimits.perUser} exports at a time at each gateway, and each named token half as ` +
      `many. The gateway ends an export if the client reads less than ${exportLimits.minBytesPerSecond / 1024} KiB per second for ` +
      `${exportLimits.slowMs / 1_000} s.`,
  })
  @ExportParameters()
  @ApiResponse({
    status: 200,
    description: 'The events',
    content: Object.fromEntries(
      exportFormats.map((format) => [
        mediaTypes[format],
        { schema: { type: 'string' as const }, example: example[format] },
      ]),
    ),
  })
  @RefusesWith({
    invalid: 'A filter, `format`, or `after` is invalid',
    too_many_requests: 'The user has too many exports running',
  })
  async export(
    @Query() parameters: Record<string, string>,
    @CurrentUser() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { filters, format, after, hasBom } = parseEventExportQuery(parameters);
    const reader: EventReader = { requestId: request.id, limits: caller.token.limits };
    const exported = {
      format,
      limits: reader.limits,
      // Export only events up to now. An export that is slower than ingest would otherwise never end.
      filters: { ...filters, until: Math.min(filters.until ?? Infinity, Date.now() + 1) },
      ...(after !== undefined && { after: await this.findPosition(after, reader) }),
    };
    // The client can have disconnected while the gateway looked up `after`.
    if (reply.raw.destroyed) return void reply.hijack();
    if (request.method === 'HEAD') return void beginResponse(reply, format).end();
    await this.exports.send(exported, {
      caller,
      requestId: request.id,
      begin: () => {
        const response = beginResponse(reply, format);
        if (hasBom && after === undefined) response.write('\ufeff');
        return response;
      },
    });
  }

  /** Returns the `id` of the event after which the export continues. `after` can also be an `event_id`. */
  private async findPosition(after: string, reader: EventReader): Promise<string> {
    if (isEventId(after)) return after.toLowerCase();
    try {
      return (await this.events.get(after, reader)).id;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
      throw ServiceError.onField('after', 'must be the `id` or the `event_id` of an event');
    }
  }
}

function ExportParameters(): MethodDecorator {
  const format = {
    name: 'format',
    description: 'The format of the export',
    required: false,
    schema: { type: 'string' as const, enum: [...exportFormats], default: 'ndjson' },
  };
  const after = {
    name: 'after',
    description:
      'Continues after this event: the `id` of the last event that you received, or its `event_id` if its `id` is null (a test event)',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  };
  const bom = {
    name: 'bom',
    description:
      'Whether a CSV file starts with a byte order mark. Excel needs it to read the file as UTF-8. Without effect on NDJSON, and with `after`',
    required: false,
    schema: { type: 'string' as const, enum: ['true', 'false'], default: 'false' },
  };
  const described = [ApiQuery(format), DescribesText(after), ApiQuery(bom)];
  return applyDecorators(...filterParameters.map(DescribesText), ...described);
}

/** Starts the response. Copies the headers that hooks have set on the reply. */
function beginResponse(reply: FastifyReply, format: ExportFormat): ServerResponse {
  reply.headers({
    'content-type': `${mediaTypes[format]}; charset=utf-8`,
    'content-disposition': `attachment; filename="events.${format}"`,
    'cache-control': 'no-store',
    // Keep nginx from buffering the response.
    'x-accel-buffering': 'no',
  });
  reply.hijack();
  const { raw: response } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value);
  response.flushHeaders();
  return response;
}
