/** The times of attempts to post an alarm. */
export interface PostingTimes {
  timeoutMs: number;
  /** The pause after the first failure. Each next one is twice as long. */
  minPauseMs: number;
  maxPauseMs: number;
  maxAttempts: number;
}

/** How the silence of a channel is judged: see `ChannelActivity`. */
export interface SilenceTimes {
  /** Events are counted in intervals of this length. */
  intervalMs: number;
  /** The number of intervals that are remembered, and the number that a judgment needs. */
  intervals: number;
  minIntervals: number;
  /** A shorter silence is never an alarm. */
  minSilenceMs: number;
  /** How long after the last event the platform must still list the stream: often, a channel is silent because its stream ends. */
  seenAfterMs: number;
}

/** The times of alarms. Only tests have others. */
export interface AlarmTimes {
  /** How often each check runs. */
  checkMs: number;
  /** How long a fault must last that often disappears by itself. */
  holdMs: number;
  /** A clock that never goes back, in milliseconds, for the faults that are held. */
  now: () => number;
  posting: PostingTimes;
  silence: SilenceTimes;
}

/** Injection token of the times. */
export const ALARM_TIMES = Symbol('ALARM_TIMES');

/** An alarm is raised within 90 s: a fault is held for 30 s, and a silence is judged after 60 s. */
export const alarmTimes: AlarmTimes = {
  checkMs: 5_000,
  holdMs: 30_000,
  now: () => performance.now(),
  // Gives up after about an hour: an older alarm says little, and the list of alarms still has it.
  posting: { timeoutMs: 10_000, minPauseMs: 5_000, maxPauseMs: 300_000, maxAttempts: 17 },
  silence: {
    intervalMs: 60_000,
    intervals: 60,
    minIntervals: 10,
    minSilenceMs: 60_000,
    // Polls are 45 s apart.
    seenAfterMs: 30_000,
  },
};
