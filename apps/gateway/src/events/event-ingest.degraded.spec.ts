import { ServiceError, type NewEvent, type StoreEventsRequest } from '@stream-events/contracts';
import { ReplyTimeoutError, type RequestClient } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { EventIngest } from './event-ingest.service.js';

/** How the events service answers a batch. */
type Answer = 'stored' | Error;

/** An ingest whose events service answers as the test says, and keeps the batches that it was sent. */
function setUp() {
  const batches: string[][] = [];
  const service = { answer: (): Answer | Promise<Answer> => 'stored' };
  const request = async (_contract: unknown, { events }: StoreEventsRequest) => {
    batches.push(events.map(({ id }) => id));
    const answer = await service.answer();
    if (answer !== 'stored') throw answer;
    return { outcomes: events.map(({ id }) => ({ id, outcome: 'stored' })) };
  };
  const client = { request } as unknown as RequestClient; // holds: the ingest sends requests and nothing else
  const metrics = new Registry();
  const ingest = new EventIngest(client, createLogger('test', 'silent'), metrics);
  const submit = (): Promise<string> =>
    ingest.submit(newEvent()).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
    );
  const isDegraded = async (): Promise<boolean> =>
    (await metrics.getSingleMetric('gateway_ingest_degraded')?.get())?.values[0]?.value === 1;
  return { batches, service, submit, isDegraded };
}

function newEvent(): NewEvent {
  return {
    id: uuidV7(),
    eventId: null,
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{}',
    idempotencyKey: null,
  };
}

const away = (): Error => new ServiceError('unavailable', 'away');
const silent = (): Error => new ReplyTimeoutError('request.events.store', 2_000);

describe(EventIngest.name, () => {
  describe('when the events service is not available', () => {
    it.each([
      ['away', away],
      ['silent', silent],
    ])('tries twice, with the same ids, and then refuses without asking (%s)', async (_how, error) => {
      const { batches, service, submit, isDegraded } = setUp();
      service.answer = error;

      expect(await submit()).toBe('unavailable');
      expect(await isDegraded()).toBe(true);
      expect(batches).toHaveLength(2);
      expect(batches[1]).toEqual(batches[0]);
      expect(await Promise.all([submit(), submit()])).toEqual(['unavailable', 'unavailable']);
      expect(batches).toHaveLength(2);
    });

    it('refuses at once what waits behind the batches that failed', async () => {
      const { batches, service, submit } = setUp();
      let fail: (() => void)[] = [];
      service.answer = () => new Promise<Answer>((resolve) => fail.push(() => resolve(silent())));
      const inFlight: Promise<string>[] = [];
      for (let count = 1; count <= 3; count += 1) {
        inFlight.push(submit());
        await eventually(() => expect(batches).toHaveLength(count));
      }
      const waiting = [submit(), submit()];

      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const [first] = fail;
        fail = [];
        first?.();
        if (attempt === 1) await eventually(() => expect(batches).toHaveLength(4));
      }

      expect(await Promise.all(waiting)).toEqual(['unavailable', 'unavailable']);
      expect(batches).toHaveLength(4);
    });

    it('refuses one batch only when others get through meanwhile', async () => {
      const { batches, service, submit, isDegraded } = setUp();
      let fail: (() => void) | undefined;
      service.answer = () => new Promise<Answer>((resolve) => (fail = () => resolve(silent())));
      const unanswered = submit();
      await eventually(() => expect(batches).toHaveLength(1));
      const failFirst = fail;
      service.answer = () => 'stored';
      expect(await submit()).toBe('stored');

      service.answer = () => {
        service.answer = () => 'stored';
        return silent();
      };
      failFirst?.();

      expect(await unanswered).toBe('unavailable');
      expect(await isDegraded()).toBe(false);
      expect(await submit()).toBe('stored');
    });

    it('tries one batch a second later, once, while the rest is refused, and goes on when it fails', async () => {
      const { batches, service, submit } = setUp();
      service.answer = silent;
      await submit();
      batches.length = 0;
      let end: ((answer: Answer) => void) | undefined;
      service.answer = () => new Promise<Answer>((resolve) => (end = resolve));

      const probes: Promise<string>[] = [];
      await eventually(() => {
        probes.push(submit());
        expect(batches).toHaveLength(1);
      });
      expect(await submit()).toBe('unavailable');
      end?.(silent());

      expect(new Set(await Promise.all(probes))).toEqual(new Set(['unavailable']));
      expect(batches).toHaveLength(1);
      expect(await submit()).toBe('unavailable');
    });

    it('is itself again as soon as a batch is answered, whatever the answer is', async () => {
      const { service, submit, isDegraded } = setUp();
      service.answer = away;
      await submit();
      service.answer = () => new ServiceError('internal', 'a fault of its own');

      await eventually(async () => expect(await submit()).toBe('internal'));
      expect(await isDegraded()).toBe(false);
      service.answer = () => 'stored';

      expect(await Promise.all([submit(), submit(), submit()])).toEqual(['stored', 'stored', 'stored']);
    });
  });
});
