import { anyCharacter } from '@stream-events/testing';
import fc from 'fast-check';
import { countCharacters, foldCase, isStorableText, isTextWithin } from './text.js';

describe(isStorableText.name, () => {
  it.each([
    ['', true],
    ['plain', true],
    ['🎉', true],
    ['a\0b', false],
    ['\ud83c', false],
    ['\udf89', false],
    ['\udf89\ud83c', false],
  ])('of %j is %s', (text, expected) => {
    expect(isStorableText(text)).toBe(expected);
  });
});

describe(countCharacters.name, () => {
  it('counts code points, as the database does, at any length', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(text, (value) => {
        expect(countCharacters(value)).toBe(Array.from(value).length);
      }),
    );
  });
});

describe(isTextWithin.name, () => {
  it.each([
    ['the least', 'a', true],
    ['the most', 'a'.repeat(5), true],
    ['the most, in characters of two units', '🎉'.repeat(5), true],
    ['nothing', '', false],
    ['one too many', 'a'.repeat(6), false],
    ['one too many, in characters of two units', '🎉'.repeat(6), false],
    ['a NUL', 'a\0', false],
    ['half of a surrogate pair', '\ud83c', false],
    ['a number', 5, false],
    ['null', null, false],
    ['undefined', undefined, false],
    ['a list', ['a'], false],
    ['an object with a length', { length: 3 }, false],
  ])('checks %s', (_, value, expected) => {
    expect(isTextWithin(value, 1, 5)).toBe(expected);
  });
});

describe(foldCase.name, () => {
  it.each([
    ['ASCII', 'StreamerName', 'STREAMERname'],
    ['umlauts', 'GRÖSSE', 'größe'],
    ['sharp s', 'straße', 'STRASSE'],
    ['capital sharp s', 'STRAẞE', 'straße'],
    ['final sigma', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['ligatures', 'oﬃce', 'OFFICE'],
    ['Cyrillic', 'ПРИВЕТ', 'привет'],
    ['Japanese, which has no case', '配信者', '配信者'],
  ])('folds equal texts to one form: %s', (_, one, other) => {
    expect(foldCase(one)).toBe(foldCase(other));
  });

  // In Turkish, the dotted i is a different letter. It only matters that stored texts and filters fold it in the same way.
  it('does not fold the dotted capital I to the plain I', () => {
    expect(foldCase('İ')).not.toBe(foldCase('I'));
    expect(foldCase('İ')).toBe(foldCase('i̇'));
  });

  it('folds every character like its upper and lower case, and is idempotent', () => {
    const differing: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      const character = String.fromCodePoint(point);
      const folded = foldCase(character);
      const forms = [character.toUpperCase(), character.toLowerCase(), folded];
      // Skip characters without case.
      if (forms.every((form) => form === character)) continue;
      if (forms.some((form) => foldCase(form) !== folded)) differing.push(point.toString(16));
    }
    expect(differing).toEqual([]);
  });
});
