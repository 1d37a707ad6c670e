import { parseStreamDescription, printStreamDescription } from './event-stream-description.js';

describe(printStreamDescription.name, () => {
  it.each([
    [{ platform: 'simulator', epoch: '1a2b3c4d' }, 'events of platform simulator, epoch 1a2b3c4d'],
    [{ platform: 'other', epoch: undefined }, 'events of platform other'],
  ])('prints %j, which can be read again', (description, text) => {
    expect(printStreamDescription(description)).toBe(text);
    expect(parseStreamDescription(text)).toEqual(description);
  });
});

describe(parseStreamDescription.name, () => {
  it.each([
    '',
    'events',
    'events of platform ',
    'events of platform other, epoch ',
    'events of platform other, epoch 1A2B3C4D',
    'events of platform other, epoch 1a2b3c4d5',
    'my events of platform other',
  ])('does not accept %j', (text) => {
    expect(parseStreamDescription(text)).toBeUndefined();
  });
});
