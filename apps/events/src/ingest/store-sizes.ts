import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, readForGauge, Registry, type Gauge, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { EventsStream } from '../relay/events-stream.js';
import { IngestStream } from './ingest-stream.js';
import { eventsMetrics } from '../metrics.js';

// How long to reuse a measured size. PostgreSQL reads the size of every file of the database, which takes milliseconds in a store with many
// partitions.
const cacheMs = 30_000;

/** Measures the sizes of the database, the EVENTS stream, and the INGEST stream. */
@Injectable()
export class StoreSizes {
  constructor(
    dataSource: DataSource,
    events: EventsStream,
    ingest: IngestStream,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    const failureLog = new FailureLog(logger);
    const readDatabase = async (): Promise<number | undefined> => {
      const [row] = await dataSource.query<{ bytes: number }[]>(
        'SELECT pg_database_size(current_database())::float8 AS bytes',
      );
      return row?.bytes;
    };
    eventsMetrics.events_database_bytes.create(metrics, collectSize(failureLog, readDatabase));
    eventsMetrics.events_stream_bytes.create(
      metrics,
      collectSize(failureLog, () => events.measureBytes()),
    );
    eventsMetrics.events_ingest_stream_bytes.create(
      metrics,
      collectSize(failureLog, () => ingest.measureBytes()),
    );
  }
}

/** Returns a `collect` function that sets the gauge, to NaN while the size cannot be read. */
function collectSize(
  failureLog: FailureLog,
  read: () => Promise<number | undefined>,
): (gauge: Gauge) => Promise<void> {
  let bytes = Number.NaN;
  let readAt = Number.NEGATIVE_INFINITY;
  return async (gauge) => {
    if (performance.now() >= readAt + cacheMs) {
      readAt = performance.now();
      bytes = (await readForGauge(gauge, failureLog, read)) ?? Number.NaN;
    }
    gauge.set(bytes);
  };
}
