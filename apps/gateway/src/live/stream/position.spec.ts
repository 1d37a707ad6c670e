import fc from 'fast-check';
import { LiveEvent } from './live-event.js';
import { parsePosition, positionOf, printPosition } from './position.js';

const hex8 = fc.stringMatching(/^[0-9a-f]{8}$/);

describe(printPosition.name, () => {
  it('prints text that parsePosition can parse', () => {
    const positions = fc.record({ epoch: hex8, sequence: fc.maxSafeNat(), check: hex8 });
    fc.assert(
      fc.property(positions, (position) => {
        expect(parsePosition(printPosition(position))).toEqual(position);
      }),
    );
  });
});

describe(parsePosition.name, () => {
  it('parses a position', () => {
    expect(parsePosition('0ddba115-42-9d5c0001')).toEqual({
      epoch: '0ddba115',
      sequence: 42,
      check: '9d5c0001',
    });
  });

  it.each([
    '',
    'garbage',
    '0ddba115-42',
    '0ddba115-42-9d5c000',
    '0ddba115-42-9d5c00012',
    '0DDBA115-42-9d5c0001',
    '0ddba115-042-9d5c0001',
    '0ddba115--1-9d5c0001',
    '0ddba115-1.5-9d5c0001',
    '0ddba115-9007199254740992-9d5c0001',
    '0ddba115-99999999999999999-9d5c0001',
    ' 0ddba115-42-9d5c0001',
    '0ddba115-42-9d5c0001\n',
  ])('does not accept %j', (text) => {
    expect(parsePosition(text)).toBeUndefined();
  });

  it('rejects every text that printPosition would print differently', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{8}-\d+-[0-9a-f]{8}$/)), (text) => {
        const position = parsePosition(text);
        expect(position ? printPosition(position) : text).toBe(text);
      }),
    );
  });
});

describe(positionOf.name, () => {
  it('uses the random end of the id as the check', () => {
    const event = new LiveEvent('019aa3c1-7f5e-7cc2-9d5c-0123456789ab', Buffer.from('{}'), '0ddba115', 7);

    expect(positionOf(event)).toEqual({ epoch: '0ddba115', sequence: 7, check: '456789ab' });
  });
});
