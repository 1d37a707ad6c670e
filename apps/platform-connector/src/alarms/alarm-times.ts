/** The timeout, the pauses, and the number of attempts for posting an alarm. */
export interface PostingTimes {
  timeoutMs: number;
  /** The pause after the first failure. Each further pause is twice as long. */
  minPauseMs: number;
  maxPauseMs: number;
  maxAttempts: number;
}

/** The times that decide whether a channel is silent for too long. See `ChannelActivity`. */
export interface SilenceTimes {
  /** The length of the intervals in which events are counted. */
  intervalMs: number;
  /** The number of intervals to remember, and the minimum number of intervals for a decision. */
  intervals: number;
  minIntervals: number;
  /** A shorter silence is never an alarm. */
  minSilenceMs: number;
  /**
   * The minimum time from the last event to the last poll that listed the stream. If the time is shorter, the stream may just have ended.
   */
  seenAfterMs: number;
}

/** The times of alarms. Only tests change them. */
export interface AlarmTimes {
  /** How often each check runs. */
  checkMs: number;
  /** How long a fault that often disappears by itself must last before it raises an alarm. */
  holdMs: number;
  /** A monotonic clock in milliseconds, which measures how long faults last. */
  now: () => number;
  posting: PostingTimes;
  silence: SilenceTimes;
}

/** Injection token for the times. */
export const ALARM_TIMES = Symbol('ALARM_TIMES');

/** With these times, alarms are raised within 90 s: a fault must last for 30 s, and a silence for 60 s. */
export const alarmTimes: AlarmTimes = {
  checkMs: 5_000,
  holdMs: 30_000,
  now: () => performance.now(),
  // The last attempt is about an hour after the first. A later message is of little use, and the API still lists the alarm.
  posting: { timeoutMs: 10_000, minPauseMs: 5_000, maxPauseMs: 300_000, maxAttempts: 17 },
  silence: {
    intervalMs: 60_000,
    intervals: 60,
    minIntervals: 10,
    minSilenceMs: 60_000,
    // Polls are 45 s apart, so the poll that confirms a live stream follows at most 75 s after the last event.
    seenAfterMs: 30_000,
  },
};
