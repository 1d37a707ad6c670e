import { jest } from '@jest/globals';
import { createLogger, Registry } from '@stream-events/service';
import type { EventsStream, StreamState } from './events-stream.js';
import { StreamCheck } from './stream-check.service.js';
import type { StreamRecordRepository } from './stream-record.repository.js';

const minute = 60_000;

describe(StreamCheck.name, () => {
  describe('run, while batches cannot be deleted', () => {
    it('succeeds, moves stray batches back, and tries to delete again after a minute', async () => {
      let now = 0;
      jest.spyOn(performance, 'now').mockImplementation(() => now);
      const records = {
        read: jest.fn(() => Promise.resolve({ epoch: '0badcafe', lastSequence: 7 })),
        raise: jest.fn(() => Promise.resolve()),
        returnStrays: jest.fn(() => Promise.resolve(0)),
        forgetSafe: jest.fn(() => Promise.reject(new Error('canceling statement due to statement timeout'))),
      };
      const found: StreamState = { epoch: '0badcafe', lastSequence: 7, lastMessageAt: 0, replicas: 'none' };
      const stream = { find: () => Promise.resolve(found) };
      const sut = new StreamCheck(
        // Safe casts: checking an intact stream calls nothing else.
        stream as unknown as EventsStream,
        records as unknown as StreamRecordRepository,
        createLogger('test', 'silent'),
        new Registry(),
      );

      expect(await sut.run()).toBe('0badcafe');
      now = minute - 1;
      expect(await sut.run()).toBe('0badcafe');
      expect(records.forgetSafe).toHaveBeenCalledTimes(1);
      now = minute;
      expect(await sut.run()).toBe('0badcafe');
      expect(records.forgetSafe).toHaveBeenCalledTimes(2);
      expect(records.returnStrays).toHaveBeenCalledTimes(3);
    });
  });
});
