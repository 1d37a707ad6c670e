import { printCallAddress } from './call-address.js';

const base = '/api/v1/platform/call/';

describe(printCallAddress.name, () => {
  it.each([
    ['chat/messages', 'chat/messages'],
    ['/polls', 'polls'],
    ['polls?id=7#end', 'polls%3Fid%3D7%23end'],
    ['polls\\..\\tokens', 'polls%5C..%5Ctokens'],
    ['%2e%2e/tokens', '%252e%252e/tokens'],
    ['https://example.org/polls', 'https%3A//example.org/polls'],
  ])('encodes each segment of %j', (path, expected) => {
    const address = printCallAddress({ path, query: '', connection: '' });
    expect(address).toBe(base + expected);
    expect(new URL(address, 'http://127.0.0.1').pathname).toBe(base + expected);
  });

  it('adds the query and the connection', () => {
    expect(printCallAddress({ path: 'polls', query: 'first=5&after=a b', connection: 'c-1' })).toBe(
      `${base}polls?first=5&after=a+b&connection=c-1`,
    );
  });
});
