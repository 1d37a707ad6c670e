import { jest } from '@jest/globals';
import type { Client, LiveControl, LiveEvent, LiveOptions } from '@stream-events/client';
import fc from 'fast-check';
import { AlertFeed } from './alert-feed.js';
import { AlertQueue } from './alert-queue.js';
import { PositionStore } from './position-store.js';
import { readSettings } from './settings.js';

const queueLimit = 4;
const minuteMs = 60_000;

const positionOf = (index: number): string => `p${index}`;

/** Arrives when `arrival` resolves; immediately without it. */
type ArrivingEvent = LiveEvent & { arrival?: Promise<void> };

function event(index: number, fields: object = {}): ArrivingEvent {
  return {
    id: `e${index}`,
    event_id: null,
    event_type: 'channel-follow',
    event_source: 'PlatformSub',
    event_data: { user_name: `User ${index}`, broadcaster_user_name: 'Mira' },
    created: new Date().toISOString(),
    origin: 'platform',
    position: positionOf(index),
    ...fields,
  } as ArrivingEvent; // Safe cast: the fields of a record, with the position.
}

/** Imitates a live connection that delivers these events. The end-to-end tests use a real connection. */
class Connection {
  position: string | undefined;
  private isEnded = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly events: readonly ArrivingEvent[],
    private readonly refusal: Promise<never>,
    private readonly options: LiveOptions,
  ) {
    this.position = options.after;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent, void> {
    this.options.onConnect?.();
    const { after } = this.options;
    const start = after === undefined ? -1 : this.events.findIndex(({ position }) => position === after);
    for (const next of this.events.slice(start + 1)) {
      await next.arrival;
      if (this.isEnded) return;
      this.position = next.position ?? this.position;
      yield next;
    }
    await Promise.race([this.refusal, new Promise<void>((resolve) => (this.wake = resolve))]);
  }

  return(): void {
    this.isEnded = true;
    this.wake();
  }
}

