import { Corpus } from './corpus.js';
import { mutateJson } from './mutate-json.js';
import { Random } from './random.js';

describe(Random.name, () => {
  it('repeats itself for the same seed, and covers the range', () => {
    const draw = (seed: string): number[] => {
      const random = new Random(seed);
      return Array.from({ length: 1_000 }, () => random.below(10));
    };

    expect(draw('a')).toEqual(draw('a'));
    expect(draw('a')).not.toEqual(draw('b'));
    expect(new Set(draw('a'))).toEqual(new Set(Array.from({ length: 10 }, (_, index) => index)));
  });
});

describe(Corpus.name, () => {
  it('begins with the seeds, and then changes them', () => {
    const corpus = new Corpus({ seeds: ['{"a":"b"}', 'second'] }, '1');

    expect([corpus.next().toString(), corpus.next().toString()]).toEqual(['{"a":"b"}', 'second']);
    const further = new Set(Array.from({ length: 100 }, () => corpus.next().toString('base64')));
    expect(further.size).toBeGreaterThan(80);
  });
});

describe(mutateJson.name, () => {
  it('mostly makes valid JSON of valid JSON, with repeated names, other types, and nesting', () => {
    const random = new Random('1');
    const input = Buffer.from('{"name":"x","list":[1,{"a":null}]}');
    const texts = Array.from({ length: 500 }, () => String(mutateJson(input, random, ['word'])));

    const valid = texts.filter((text) => isJson(text));
    expect(valid.length).toBeGreaterThan(250);
    for (const part of ['"__proto__"', '"word"', '[[[[', '\\ud800']) expect(texts.join()).toContain(part);
  });

  it('returns undefined for what is no JSON', () => {
    expect(mutateJson(Buffer.from('abc'), new Random('1'), [])).toBeUndefined();
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
