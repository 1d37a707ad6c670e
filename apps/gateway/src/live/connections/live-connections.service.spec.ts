import { Registry } from '@stream-events/service';
import { MadeFeed, MadeSink } from '../../../test/live-events.js';
import type { Caller } from '../../access/caller.js';
import type { EventFeed } from '../stream/event-feed.service.js';
import type { EventHistory } from '../stream/event-history.service.js';
import { connectionLimits, type ConnectionLimits } from '../live-limits.js';
import type { LiveConnection } from './live-connection.js';
import { LiveConnections } from './live-connections.service.js';

const ada: Caller = {
  ...{ id: 'ada', username: 'ada', role: 'user' },
  token: { id: '1', name: null, stamp: 'a', kind: 'main', limits: {} },
};
const withNamedToken: Caller = {
  ...ada,
  token: { id: '2', name: 'bot', stamp: 'b', kind: 'named', limits: {}, scopes: ['events:live'] },
};

describe(LiveConnections.name, () => {
  describe('open', () => {
    let sut: LiveConnections;
    afterEach(() => sut.stop());

    const setup = (limits: Partial<ConnectionLimits> = {}): void => {
      const feed = new MadeFeed();
      feed.begin('1a2b3c4d');
      sut = new LiveConnections(
        feed as unknown as EventFeed, // Safe cast: connections use only these parts of the feed.
        feed.history as unknown as EventHistory, // Safe cast: connections only read the history.
        new Registry(),
        { ...connectionLimits, ...limits },
      );
    };
    const open = (caller: Caller, makeSink = () => new MadeSink()): LiveConnection =>
      sut.open({ filter: {}, keepAlive: false }, { caller, address: '127.0.0.1', makeSink });
    const openMany = (caller: Caller, count: number): LiveConnection[] =>
      Array.from({ length: count }, () => open(caller));
    const refusal = (code: string, text: string): Error =>
      expect.objectContaining({ code, detail: expect.stringContaining(text) as string }) as Error;

    it('refuses a user with 50 connections until one closes', () => {
      setup();
      const [first] = openMany(ada, 50);
      const tooMany = refusal('too_many_requests', 'This user has 50 live connections at this gateway');
      expect(() => open(ada)).toThrow(tooMany);
      open({ ...ada, id: 'bob' });

      first?.leave();

      open(ada);
      expect(() => open(ada)).toThrow(tooMany);
    });

    it('leaves 25 of the connections to the user of a named token', () => {
      setup();
      openMany(withNamedToken, 25);
      expect(() => open(withNamedToken)).toThrow(refusal('too_many_requests', 'This token has 25 live'));

      openMany(ada, 25);
      expect(() => open(ada)).toThrow(refusal('too_many_requests', 'This user has 50 live'));
    });

    it('refuses clients while the process has its maximum', () => {
      setup({ connections: 2 });
      const [first] = openMany(ada, 2);
      expect(() => open({ ...ada, id: 'bob' })).toThrow(refusal('unavailable', 'too many live connections'));

      first?.leave();

      open({ ...ada, id: 'bob' });
    });

    it('gives back the place of a client whose response cannot begin', () => {
      setup({ perUser: 1 });
      const fail = (): never => {
        throw new Error('not alone');
      };
      expect(() => open(ada, fail)).toThrow('not alone');

      open(ada);
    });

    it('refuses clients when the process stops', () => {
      setup();
      sut.stop();

      expect(() => open(ada)).toThrow(refusal('unavailable', 'restarting'));
    });
  });
});
