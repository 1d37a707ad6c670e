import { variables } from './gateway.config.js';

describe('TRUST_PROXY', () => {
  const { parse } = variables.TRUST_PROXY;

  it.each([
    ['true', true],
    ['false', false],
    ['10.0.0.0/8, 2001:db8::1', ['10.0.0.0/8', '2001:db8::1']],
    ['loopback', ['loopback']],
  ])('accepts %s', (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  it.each(['yes', 'TRUE', '10.0.0.1,', '10.0.0.0/99'])('rejects %s', (text) => {
    expect(() => parse(text)).toThrow('must be true, false, or IP addresses and networks');
  });
});
