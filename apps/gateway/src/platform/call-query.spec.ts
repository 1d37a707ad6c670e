import { ServiceError } from '@stream-events/contracts';
import fc from 'fast-check';
import { readCallQuery } from './call-query.js';

const id = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';

describe(readCallQuery.name, () => {
  it.each([
    ['/users', '', null],
    ['/users?', '', null],
    ['/users?id=1&id=2', 'id=1&id=2', null],
    [`/users?id=1&connection=${id}&login=a%20b`, 'id=1&login=a%20b', id],
    [`/users?connection=${id.toUpperCase()}`, '', id],
    [`/users?connection=${id}&connection=${id}`, '', id],
    [`/users?%63onnection=${id}`, '', id],
    ['/users?connection=&id=1', 'id=1', null],
    ['/users?connections=1&xconnection=2', 'connections=1&xconnection=2', null],
  ])('reads %j', (url, query, connectionId) => {
    expect(readCallQuery(url)).toEqual({ query, connectionId });
  });

  it.each([
    `connection=${id}&connection=019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c12`,
    'connection=1',
    'connection=%00',
  ])('rejects %j', (query) => {
    expect(() => readCallQuery(`/users?${query}`)).toThrow(ServiceError);
  });

  it('never changes the other parameters', () => {
    const parameter = fc
      .string({ minLength: 1 })
      .filter((text) => !/[&#]/.test(text) && !new URLSearchParams(text).has('connection'));
    fc.assert(
      fc.property(fc.array(parameter), fc.nat(20), (others, at) => {
        const sent = others.toSpliced(at, 0, `connection=${id}`);

        expect(readCallQuery(`/users?${sent.join('&')}`)).toEqual({
          query: others.join('&'),
          connectionId: id,
        });
      }),
    );
  });
});
