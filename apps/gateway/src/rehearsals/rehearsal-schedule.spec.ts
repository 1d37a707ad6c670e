import { firstIdAt, receivedAt } from '@stream-events/contracts';
import fc from 'fast-check';
import { RehearsalSchedule, type Pace, type Timed } from './rehearsal-schedule.js';

const start = Date.UTC(2026, 10, 20, 18);
const end = start + 10_000;

/** An event that the service received `time` milliseconds after the start. */
const eventAt = (time: number): Timed => ({ id: firstIdAt(start + time) });

interface Command {
  /** Milliseconds since the previous command. */
  afterMs: number;
  pace: Pace;
  /** Target of a seek, in milliseconds after the start. Undefined: no seek. */
  seek: number | undefined;
}

interface Sent {
  time: number;
  at: number;
}

// Powers of two keep all sums exact.
const speeds = [0.5, 1, 2, 4, 8, 16];
const pace = fc.record({ speed: fc.constantFrom(...speeds), isPaused: fc.boolean() });
const command = fc.record({
  afterMs: fc.integer({ min: 0, max: 4_000 }),
  pace,
  seek: fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: undefined }),
});
const times = fc
  .array(fc.integer({ min: 0, max: 9_999 }), { maxLength: 40 })
  .map((list) => list.sort((one, other) => one - other));

/** Simulates a rehearsal in which reading and sending take no time, with pages of three events. Returns each event and when it was sent. */
function rehearse(events: readonly number[], commands: readonly Command[]): Sent[] {
  let now = 0;
  let current: Pace = { speed: 1, isPaused: false };
  let schedule = new RehearsalSchedule(start, end, current, now);
  let unread = events.map(eventAt);
  const sent: Sent[] = [];
  const play = (until: number): void => {
    for (;;) {
      if (!schedule.hasAll && schedule.waitingCount < 2) {
        const page = unread.splice(0, 3);
        schedule.add(page, unread.length === 0 ? null : (page.at(-1)?.id ?? null), now);
        continue;
      }
      const due = schedule.due(now);
      sent.push(...due.map(({ id }) => ({ time: receivedAt(id) - start, at: now })));
      schedule.markSent(due.length, now);
      if (due.length > 0) continue;
      if (schedule.isDone(now) || now + schedule.msUntilDue(now) > until) break;
      now += schedule.msUntilDue(now);
    }
    now = until;
  };
  for (const { afterMs, pace: next, seek } of commands) {
    play(now + afterMs);
    current = next;
    schedule.change(current, now);
    if (seek === undefined) continue;
    unread = events.filter((time) => time >= seek).map(eventAt);
    schedule = new RehearsalSchedule(start + seek, end, current, now);
  }
  play(now + 60_000);
  return sent;
}

/** Computes the expected result independently: between two commands, the position advances at a constant speed. */
function expected(events: readonly number[], commands: readonly Command[]): Sent[] {
  const sent: Sent[] = [];
  let [now, position] = [0, 0];
  let current: Pace = { speed: 1, isPaused: false };
  let left = [...events];
  for (const { afterMs, pace: next, seek } of [...commands, { afterMs: 60_000, pace: current, seek: 0 }]) {
    const { speed, isPaused } = current;
    const reached = isPaused ? -1 : position + afterMs * speed;
    for (const time of left.filter((one) => one <= reached))
      sent.push({ time, at: now + (time - position) / speed });
    left = left.filter((one) => one > reached);
    now += afterMs;
    position = isPaused ? position : Math.min(reached, 10_000);
    current = next;
    if (seek === undefined) continue;
    position = seek;
    left = events.filter((time) => time >= seek);
  }
  return sent;
}

function newSchedule(speed = 1): RehearsalSchedule<Timed> {
  return new RehearsalSchedule(start, end, { speed, isPaused: false }, 0);
}

describe(RehearsalSchedule.name, () => {
  it('sends each event once per pass, in order, and at its time, whatever changes meanwhile', () => {
    fc.assert(
      fc.property(times, fc.array(command, { maxLength: 12 }), (events, commands) => {
        expect(rehearse(events, commands)).toEqual(expected(events, commands));
      }),
      { numRuns: 500 },
    );
  });

  it('ends when it reaches the end, not when it has sent the last event', () => {
    const schedule = newSchedule(2);
    schedule.add([eventAt(100)], null, 0);
    schedule.due(50);
    schedule.markSent(1, 50);

    expect([schedule.isDone(4_999), schedule.isDone(5_000)]).toEqual([false, true]);
  });

  it('is not done while an event is not sent', () => {
    const schedule = newSchedule();
    schedule.add([eventAt(9_999)], null, 0);

    expect(schedule.isDone(60_000)).toBe(false);
    schedule.markSent(1, 60_000);
    expect(schedule.isDone(60_001)).toBe(true);
  });

  it.each([1, 20])(
    'continues with the original distances after an outage of the receiver, at a speed of %d',
    (speed) => {
      const schedule = newSchedule(speed);
      schedule.add([eventAt(0), eventAt(8_000)], null, 0);

      expect(schedule.due(60_000)).toEqual([eventAt(0)]);
      schedule.markSent(1, 60_000);
      // Of the delay of 60 s, the schedule makes up only a quarter of a second.
      expect(schedule.msUntilDue(60_000)).toBe(8_000 / speed - 250);
      expect(schedule.due(60_000)).toEqual([]);
    },
  );

  it('continues with the original distances after an outage of the store', () => {
    const schedule = newSchedule();
    schedule.add([], firstIdAt(start + 1_000), 0);

    expect(schedule.msUntilDue(60_000)).toBe(Infinity);
    schedule.add([eventAt(3_000)], null, 60_000);
    expect(schedule.msUntilDue(60_000)).toBe(1_750);
  });

  it('never reports a time that is later than an unsent event', () => {
    const schedule = newSchedule();
    expect(schedule.reached(500)).toBe(start);
    schedule.add([eventAt(700), eventAt(800)], firstIdAt(start + 900), 500);
    expect(schedule.reached(60_000)).toBe(start + 700);
    schedule.markSent(1, 60_000);
    expect(schedule.reached(60_000)).toBe(start + 800);
    schedule.markSent(1, 60_000);
    expect(schedule.reached(90_000)).toBe(start + 900);
  });

  it('holds back events that were due when it was paused', () => {
    const schedule = newSchedule();
    schedule.add([eventAt(100)], null, 0);
    schedule.change({ speed: 1, isPaused: true }, 200);

    expect([schedule.due(300), schedule.msUntilDue(300)]).toEqual([[], Infinity]);
    schedule.change({ speed: 1, isPaused: false }, 400);
    expect(schedule.due(400)).toEqual([eventAt(100)]);
  });
});
