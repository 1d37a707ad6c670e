import type { ChannelPeriod } from '../store/channel-changes.repository.js';

/** The period of a summary. Times are in milliseconds since 1970. Both ends are inclusive. */
export interface SummaryPeriod extends ChannelPeriod {
  /** Retention has removed the events before this time; null when it has removed no event of the period. */
  keptFrom: number | null;
}
