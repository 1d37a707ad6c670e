export interface PostingTimes {
  timeoutMs: number;
  /** The pause after the first failure. The pause doubles with each failure, up to `maxPauseMs`. */
  minPauseMs: number;
  maxPauseMs: number;
  maxAttempts: number;
}

/** A live channel with at least `minEvents` events in an hour is silent when it then has no event for `silenceMs`. */
export interface SilenceRule {
  minEvents: number;
  silenceMs: number;
}

/** When alarms are raised and posted. Only tests use other times. */
export interface AlarmTimes {
  /** How often the checks run. */
  checkMs: number;
  /** How long a fault must last before it raises an alarm. Most faults disappear sooner. */
  holdMs: number;
  /** A monotonic clock in milliseconds. Measures how long faults last. */
  now: () => number;
  posting: PostingTimes;
  silence: SilenceRule;
}

export const ALARM_TIMES = Symbol('ALARM_TIMES');

/**
 * A fault must last for 30 s. With these times, most alarms are raised within 90 s of their cause. Alarms about subscriptions can take
 * longer, and alarms about silent channels take ten minutes.
 */
export const alarmTimes: AlarmTimes = {
  checkMs: 5_000,
  holdMs: 30_000,
  now: () => performance.now(),
  // The last attempt is about an hour after the first. By then, a message is of little use, and the API still lists the alarm.
  posting: { timeoutMs: 10_000, minPauseMs: 5_000, maxPauseMs: 300_000, maxAttempts: 17 },
  // A channel with five events per minute rarely has a pause of ten minutes. Most breaks of streamers are shorter.
  silence: { minEvents: 300, silenceMs: 600_000 },
};
