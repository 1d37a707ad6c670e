import { statFields } from './running-process.js';

describe(statFields.name, () => {
  it('starts at the state when the program name contains spaces and brackets', () => {
    const stat = '4711 (a (b) c) S 1 4711 4711 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 987654 0 0';

    expect(statFields(stat)[0]).toBe('S');
    expect(statFields(stat)[19]).toBe('987654');
  });
});
