import { ServiceError, type StoredEvent, type StoreOutcome } from '@stream-events/contracts';
import type { EventIngest } from '@stream-events/ingest';
import type { RequestClient } from '@stream-events/messaging';
import type { Caller } from '../access/caller.js';
import type { StorageLimits } from '../storage/storage-limits.service.js';
import { EventsService } from './events.service.js';

const caller: Caller = {
  ...{ id: 'ada', username: 'ada', role: 'user' },
  token: { id: '1', name: null, stamp: 'stamp', kind: 'main', limits: {} },
};
const event = {
  eventType: 'raid',
  eventSource: 'test',
  eventData: { text: '{}', value: {} },
  idempotencyKey: 'key',
  requestId: '1',
};
const firstId = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';

/** Creates a service whose ingest reports that the event is already stored as `firstId`. `request` returns this event. */
function setup(request: () => Promise<StoredEvent>): EventsService {
  const known: StoreOutcome = { id: firstId, outcome: 'known' };
  return new EventsService(
    { store: () => Promise.resolve(known) } as unknown as EventIngest, // Safe cast: the service calls only `store`.
    { request } as unknown as RequestClient, // Safe cast: the service calls only `request`.
    { take: () => () => undefined } as unknown as StorageLimits, // Safe cast: the service calls only `take`.
  );
}

describe(EventsService.name, () => {
  describe('with an Idempotency-Key that was used before', () => {
    it('returns the first event', async () => {
      const first = { id: firstId } as StoredEvent; // Safe cast: the service does not read the event's fields.

      expect(await setup(() => Promise.resolve(first)).create(event, caller)).toBe(first);
    });

    it('reports a conflict when the first event was erased', async () => {
      const service = setup(() => Promise.reject(new ServiceError('not_found', 'There is no event.')));
      const erased = {
        code: 'conflict',
        detail: 'The event of this Idempotency-Key was stored, and has been erased since.',
      };

      await expect(service.create(event, caller)).rejects.toMatchObject(erased);
      await expect(service.test(event, caller)).rejects.toMatchObject(erased);
    });

    it('passes other failures on', async () => {
      const service = setup(() => Promise.reject(new ServiceError('unavailable', 'away')));

      await expect(service.create(event, caller)).rejects.toMatchObject({ code: 'unavailable' });
    });
  });
});
