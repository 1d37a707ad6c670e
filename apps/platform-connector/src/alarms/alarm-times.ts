export interface PostingTimes {
  timeoutMs: number;
  /** The pause after the first failure. The pause doubles with each failure, up to `maxPauseMs`. */
  minPauseMs: number;
  maxPauseMs: number;
  maxAttempts: number;
}

/** The times that decide when a channel has been silent for too long. See `ChannelActivity`. */
export interface SilenceTimes {
  /** The length of an interval in which events are counted. */
  intervalMs: number;
  /** How many intervals to remember (`intervals`), and how many a decision needs (`minIntervals`). */
  intervals: number;
  minIntervals: number;
  /** A shorter silence never raises an alarm. */
  minSilenceMs: number;
  /**
   * Minimum time from the last event to a poll that lists the stream. An earlier poll does not show that the stream continues.
   */
  seenAfterMs: number;
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
  silence: SilenceTimes;
}

export const ALARM_TIMES = Symbol('ALARM_TIMES');

/**
 * A fault must last for 30 s, and a silence for 60 s. With these times, most alarms are raised within 90 s of their cause. Alarms about
 * subscriptions can take longer, and so can alarms about quiet channels, where a longer silence is ordinary.
 */
export const alarmTimes: AlarmTimes = {
  checkMs: 5_000,
  holdMs: 30_000,
  now: () => performance.now(),
  // The last attempt is about an hour after the first. By then, a message is of little use, and the API still lists the alarm.
  posting: { timeoutMs: 10_000, minPauseMs: 5_000, maxPauseMs: 300_000, maxAttempts: 17 },
  silence: {
    intervalMs: 60_000,
    intervals: 60,
    minIntervals: 10,
    minSilenceMs: 60_000,
    // Polls are 45 s apart. The poll that confirms a live stream therefore follows at most 75 s after the last event.
    seenAfterMs: 30_000,
  },
};