describe(AlertFeed.name, () => {
  /** Opens an overlay page, which shows alerts until `close`. */
  const open = (
    events: readonly ArrivingEvent[],
    store: PositionStore,
    hash = '',
    serviceTime = () => Date.now(),
  ) => {
    const queue = new AlertQueue(queueLimit);
    let end: (reason: Error) => void = () => undefined;
    const refusal = new Promise<never>((_, reject) => (end = reject));
    refusal.catch(() => undefined);
    const controls: LiveControl[] = [];
    const respond = () => new Response('{}', { headers: { date: new Date(serviceTime()).toUTCString() } });
    const client = {
      api: { GET: () => Promise.resolve({ response: respond() }) },
      live: (options: LiveOptions) => new Connection(events, refusal, options),
    };
    const feed = new AlertFeed({
      client: client as unknown as Client, // Safe cast: the feed uses only these parts.
      settings: readSettings(hash),
      queue,
      store,
      onControl: (control) => controls.push(control),
      onState: () => undefined,
    });
    const ended = feed.run().catch(() => undefined);
    const show = async (): Promise<string> => {
      const alert = await queue.take();
      feed.onTaken(alert);
      return alert.sentence[0]?.text ?? '';
    };
    const close = (): Promise<unknown> => {
      end(new Error('the page ends'));
      return ended;
    };
    return { show, close, queue };
  };

  const setup = () => {
    const items = new Map<string, string>();
    const storage = {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => void items.set(key, value),
    };
    return { store: new PositionStore(readSettings('#name=alerts'), storage), storage };
  };

  it('shows each alert once and in order across reloads, even when more arrive than the queue holds', async () => {
    const count = 6 * queueLimit;
    const events = Array.from({ length: count }, (_, index) => event(index));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(count), { maxLength: 8 }), async (lives) => {
        const { store } = setup();
        const shown: string[] = [];
        for (const alerts of [...lives, count]) {
          const page = open(events, store);
          for (let index = 0; index < alerts && shown.length < count; index += 1)
            shown.push(await page.show());
          await page.close();
        }
        expect(shown).toEqual(events.map((_, index) => `User ${index}`));
      }),
    );
  });

  it('never holds more alerts than the queue may', async () => {
    const events = Array.from({ length: 40 }, (_, index) => event(index));
    const page = open(events, setup().store);
    for (let index = 0; index < 40; index += 1) {
      expect(page.queue.length).toBeLessThanOrEqual(queueLimit);
      await page.show();
    }
    await page.close();
  });

  it('shows an alert that arrives while earlier, dropped alerts have not been read again', async () => {
    const arrived = () => new Promise<void>((resolve) => setImmediate(resolve));
    let arrive: () => void = () => undefined;
    const arrival = new Promise<void>((resolve) => (arrive = resolve));
    const events = Array.from({ length: queueLimit + 1 }, (_, index) => event(index));
    const page = open([...events, event(queueLimit + 1, { arrival })], setup().store);
    await arrived();
    const shown = [await page.show()];
    arrive();
    await arrived();
    while (shown.length < queueLimit + 2) shown.push(await page.show());
    expect(shown).toEqual([...events.keys(), queueLimit + 1].map((index) => `User ${index}`));
    await page.close();
  });

  it('skips alerts that are older than ten minutes by the clock of the service, but shows older replays', async () => {
    const serviceTime = Date.now() + 60 * minuteMs;
    const at = (minutes: number) => ({ created: new Date(serviceTime - minutes * minuteMs).toISOString() });
    const events = [
      event(0, at(11)),
      event(1, { ...at(600), origin: 'replay', position: undefined }),
      event(2, at(9)),
    ];
    const page = open(events, setup().store, '', () => serviceTime);
    expect([await page.show(), await page.show()]).toEqual(['User 1', 'User 2']);
    await page.close();
  });

  it('shows alerts after a step of the computer’s clock', async () => {
    const realTime = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(realTime - 180 * minuteMs);
    let arrive: () => void = () => undefined;
    const arrival = new Promise<void>((resolve) => (arrive = resolve));
    const created = new Date(realTime).toISOString();
    const page = open(
      [event(0, { created }), event(1, { created, arrival })],
      setup().store,
      '',
      () => realTime,
    );
    expect(await page.show()).toBe('User 0');
    clock.mockRestore();
    arrive();
    expect(await page.show()).toBe('User 1');
    await page.close();
  });

  it('shows alerts after the clock of the service was ahead and is set back', async () => {
    const [realTime, startedAt] = [Date.now(), performance.now()];
    let passedMs = 0;
    let aheadMs = 120 * minuteMs;
    const clocks = [
      jest.spyOn(Date, 'now').mockImplementation(() => realTime + passedMs),
      jest.spyOn(performance, 'now').mockImplementation(() => startedAt + passedMs),
    ];
    let arrive: () => void = () => undefined;
    const arrival = new Promise<void>((resolve) => (arrive = resolve));
    const [early, late] = [realTime + aheadMs, realTime + 2 * minuteMs].map((time) =>
      new Date(time).toISOString(),
    );
    const events = [event(0, { created: early! }), event(1, { created: late!, arrival })];
    const page = open(events, setup().store, '', () => realTime + passedMs + aheadMs);
    expect(await page.show()).toBe('User 0');

    aheadMs = 0;
    passedMs = 2 * minuteMs;
    arrive();
    expect(await page.show()).toBe('User 1');
    await page.close();
    for (const clock of clocks) clock.mockRestore();
  });

  it('skips raids that leave the channel', async () => {
    const raid = (from: string, to: string) => ({
      event_type: 'channel-raid',
      event_data: {
        from_broadcaster_user_id: from,
        from_broadcaster_user_name: `Channel ${from}`,
        to_broadcaster_user_id: to,
        to_broadcaster_user_name: `Channel ${to}`,
      },
    });
    const events = [event(0, raid('7', '8')), event(1, raid('9', '7'))];
    const page = open(events, setup().store, '#channel=7');
    expect(await page.show()).toBe('Channel 9');
    await page.close();
  });

  it('keeps separate positions for sources with the same name but different alerts', () => {
    const { storage } = setup();
    const [raids, follows] = ['#name=alerts&types=channel-raid', '#name=alerts&types=channel-follow'].map(
      (hash) => new PositionStore(readSettings(hash), storage),
    );
    raids?.write('p1');
    expect([raids?.read(), follows?.read()]).toEqual(['p1', undefined]);
  });

  it('saves the position of a skipped event when no alert waits', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'performance', 'queueMicrotask', 'nextTick'] });
    const { store } = setup();
    const page = open([event(0, { created: '2020-01-01T00:00:00Z' })], store);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(store.read()).toBe(positionOf(0));
    await page.close();
    jest.useRealTimers();
  });
});
