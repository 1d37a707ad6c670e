import { readFileSync } from 'node:fs';
import { splitHosts } from './host-urls.js';

/** An environment variable: how to parse it, its default value, and its documentation. */
export interface Variable<T> {
  /** Throws an Error that says which values are allowed. */
  readonly parse: (text: string) => T;
  /** The value when the variable is empty or not set. Without a default, the variable is required. */
  readonly defaultValue?: T;
  readonly description: string;
  /** The text that the configuration table shows instead of the default value. */
  readonly defaultText?: string;
  /** Whether the value is a secret. Secrets are never printed, and can also be read from the file that `<NAME>_FILE` names. */
  readonly isSecret: boolean;
}

export type Variables = Record<string, Variable<unknown>>;

export type ConfigOf<V extends Variables> = {
  readonly [Name in keyof V]: V[Name] extends Variable<infer T> ? T : never;
};

export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: string[]) {
    super(
      `The configuration has ${faults.length} error(s):\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
  }
}

interface Options<T> {
  default?: T;
  defaultText?: string;
  secret?: boolean;
}

export function text(description: string, options: Options<string> = {}): Variable<string> {
  return variable(description, options, (value) => value);
}

/** Declares an optional variable. `fault` is the error message for a value that does not match `pattern`. */
export function optionalText(
  description: string,
  options: { secret?: boolean; pattern?: RegExp; fault?: string } = {},
): Variable<string | undefined> {
  const { secret = false, pattern, fault = `must match ${pattern}` } = options;
  return variable<string | undefined>(description, { secret, default: undefined }, (value) => {
    if (pattern && !pattern.test(value)) throw new Error(fault);
    return value;
  });
}

type Bounds = readonly [min: number, max: number];

export function integer(
  description: string,
  bounds: Bounds,
  options: Options<number> = {},
): Variable<number> {
  return variable(description, options, (value) => parseNumber(value, /^-?\d+$/, 'a whole number', bounds));
}

export function decimal(
  description: string,
  bounds: Bounds,
  options: Options<number> = {},
): Variable<number> {
  return variable(description, options, (value) => parseNumber(value, /^\d+(\.\d+)?$/, 'a number', bounds));
}

/** Declares a variable whose value is one of the given words. */
export function oneOf<const T extends string>(
  description: string,
  words: readonly T[],
  options: Options<T> = {},
): Variable<T> {
  const choice = words.map((word) => `\`${word}\``).join(', ');
  return variable(`${description}. One of ${choice}`, options, (value) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw new Error(`must be one of: ${words.join(', ')}`);
    return word;
  });
}

/** Declares a variable that is a comma-separated list. */
export function list(
  description: string,
  options: Options<string[]> & { minLength?: number; maxLength?: number } = {},
): Variable<string[]> {
  const { minLength = 1, maxLength = Infinity, ...rest } = options;
  return variable(description, rest, (value) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    if (items.length === 0) throw new Error('must have at least one item');
    if (items.some((item) => item.length < minLength || item.length > maxLength)) {
      const bounds = maxLength === Infinity ? `at least ${minLength}` : `${minLength} to ${maxLength}`;
      throw new Error(`each item must have ${bounds} characters`);
    }
    return items;
  });
}

/** Declares a variable that is a URL with one of the given schemes. */
export function url(
  description: string,
  schemes: readonly string[],
  options: Options<string> = {},
): Variable<string> {
  return variable(description, options, (value) => parseUrl(value, schemes));
}

/** Declares a URL variable whose host may be a comma-separated list: `postgres://a:5432,b:5432/database`. */
export function urlOfHosts(
  description: string,
  schemes: readonly string[],
  options: Options<string> = {},
): Variable<string> {
  return variable(description, options, (value) => {
    for (const ofHost of splitHosts(value)) parseUrl(ofHost, schemes);
    return value.replace(/\/+$/, '');
  });
}

/** Declares a variable that is a comma-separated list of URLs, such as the members of a cluster. */
export function urls(
  description: string,
  schemes: readonly string[],
  options: Options<string[]> = {},
): Variable<string[]> {
  return variable(description, options, (value) =>
    value.split(',').map((item) => parseUrl(item.trim(), schemes)),
  );
}

/** Declares an optional variable that is a URL. */
export function optionalUrl(
  description: string,
  schemes: readonly string[],
  { defaultText, secret = false }: { defaultText?: string; secret?: boolean } = {},
): Variable<string | undefined> {
  const parse = (value: string): string => parseUrl(value, schemes);
  return {
    ...optionalText(description, { secret }),
    ...(defaultText !== undefined && { defaultText }),
    parse,
  };
}

/**
 * Reads an app's variables from an environment. Treats an empty value as not set. A secret can also be in the file that `<NAME>_FILE`
 * names.
 *
 * @throws ConfigError with all errors. The message contains no secrets
 */
export function loadConfig<V extends Variables>(variables: V, environment: NodeJS.ProcessEnv): ConfigOf<V> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(variables)) {
    try {
      values[name] = readVariable(name, declared, environment);
    } catch (error) {
      faults.push(`${name} ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return values as ConfigOf<V>; // Safe cast: the loop above has read every name of V with its own parse function.
}

function readVariable(name: string, declared: Variable<unknown>, environment: NodeJS.ProcessEnv): unknown {
  const given =
    environment[name]?.trim() || (declared.isSecret ? readSecretFile(name, environment) : undefined);
  if (given) return declared.parse(given);
  if ('defaultValue' in declared) return declared.defaultValue;
  throw new Error(`is required: ${declared.description}`);
}

function readSecretFile(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const path = environment[`${name}_FILE`];
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read from ${name}_FILE=${path}: ${String(error)}`, { cause: error });
  }
}

function variable<T>(description: string, options: Options<T>, parse: (value: string) => T): Variable<T> {
  return {
    parse,
    description,
    isSecret: options.secret ?? false,
    ...('default' in options && { defaultValue: options.default }),
    ...(options.defaultText !== undefined && { defaultText: options.defaultText }),
  };
}

function parseUrl(value: string, schemes: readonly string[]): string {
  if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol.slice(0, -1))) {
    throw new Error(`must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
  }
  return value.replace(/\/+$/, '');
}

function parseNumber(value: string, pattern: RegExp, kind: string, [min, max]: Bounds): number {
  const number = Number(value);
  if (!pattern.test(value) || number < min || number > max)
    throw new Error(`must be ${kind} from ${min} to ${max}`);
  return number;
}
