import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { EventsStream } from '../relay/events-stream.js';
import { IngestStream } from './ingest-stream.js';

// PostgreSQL reads the size of every file of the database, which takes milliseconds in a store with many partitions.
const cacheMs = 30_000;

/** Measures everything that events are stored in: the database and both streams. */
@Injectable()
export class StoreSizes {
  constructor(dataSource: DataSource, events: EventsStream, ingest: IngestStream, metrics: Registry) {
    measure(metrics, {
      name: 'events_database_bytes',
      help: 'Size of the database, including other schemas in it; every instance reports the same value',
      read: async () => {
        const [row] = await dataSource.query<{ bytes: number }[]>(
          'SELECT pg_database_size(current_database())::float8 AS bytes',
        );
        return row?.bytes;
      },
    });
    measure(metrics, {
      name: 'events_stream_bytes',
      help: 'Size of the EVENTS stream; every instance reports the same value',
      read: () => events.measureBytes(),
    });
    measure(metrics, {
      name: 'events_ingest_stream_bytes',
      help: 'Size of the INGEST stream; every instance reports the same value',
      read: () => ingest.measureBytes(),
    });
  }
}

/** Adds a gauge of a size, which is NaN while it cannot be read. */
function measure(
  metrics: Registry,
  { read, ...gauge }: { name: string; help: string; read: () => Promise<number | undefined> },
): void {
  let bytes = Number.NaN;
  let readAt = Number.NEGATIVE_INFINITY;
  new Gauge({
    ...gauge,
    registers: [metrics],
    async collect() {
      if (performance.now() >= readAt + cacheMs) {
        readAt = performance.now();
        bytes = (await read().catch(() => undefined)) ?? Number.NaN;
      }
      this.set(bytes);
    },
  });
}
