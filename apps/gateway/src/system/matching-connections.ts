import { printEventRecord, type OpenConnection, type StoredEvent } from '@stream-events/contracts';
import { compileFilter } from '../live/connections/live-filter.js';
import { LiveEvent } from '../live/stream/live-event.js';
import type { HeardInstance } from './instance-board.js';

/** Reduces the open live connections in the reports of instances to those that would receive the event. */
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
  // Gateways report filters in this form, and only they report connections.
  const passes = compileFilter(filter);
  return passes ? passes(event) : true;
}
