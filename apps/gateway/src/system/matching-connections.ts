import { printEventRecord, type OpenConnection, type StoredEvent } from '@stream-events/contracts';
import { compileFilter } from '../live/connections/live-filter.js';
import { LiveEvent } from '../live/stream/live-event.js';
import type { HeardInstance } from './instance-board.js';

/** Filters the reports down to the open live connections that would receive the event. */
export function findMatching(heard: readonly HeardInstance[], event: StoredEvent): HeardInstance[] {
  const sent = new LiveEvent(event.id, Buffer.from(printEventRecord(event)), '', 0);
  return heard.map((instance) => {
    const { live } = instance.report;
    if (!live) return instance;
    const open = live.open.filter((connection) => receives(connection, sent));
    return { ...instance, report: { ...instance.report, live: { ...live, open } } };
  });
}

function receives({ filter }: OpenConnection, event: LiveEvent): boolean {
  if (!filter) return false;
  // Safe to compile: only gateways report connections, and they report valid filters.
  const passes = compileFilter(filter);
  return passes ? passes(event) : true;
}
