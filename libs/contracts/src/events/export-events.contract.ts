import { Type } from 'class-transformer';
import { IsIn, IsInstance, IsInt, IsObject, IsOptional, IsUUID, ValidateNested } from 'class-validator';
import type { RawFormat } from '../contract.js';
import { ServiceError } from '../errors.js';
import { EventFilters } from './read-events.contract.js';
import { defineReadContract } from './read-limits.js';

/** The formats of an export. */
export const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export class ExportEventsRequest {
  @IsObject()
  @ValidateNested()
  @Type(() => EventFilters)
  filters!: EventFilters;

  @IsIn(exportFormats)
  format!: ExportFormat;

  /** The page begins after the event with this id. Omit it to request the first page. */
  @IsOptional()
  @IsUUID('all')
  after?: string;
}

export class ExportEventsReply {
  /**
   * The events in the requested format, in UTF-8, oldest first. The first page of a CSV export begins with the names of the
   * columns.
   */
  @IsInstance(Uint8Array)
  bytes!: Uint8Array;

  /** The number of events on the page. Can be 0 even when a next page exists. */
  @IsInt()
  count!: number;

  /** The next page begins after this id; null means the end. */
  @IsOptional()
  @IsUUID('all')
  next!: string | null;
}

/** The maximum size of a page in bytes. A NATS message is at most 1 MiB; this limit leaves room for the headers. */
export const maxExportPageBytes = 1000 * 1024;

// next: 36 characters; all spaces if there is no next page | count: 4 bytes, big-endian | the bytes of the page
const nextLength = 36;
const prefixLength = nextLength + 4;

const exportPageFormat: RawFormat<ExportEventsReply> = {
  print({ bytes, count, next }) {
    const prefix = Buffer.alloc(prefixLength, ' ');
    prefix.write(next ?? '', 'latin1');
    prefix.writeUInt32BE(count, nextLength);
    return Buffer.concat([prefix, bytes]);
  },
  parse(message) {
    if (message.length < prefixLength) throw new ServiceError('invalid', 'The export page is truncated.');
    // Copy the message, because it is part of the network buffer.
    const bytes = Buffer.from(message);
    return {
      bytes: bytes.subarray(prefixLength),
      count: bytes.readUInt32BE(nextLength),
      next: bytes.toString('latin1', 0, nextLength).trim() || null,
    };
  },
};

/** Reads one page of an export. Replies are never JSON, because this contract has always had a raw format. */
export const exportEvents = defineReadContract({
  subject: 'request.events.export',
  request: ExportEventsRequest,
  reply: ExportEventsReply,
  errors: [],
  timeoutMs: 5_000,
  rawReply: exportPageFormat,
});
