import { addressKey, networkKeys, trustRule } from './client-address.js';

describe(addressKey.name, () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2'],
    ['2001:DB8::1', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0'],
    ['', 'unknown'],
    ['nonsense', 'unknown'],
    ['192.0.2.7:80', 'unknown'],
  ])('counts %s as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});

describe(networkKeys.name, () => {
  it.each([
    ['192.0.2.7', ['192.0.2.7']],
    ['::ffff:192.0.2.7', ['192.0.2.7']],
    ['2001:db8:1:2345:3:4:5:6', ['2001:db8:1:2345', '2001:db8:1:2300/56', '2001:db8:1/48']],
    ['2001:db8::1', ['2001:db8:0:0', '2001:db8:0:0/56', '2001:db8:0/48']],
    ['nonsense', ['unknown']],
  ])('counts %s as %j', (address, keys) => {
    expect(networkKeys(address)).toEqual(keys);
  });
});

describe(trustRule.name, () => {
  it.each([
    [false, '127.0.0.1', false],
    [true, '192.0.2.7', true],
    [['10.0.0.0/8', '::1'], '10.1.2.3', true],
    [['10.0.0.0/8', '::1'], '::1', true],
    [['10.0.0.0/8', '::1'], '192.0.2.7', false],
  ])('with TRUST_PROXY %j, trusts %s: %s', (trustProxy, address, expected) => {
    expect(trustRule(trustProxy)(address, 0)).toBe(expected);
  });
});
