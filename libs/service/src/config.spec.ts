import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigError,
  decimal,
  integer,
  list,
  loadConfig,
  oneOf,
  optionalText,
  optionalUrl,
  text,
  url,
  urls,
  type Variable,
  type Variables,
} from './config.js';

function faultsOf(variables: Variables, environment: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(variables, environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults;
  }
}

describe(loadConfig.name, () => {
  it('reads each variable according to its declaration', () => {
    const variables = {
      NAME: text('a name'),
      PORT: integer('a port', [0, 65_535]),
      RATE: decimal('a rate', [0, 100]),
      LEVEL: oneOf('a level', ['low', 'high']),
      KEYS: list('keys'),
      ADDRESS: url('an address', ['http', 'https']),
      MEMBERS: urls('members', ['nats', 'tls']),
      NOTE: optionalText('a note'),
      PUBLIC: optionalUrl('a public address', ['https']),
    };
    const environment = {
      NAME: ' me ',
      PORT: '8000',
      RATE: '0.5',
      LEVEL: 'high',
      KEYS: ' one ,two,, ',
      ADDRESS: 'https://example.org/base//',
      MEMBERS: 'nats://a:1, tls://b:2',
    };

    expect(loadConfig(variables, environment)).toEqual({
      NAME: 'me',
      PORT: 8000,
      RATE: 0.5,
      LEVEL: 'high',
      KEYS: ['one', 'two'],
      ADDRESS: 'https://example.org/base',
      MEMBERS: ['nats://a:1', 'tls://b:2'],
      NOTE: undefined,
      PUBLIC: undefined,
    });
  });

  it.each([undefined, '', '  '])('uses the default when the value is %j', (value) => {
    const variables = { PORT: integer('a port', [0, 9], { default: 7 }), NOTE: optionalText('a note') };

    expect(loadConfig(variables, { PORT: value, NOTE: value })).toEqual({ PORT: 7, NOTE: undefined });
  });

  it.each([undefined, '', '  '])('requires a variable without a default when the value is %j', (value) => {
    expect(faultsOf({ NAME: text('who it is') }, { NAME: value })).toEqual(['NAME is required: who it is']);
  });

  it('lists all errors', () => {
    const variables = { A: text('a'), B: integer('b', [1, 9]), C: oneOf('c', ['x']), D: text('d') };

    const faults = faultsOf(variables, { B: '10', C: 'y', D: 'fine' });

    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['A', 'B', 'C']);
    expect(() => loadConfig(variables, {})).toThrow(/4 error\(s\):\n {2}- A .*\n {2}- B /);
  });

  it.each<[string, Variable<unknown>, string]>([
    ['a fraction for a whole number', integer('', [0, 9]), '1.5'],
    ['an exponent', integer('', [0, 1e9]), '1e3'],
    ['a hexadecimal number', integer('', [0, 99]), '0x10'],
    ['text instead of a number', decimal('', [0, 9]), 'NaN'],
    ['an infinite number', decimal('', [0, Infinity]), 'Infinity'],
    ['a number below its bound', integer('', [1, 9]), '0'],
    ['a number above its bound', decimal('', [0, 9]), '9.01'],
    ['another word', oneOf('', ['on', 'off']), 'ON'],
    ['an empty list', list(''), ' , '],
    ['an item that is too short', list('', { minLength: 3 }), 'abc,ab'],
    ['an item that is too long', list('', { maxLength: 3 }), 'abc,abcd'],
    ['no URL', url('', ['http']), 'localhost'],
    ['another scheme', url('', ['http']), 'ftp://localhost'],
    ['one wrong member', urls('', ['nats']), 'nats://a,http://b'],
  ])('rejects %s', (_, declared, value) => {
    expect(faultsOf({ IT: declared }, { IT: value })).toEqual([expect.stringMatching(/^IT (must|each)/)]);
  });

  it('keeps secrets out of its errors', () => {
    const variables = {
      KEY: list('keys', { secret: true, minLength: 32 }),
      DATABASE_URL: url('a database', ['postgres'], { secret: true }),
      NATS_URL: urls('brokers', ['nats'], { secret: true }),
    };

    const faults = faultsOf(variables, {
      KEY: 'hunter2',
      DATABASE_URL: 'mysql://u:hunter2@h/d',
      NATS_URL: 'nats://u:hunter2@[',
    });

    expect(faults).toHaveLength(3);
    expect(faults.join()).not.toContain('hunter2');
  });

  describe('of a secret in a file', () => {
    let directory: string;
    beforeAll(() => {
      directory = mkdtempSync(join(tmpdir(), 'config-'));
    });
    afterAll(() => rmSync(directory, { recursive: true }));

    function fileOf(content: string): string {
      const path = join(directory, String(Math.random()));
      writeFileSync(path, content);
      return path;
    }

    const variables = { KEY: text('a key', { secret: true }) };

    it('reads it without the white space around it', () => {
      expect(loadConfig(variables, { KEY_FILE: fileOf('hunter2\n') })).toEqual({ KEY: 'hunter2' });
    });

    it('prefers the variable itself, unless that is empty', () => {
      const KEY_FILE = fileOf('from the file');

      expect(loadConfig(variables, { KEY: 'direct', KEY_FILE })).toEqual({ KEY: 'direct' });
      expect(loadConfig(variables, { KEY: '', KEY_FILE })).toEqual({ KEY: 'from the file' });
    });

    it('names the file that cannot be read', () => {
      const KEY_FILE = join(directory, 'absent');

      expect(faultsOf(variables, { KEY_FILE })).toEqual([
        expect.stringMatching(/^KEY cannot be read from KEY_FILE=.*absent.*ENOENT/),
      ]);
    });

    it('counts an empty file as not set', () => {
      expect(faultsOf(variables, { KEY_FILE: fileOf('\n') })).toEqual(['KEY is required: a key']);
    });

    it('does not read a file for a variable that is not a secret', () => {
      expect(faultsOf({ NAME: text('a name') }, { NAME_FILE: fileOf('x') })).toHaveLength(1);
    });
  });
});
