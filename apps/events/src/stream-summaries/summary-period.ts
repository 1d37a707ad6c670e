import type { ChannelPeriod } from '../store/channel-changes.repository.js';

/** The period of a summary, in milliseconds since 1970, both ends inclusive. */
export interface SummaryPeriod extends ChannelPeriod {
  /** Retention has removed the events before this time; null when the period is complete. */
  keptFrom: number | null;
}
