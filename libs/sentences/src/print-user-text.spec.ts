import { printUserText } from './print-user-text.js';

describe(printUserText.name, () => {
  it('removes characters that cannot be seen or that turn the text around', () => {
    expect(printUserText('a\u202Eb\u0000c\u2066d\u2069\ufeff\n\te')).toBe('abcd e');
    expect(printUserText('مرحبا <b>&amp;</b>')).toBe('مرحبا <b>&amp;</b>');
  });

  it('keeps invisible characters that belong to texts', () => {
    const [england, persian] = ['🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 'می\u200cخواهم'];
    expect(printUserText(`${england} ${persian} 👩\u200d🚀`)).toBe(`${england} ${persian} 👩\u200d🚀`);
  });

  it('shows what was written with /me', () => {
    expect(printUserText('\u0001ACTION waves at\neverybody\u0001')).toBe('waves at everybody');
    expect(printUserText('ACTION waves')).toBe('ACTION waves');
  });

  it('never shows half a character', () => {
    const shown = printUserText(`\u202e${'🎉'.repeat(20)}`, 10);
    expect(shown).toBe(`${'🎉'.repeat(9)}…`);
  });

  it('cuts long text between characters', () => {
    expect(printUserText('😀'.repeat(40_000), 3)).toBe('😀😀😀…');
    expect(printUserText('abc', 3)).toBe('abc');
    expect(printUserText('abcd', 3)).toBe('abc…');
  });
});
