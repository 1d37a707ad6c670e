import type { components } from '@stream-events/client';
import { readGauges } from './gauges.js';

type System = components['schemas']['SystemRecord'];
type Instance = components['schemas']['InstanceRecord'];

const systemOf = (...instances: Partial<Instance>[]): System => ({
  instances: instances.map((instance, index) => ({
    id: `${index}`,
    service: 'events',
    version: '1.0.0',
    host: 'machine',
    process_id: index,
    started: '2026-11-21T07:30:00+0000',
    uptime_seconds: 1,
    last_report: '2026-11-21T07:30:01+0000',
    status: 'ready',
    problems: [],
    measures: {},
    ...instance,
  })),
  missing_services: [],
  database_bytes: null,
  events_stream_bytes: null,
  ingest_stream_bytes: null,
  live_connections_count: 0,
  live_connections: [],
  closed_connections: [],
  alarms: [],
  cleared_alarms: [],
});

describe('readGauges', () => {
  it('adds what instances do, and takes the largest of what all of them see', () => {
    const measures = [
      { events_stored_per_second: 2, outbox_overdue_seconds: 0 },
      { events_stored_per_second: 3, outbox_overdue_seconds: 7 },
    ];
    expect(readGauges(systemOf(...measures.map((each) => ({ measures: each }))))).toEqual({
      events_stored_per_second: 5,
      outbox_overdue_seconds: 7,
    });
  });

  it('counts the memory of a process once, whatever runs in it', () => {
    const memory = { measures: { memory_bytes: 100 } };
    const system = systemOf(
      { process_id: 1, ...memory },
      { process_id: 1, ...memory },
      { host: 'b', ...memory },
    );
    expect(readGauges(system)).toEqual({ memory_bytes: 200 });
  });

  it('takes the least free disk space', () => {
    const system = systemOf(...[7, 3, 5].map((disk_free_bytes) => ({ measures: { disk_free_bytes } })));
    expect(readGauges(system)).toEqual({ disk_free_bytes: 3 });
  });

  it('leaves out silent instances, and gauges without a value', () => {
    const measures = { events_stored_per_second: 2 };
    expect(readGauges(systemOf({ status: 'silent', measures }))).toEqual({});
  });
});
