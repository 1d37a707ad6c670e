import { Type } from 'class-transformer';
import { IsIn, IsInstance, IsInt, IsObject, IsOptional, IsUUID, ValidateNested } from 'class-validator';
import { defineContract, type RawFormat } from '../contract.js';
import { ServiceError } from '../errors.js';
import { EventFilters } from './read-events.contract.js';
import { IsReadLimits, type ReadLimits } from './read-limits.js';

/** Formats of an export. */
export const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export class ExportEventsRequest {
  @IsObject()
  @ValidateNested()
  @Type(() => EventFilters)
  filters!: EventFilters;

  /** The events that the reader may see. */
  @IsReadLimits()
  limits!: ReadLimits;

  @IsIn(exportFormats)
  format!: ExportFormat;

  /** The page starts after the event with this id. Default: the first page. */
  @IsOptional()
  @IsUUID('all')
  after?: string;
}

export class ExportEventsReply {
  /** The events in the requested format, as UTF-8, oldest first. The first CSV page starts with the column names. */
  @IsInstance(Uint8Array)
  bytes!: Uint8Array;

  /** Number of events on the page. Can be 0 even if another page follows. */
  @IsInt()
  count!: number;

  /** The next page starts after this id; null at the end. */
  @IsOptional()
  @IsUUID('all')
  next!: string | null;
}

/** Maximum size of a page. A NATS message is at most 1 MiB, including its headers. */
export const maxExportPageBytes = 1000 * 1024;

// next: 36 characters, all spaces if there is no next page | count: 4 bytes, big-endian | bytes of the page
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
    // The message is part of the network buffer. Copy it.
    const bytes = Buffer.from(message);
    return {
      bytes: bytes.subarray(prefixLength),
      count: bytes.readUInt32BE(nextLength),
      next: bytes.toString('latin1', 0, nextLength).trim() || null,
    };
  },
};

/** Reads a page of an export. */
export const exportEvents = defineContract({
  subject: 'request.events.export',
  request: ExportEventsRequest,
  reply: ExportEventsReply,
  errors: [],
  timeoutMs: 5_000,
  rawReply: exportPageFormat,
});
