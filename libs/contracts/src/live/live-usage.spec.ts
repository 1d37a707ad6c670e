import fc from 'fast-check';
import { parseLiveUsage, printLiveUsage } from './live-usage.js';

const user = fc.record({ id: fc.uuid(), connections: fc.nat(), catchUps: fc.nat(), waiting: fc.nat() });

describe(parseLiveUsage.name, () => {
  it('reads what was printed', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(user), (gateway, users) => {
        expect(parseLiveUsage(printLiveUsage({ gateway, users }))).toEqual({ gateway, users });
      }),
    );
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"gateway":1,"users":[]}',
    '{"gateway":"a","users":[["1",1,1]]}',
    '{"gateway":"a","users":[["1",-1,0,0]]}',
    '{"gateway":"a","users":[["1",0.5,0,0]]}',
    '{"gateway":"a","users":[null]}',
  ])('ignores %j', (text) => {
    expect(parseLiveUsage(text)).toBeUndefined();
  });
});
